// Tables of series, slots and the reaper.

#include "command_line.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callsign::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(command_line, series_line_up) {
    answer(R"({"series":[{"prefix":"SYN","reset":"never","timeZone":"UTC","next":43,)"
           R"("isDefault":true},{"prefix":"HOME","reset":"never","timeZone":"UTC",)"
           R"("project":"h\u00e9\u0007","next":1,"isDefault":false}]})");
    EXPECT_EQ(run({"series", "list", "ada"}), 0) << err.str();
    EXPECT_EQ(out.str(),
              "PREFIX  RESET  TIME ZONE  PROJECT  NEXT  DEFAULT  ARCHIVED\n"
              "SYN     never  UTC        -        43    yes      no\n"
              "HOME    never  UTC        h\xC3\xA9?      1     no       no\n");
    answer(R"({"prefix":"OPS","reset":"never","timeZone":"UTC","project":"ops","next":1})", 201);
    EXPECT_EQ(run({"series", "create", "ada", "--prefix", "OPS", "--project", "ops"}), 0);
    EXPECT_THAT(requests.back(), HasSubstr(R"({"prefix":"OPS",)"));
    EXPECT_THAT(requests.back(), HasSubstr(R"("project":"ops")"));
}

TEST_F(command_line, a_series_is_edited) {
    const std::string made =
        R"({"prefix":"INC","reset":"daily","timeZone":"Europe/Berlin","next":1,"isDefault":false})";
    answer(made);
    EXPECT_EQ(
        run({"series", "edit", "ada", "inc", "--rename", "INC", "--no-project", "--reset", "daily",
             "--time-zone", "Europe/Berlin", "--next", "7", "--allow-gaps", "--archive"}),
        0)
        << err.str();
    EXPECT_EQ(requests.back(),
              "PATCH " + local +
                  R"( /v1/admin/accounts/ada/series/inc {"prefix":"INC","project":null,)"
                  R"("reset":"daily","timeZone":"Europe/Berlin","archived":true,)"
                  R"("allowsGaps":true,"next":7})");
    answer(made);
    EXPECT_EQ(run({"series", "edit", "ada", "INC", "--rename", "OPS"}), 0) << err.str();
    EXPECT_THAT(requests.back(), HasSubstr(R"(/INC {"prefix":"OPS"})"));
    EXPECT_EQ(run({"series", "edit", "ada", "INC"}), 2);
    EXPECT_EQ(run({"series", "edit", "ada", "INC", "--archive", "--restore"}), 2);
    EXPECT_EQ(run({"series", "edit", "ada", "INC", "--project", "p", "--no-project"}), 2);
    EXPECT_EQ(run({"series", "create", "ada", "--prefix", "X", "--reset", "weekly"}), 2);
}

TEST_F(command_line, resumes_a_series) {
    answer(R"({"prefix":"SYN","reset":"never","timeZone":"UTC","next":57,"isDefault":true,)"
           R"("archived":false,"allowsGaps":false,"held":false})");
    EXPECT_EQ(run({"series", "resume", "SYN", "--account", "ada", "--at", "57"}), 0);
    EXPECT_EQ(requests,
              std::vector<std::string>{"POST " + local +
                                       R"( /v1/admin/accounts/ada/series/SYN/resume {"at":57})"});
    EXPECT_EQ(run({"series", "resume", "SYN", "--account", "ada", "--at", "0"}), 2);
}

TEST_F(command_line, slots_follow_the_pages_up_to_the_limit) {
    const auto page = [](int rows, const char* next) {
        std::string text = R"({"slots":[)";
        for (int i = 0; i < rows; ++i) {
            text += std::string(i ? "," : "") + R"({"state":"failed","account":"ada",)" +
                    R"("idempotencyKey":"k","attempts":1,"reason":"window-passed"})";
        }
        return text + R"(],"nextPageToken":")" + next + "\"}";
    };
    answer(page(2, "p 2"));
    answer(page(1, "p3"));
    EXPECT_EQ(run({"slots", "list", "--state", "failed", "--account", "ada", "--limit", "3"}), 0)
        << err.str();
    EXPECT_EQ(requests,
              (std::vector<std::string>{
                  "GET " + local + " /v1/admin/slots?state=failed&account=ada&pageSize=3 ",
                  "GET " + local +
                      " /v1/admin/slots?state=failed&account=ada&pageSize=1"
                      "&pageToken=p%202 "}));
    const std::string text = out.str();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
    EXPECT_EQ(err.str(), "More slots exist: raise --limit.\n");
    out.str("");
    answer(page(1, "next"));
    answer(page(1, ""));
    EXPECT_EQ(run({"slots", "list", "--json"}), 0);
    const std::string json = out.str();
    EXPECT_EQ(json.substr(0, 11), R"({"slots":[{)");
    EXPECT_THAT(json, Not(HasSubstr("nextPageToken")));
    EXPECT_EQ(run({"slots", "list", "--state", "lost"}), 2);
    EXPECT_EQ(run({"slots", "list", "--limit", "0"}), 2);
}

