// Imports: tasks of Taskwarrior, and numbers.

#include "command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callsign::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// ---- importing from Taskwarrior ----

std::string exported(int n, const std::string& more = "") {
    const std::string digits = std::to_string(100'000 + n);
    return R"({"uuid":"11111111-2222-4333-8444-000000)" + digits + R"(","description":"d")" + more +
           "}";
}

TEST_F(command_line, imports_tasks_from_standard_input) {
    in.str("[" + exported(1, R"(,"id":1,"key":"OLD-1","tags":["a"])") + "]");
    answer(R"({"imported":1,"thereAlready":0,"keysLeftOut":1})");
    EXPECT_EQ(run({"import", "taskwarrior", "-", "--account", "ada"}), 0);
    EXPECT_EQ(requests,
              std::vector<std::string>{
                  "POST " + local + R"( /v1/admin/accounts/ada/import {"tasks":[{"uuid":)" +
                  R"("11111111-2222-4333-8444-000000100001",)" +
                  R"("attributes":{"description":"d","key":"OLD-1","status":"pending",)" +
                  R"("tag_a":""}}],"withKeys":false})"});
    EXPECT_EQ(out.str(), "tasks      1\nimported   1\ncompleted  0\nknown      0\n");
    EXPECT_THAT(err.str(), HasSubstr("--with-keys keeps them"));
}

TEST_F(command_line, an_export_with_keys_resumes_held_series) {
    in.str("[" + exported(1, R"(,"key":"OLD-1")") + "," + exported(2) + "]");
    answer(R"({"imported":0,"thereAlready":0,"keyAttribute":"key"})");
    answer(R"({"imported":2,"thereAlready":0,"keysKept":1})");
    answer(R"({"imported":2,"thereAlready":0,"keysLeftOut":0,"keysKept":1})");
    answer(R"({"series":[{"prefix":"OLD","held":true},{"prefix":"NEW","held":false}]})");
    answer(R"({"prefix":"OLD","next":2,"held":false})");
    EXPECT_EQ(run({"import", "taskwarrior", "-", "--account", "ada", "--with-keys"}), 0);
    ASSERT_EQ(requests.size(), 5u);
    EXPECT_THAT(requests[0], HasSubstr(R"({"tasks":[],"withKeys":true,"checkOnly":true})"));
    EXPECT_THAT(requests[1], HasSubstr(R"("withKeys":true,"checkOnly":true})"));
    EXPECT_THAT(requests[2], HasSubstr(R"("withKeys":true})"));
    EXPECT_THAT(requests[3], HasSubstr("GET " + local + " /v1/admin/accounts/ada/series"));
    EXPECT_THAT(requests[4],
                HasSubstr("POST " + local + " /v1/admin/accounts/ada/series/OLD/resume"));
    EXPECT_EQ(out.str(), "tasks      2\nimported   2\ncompleted  0\nknown      0\n");
    EXPECT_EQ(err.str(), "Series OLD resumes at number 2.\n");
}

TEST_F(command_line, an_export_is_sent_in_the_order_of_its_keys) {
    in.str("[" + exported(1) + "," + exported(2, R"(,"Key":"S-10")") + "," +
           exported(3, R"(,"Key":"S-9","entry":"20261120T124800Z")") + "]");
    answer(R"({"keyAttribute":"Key"})");
    answer("{}");
    answer("{}");
    answer(R"({"series":[]})");
    EXPECT_EQ(run({"import", "taskwarrior", "-", "--account", "ada", "--with-keys"}), 0);
    ASSERT_EQ(requests.size(), 4u);
    const auto third = requests[1].find("000000100003"), second = requests[1].find("000000100002");
    EXPECT_LT(third, second);
    EXPECT_LT(second, requests[1].find("000000100001"));
    EXPECT_THAT(requests[1], HasSubstr(R"("after":9})"));
}

TEST_F(command_line, keys_that_cannot_be_kept_are_listed_and_nothing_is_imported) {
    in.str("[" + exported(1, R"(,"key":"OLD-1")") + "," + exported(2, R"(,"key":"OLD-2")") + "," +
           exported(3, R"(,"key":"SYN-1")") + "]");
    answer(R"({"keyAttribute":"key"})");
    answer(R"({"status":422,"code":"numbers-rejected","title":"t","errors":[)"
           R"({"field":"tasks[0].attributes","code":"unknown-prefix","detail":"OLD-1: no"},)"
           R"({"field":"tasks[1].attributes","code":"unknown-prefix","detail":"OLD-2: no"},)"
           R"({"field":"tasks[2].attributes","code":"duplicate","detail":"SYN-1: taken"}]})",
           422);
    EXPECT_EQ(run({"import", "taskwarrior", "-", "--account", "ada", "--with-keys"}), 1);
    EXPECT_EQ(requests.size(), 2u);
    EXPECT_THAT(err.str(),
                HasSubstr("keys of the export cannot be kept; nothing was imported\n"
                          "  series OLD does not exist; 2 tasks have a key of it\n"
                          "  task 11111111-2222-4333-8444-000000100003, SYN-1: taken\n"));
}

TEST_F(command_line, one_key_of_two_tasks_is_an_error) {
    in.str("[" + exported(1, R"(,"key":"S-1")") + "," + exported(2, R"(,"key":"s-1")") + "]");
    answer(R"({"keyAttribute":"key"})");
    EXPECT_EQ(run({"import", "taskwarrior", "-", "--account", "ada", "--with-keys"}), 1);
    EXPECT_EQ(requests.size(), 1u);
    EXPECT_THAT(err.str(), HasSubstr("has the key of task"));
}

TEST_F(command_line, imports_in_batches_and_shows_progress) {
    terminal = true;
    std::string text;
    for (int n = 0; n < 1200; ++n) text += exported(n) + "\n";
    put_file("export.json", text);
    for (const char* n : {"500", "499", "200"}) {
        answer(std::string(R"({"imported":)") + n + R"(,"thereAlready":)" +
               (std::string(n) == "499" ? R"(0,"completed":1})" : "0}"));
    }
    EXPECT_EQ(run({"import", "taskwarrior", (data_dir / "export.json").string(), "--account", "ada",
                   "--json"}),
              0);
    EXPECT_EQ(requests.size(), 3u);
    EXPECT_EQ(out.str(),
              R"({"tasks":1200,"imported":1199,"thereAlready":0,"completed":1,"keysKept":0})"
              "\n");
    const std::string begin = "\r\x1b[K";
    EXPECT_EQ(err.str(), begin + "task 500 of 1200" + begin + "task 1000 of 1200" + begin +
                             "task 1200 of 1200" + begin);
}

TEST_F(command_line, large_tasks_make_small_batches) {
    const std::string large = R"(,"notes":")" + std::string(300'000, 'x') + "\"";
    in.str("[" + exported(1, large) + "," + exported(2, large) + "]");
    for (int i = 0; i < 2; ++i) answer(R"({"imported":1,"thereAlready":0})");
    EXPECT_EQ(run({"import", "taskwarrior", "-", "--account", "ada"}), 0);
    EXPECT_EQ(requests.size(), 2u);
}