TEST_F(command_line, listings_contain_all_pages) {
    answer(R"({"accounts":[{"name":"ada","prefix":"A","accountId":"1","state":"active","seq":5}],)"
           R"("nextPageToken":"n"})");
    answer(
        R"({"accounts":[{"name":"bob","prefix":"B","accountId":"2","state":"disabled","seq":0}]})");
    EXPECT_EQ(run({"account", "list"}), 0) << err.str();
    EXPECT_EQ(out.str(),
              "NAME  PREFIX  ACCOUNT ID  STATE     SEQ  CREATED\n"
              "ada   A       1           active    5    -\n"
              "bob   B       2           disabled  0    -\n");
}

TEST_F(command_line, reaper_status) {
    answer(R"({"interval":"30s","window":"10m","retention":"7d","batch":500,"pending":2,)"
           R"("oldestPending":"2026-11-20T12:48:00.000Z","lateRetries":1,"sweeps":9,)"
           R"("lastResult":{"scanned":4,"committed":1,"failed":2,"forgotten":3,"scrubbed":5},)"
           R"("advice":"Lengthen the window."})");
    EXPECT_EQ(run({"reaper", "status"}), 0) << err.str();
    EXPECT_THAT(out.str(), HasSubstr("window          10m\n"));
    EXPECT_THAT(out.str(), HasSubstr("oldest pending  2026-11-20T12:48:00.000Z\n"));
    EXPECT_THAT(out.str(),
                HasSubstr("last result     4 scanned, 1 committed, 2 failed, 3 forgotten,"
                          " 5 scrubbed\n"));
    EXPECT_THAT(out.str(), Not(HasSubstr("last sweep ")));
}

TEST_F(command_line, reaper_status_shows_the_inputs_of_the_window) {
    answer(R"({"interval":"30s","window":"62s","windowSetting":"auto","windows":[)"
           R"({"accounts":"local","window":"62s","reason":"derived","because":"So many.",)"
           R"("p99":"41s","samples":1840,"failed":3,"failedRetried":1,"others":[)"
           R"({"window":"15s","failedRetried":312,"pending":"0.02"},)"
           R"({"window":"62s","failedRetried":0,"pending":"0.10"}]}]})");
    EXPECT_EQ(run({"reaper", "status"}), 0) << err.str();
    EXPECT_THAT(out.str(), HasSubstr("window        62s (auto)\n"));
    EXPECT_THAT(out.str(), HasSubstr("\nLocal accounts:\n"));
    EXPECT_THAT(out.str(), HasSubstr("reason            derived\n"));
    EXPECT_THAT(out.str(), HasSubstr("p99               41s\n"));
    EXPECT_THAT(out.str(), Not(HasSubstr("p50")));
    EXPECT_THAT(out.str(), HasSubstr("failed too early  1\n"));
    EXPECT_THAT(out.str(), HasSubstr("15s          312                          0.02\n"));
}

TEST_F(command_line, empty_lists_show_how_to_create_the_first_entry) {
    const std::vector<std::pair<std::vector<std::string>, std::string>> lists{
        {{"account", "list"}, "callsign account create NAME --prefix SYN"},
        {{"token", "list", "ada"}, "callsign token create ada --name NAME"},
        {{"device", "list", "ada"}, "callsign device add ada --name NAME"},
        {{"series", "list", "ada"}, "callsign series create ada --prefix SYN"},
        {{"slots", "list"}, "POST /v1/tasks"},
        {{"slots", "list", "--state", "pending"}, "callsign slots list"}};
    for (auto [words, sentence] : lists) {
        err.str("");
        answer("{}");
        EXPECT_EQ(run(words), 0) << err.str();
        EXPECT_THAT(err.str(), HasSubstr(sentence));
        EXPECT_EQ(out.str(), "") << "standard output is for rows";
        words.emplace_back("--json");
        err.str("");
        answer("{}");
        EXPECT_EQ(run(words), 0) << err.str();
        EXPECT_THAT(out.str(), HasSubstr("[]"));
        EXPECT_EQ(err.str(), "") << "JSON output needs no hint";
        out.str("");
    }
}

TEST_F(command_line, keys_are_bold_on_a_terminal) {
    const std::string slots =
        R"({"slots":[{"account":"ada","idempotencyKey":"k","state":"committed","uuid":"u",)"
        R"("receipt":{"key":"SYN-42"},"attempts":1}]})";
    answer(slots);
    EXPECT_EQ(run({"slots", "list"}), 0) << err.str();
    EXPECT_THAT(out.str(), Not(HasSubstr("\x1b")));
    const std::string plain = out.str();
    out.str("");
    out_terminal = true;
    answer(slots);
    EXPECT_EQ(run({"slots", "list"}), 0);
    EXPECT_THAT(out.str(), HasSubstr("\x1b[1mSYN-42\x1b[0m"));
    std::string without = out.str();
    for (const char* escape : {"\x1b[1m", "\x1b[0m"}) {
        without.erase(without.find(escape), std::string(escape).size());
    }
    EXPECT_EQ(without, plain) << "columns are aligned";
    out.str("");
    answer(slots);
    EXPECT_EQ(run({"slots", "list", "--color", "never"}), 0);
    EXPECT_EQ(out.str(), plain);
}

}  // namespace
}  // namespace callsign::cli