TEST_F(command_line, an_invalid_export_is_not_sent) {
    in.str("[" + exported(1) + "," + exported(2, R"(,"due":"\u001b[2J")") + R"(,{"id":3}])");
    EXPECT_EQ(run({"import", "taskwarrior", "-", "--account", "ada"}), 1);
    EXPECT_TRUE(requests.empty());
    EXPECT_EQ(err.str(),
              "callsign: the export has errors; nothing was imported\n"
              "  entry 2: due: must be a date such as 20261120T124800Z\n"
              "  entry 3: uuid is missing\n"
              "  entry 3: description is missing\n");
}

// The server would reject the task after the tasks before it were imported.
TEST_F(command_line, a_task_that_exceeds_the_size_of_a_request_is_an_error) {
    std::string many;
    for (int n = 0; n <= 10'000; ++n) many += ",\"a" + std::to_string(n) + "\":1";
    in.str("[" + exported(1, R"(,"notes":")" + std::string(1'048'576, 'x') + "\"") + "," +
           exported(2, R"(,"status":"recurring","recur":"often","due":"20261120T124800Z")") + "," +
           exported(3) + "," + exported(4, many) + "]");
    EXPECT_EQ(run({"import", "taskwarrior", "-", "--account", "ada"}), 1);
    EXPECT_TRUE(requests.empty());
    EXPECT_THAT(err.str(), HasSubstr("\n  entry 1: larger than 1 MiB\n"));
    EXPECT_THAT(err.str(), HasSubstr("\n  entry 2: recur: Must be a word"));
    EXPECT_THAT(err.str(), HasSubstr("\n  entry 4: more than 10000 attributes\n"));
}

TEST_F(command_line, a_rejected_import_shows_the_error) {
    in.str("[]");
    answer(R"({"status":409,"title":"Account is opaque",)"
           R"("code":"account-opaque"})",
           409);
    EXPECT_EQ(run({"import", "taskwarrior", "-", "--account", "desk"}), 1);
    EXPECT_EQ(requests.size(), 1u);
    EXPECT_THAT(err.str(), HasSubstr("account-opaque"));
    EXPECT_EQ(run({"import", "taskwarrior", "/no/such/file", "--account", "ada"}), 1);
    EXPECT_THAT(err.str(), HasSubstr("cannot read /no/such/file: No such file"));
    EXPECT_EQ(run({"import", "taskwarrior", "-"}), 2);
}

// ---- importing numbers ----

const std::string one_series =
    R"({"series":[{"prefix":"SYN","reset":"never","timeZone":"UTC","next":1}]})";
const std::string table_head = "prefix,number,uuid,title,created_at\n";
std::string table_row(int number) {
    return "SYN," + std::to_string(number) + ",11111111-2222-4333-8444-" +
           std::to_string(100'000'000'000 + number) + ",\"Old, one\",2020-01-01T00:00:00Z\n";
}

TEST_F(command_line, imports_numbers_after_all_were_checked) {
    // The table is unordered; rows are sent in the order of their numbers.
    std::string table = table_head;
    for (int n = 300; n >= 1; --n) table += table_row(n);
    in.str(table);
    answer(one_series);
    for (int i = 0; i < 4; ++i) answer(R"({"imported":150,"thereAlready":0})");
    EXPECT_EQ(run({"import", "numbers", "-", "--account", "ada", "--json"}), 0) << err.str();
    EXPECT_EQ(out.str(), "{\"rows\":300,\"imported\":300,\"thereAlready\":0}\n");
    ASSERT_EQ(requests.size(), 5u);
    for (const int checked : {1, 2})
        EXPECT_THAT(requests[checked], HasSubstr(R"("checkOnly":true)"));
    for (const int taken : {3, 4}) EXPECT_THAT(requests[taken], Not(HasSubstr("checkOnly\":true")));
    EXPECT_THAT(requests[3], HasSubstr(R"({"rows":[{"prefix":"SYN","number":1,)"));
    EXPECT_THAT(requests[3], HasSubstr(R"("title":"Old, one")"));
    EXPECT_THAT(requests[4], HasSubstr(R"({"rows":[{"prefix":"SYN","number":251,)"));
    EXPECT_THAT(requests[4], HasSubstr(R"("after":250)"));
}

TEST_F(command_line, reports_the_lines_that_prevent_an_import) {
    in.str(table_head + table_row(2) + table_row(1) + table_row(4));
    answer(one_series);
    answer(R"({"status":422,"code":"numbers-rejected","title":"t","detail":"d","errors":)"
           R"([{"field":"rows[2]","code":"gap","detail":"SYN-3 is missing before it."}]})",
           422);
    EXPECT_EQ(run({"import", "numbers", "-", "--account", "ada"}), 1);
    EXPECT_EQ(err.str(),
              "callsign: the table has errors; nothing was imported\n"
              "  line 4: SYN-3 is missing before it.\n");
    EXPECT_EQ(requests.size(), 2u) << "only the check was sent";
    in.clear();
    in.str(table_head + table_row(1) +
           "SYN,1,11111111-2222-4333-8444-555555555555,b,"
           "2020-01-01T00:00:00Z\n");
    answer(one_series);
    err.str("");
    EXPECT_EQ(run({"import", "numbers", "-", "--account", "ada"}), 1);
    EXPECT_THAT(err.str(), HasSubstr("line 3: its number is the one of line 2"));
}

}  // namespace
}  // namespace callsign::cli
