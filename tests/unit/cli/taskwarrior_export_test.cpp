#include "cli/taskwarrior_export.hpp"

#include <gtest/gtest.h>

namespace callsign::cli {
namespace {

const std::string a = "11111111-2222-4333-8444-55555555555a";
const std::string b = "11111111-2222-4333-8444-55555555555b";

std::string task(const std::string& uuid, const std::string& more = "") {
    return R"({"uuid":")" + uuid + R"(","description":"Say it")" + more + "}";
}

// The attributes of an export with this one task, without its description and a default status;
// fails the test if the export has errors.
attributes read_one(const std::string& more) {
    const auto read = read_taskwarrior_export("[" + task(a, more) + "]");
    EXPECT_EQ(read.faults, std::vector<std::string>{});
    if (read.tasks.size() != 1) return {};
    EXPECT_EQ(to_string(read.tasks[0].uuid), a);
    attributes all = read.tasks[0].attributes;
    EXPECT_EQ(all["description"], "Say it");
    all.erase("description");
    if (more.find("\"status\"") == more.npos) {
        EXPECT_EQ(all["status"], "pending");
        all.erase("status");
    }
    return all;
}

TEST(taskwarrior_export, dates_of_its_own_become_seconds) {
    for (const char* name :
         {"entry", "modified", "end", "due", "wait", "scheduled", "until", "start"}) {
        EXPECT_EQ(read_one(std::string(",\"") + name + R"(":"20261120T124800Z")"),
                  (attributes{{name, "1795178880"}}));
    }
}

// Stored as text, a date of a user-defined attribute is shown by Taskwarrior as one of 1970.
TEST(taskwarrior_export, a_value_in_the_form_of_a_date_is_one_unless_the_attribute_is_text) {
    EXPECT_EQ(read_one(R"(,"reviewed":"20261120T124800Z","note":"20261120","when":"2026-11-20",
                           "old":"19700101T000001Z","project":"20261120T124800Z")"),
              (attributes{{"note", "20261120"},
                          {"old", "19700101T000001Z"},
                          {"project", "20261120T124800Z"},
                          {"reviewed", "1795178880"},
                          {"when", "2026-11-20"}}));
}

// Taskwarrior's own import accepts this form, and other programs write it.
TEST(taskwarrior_export, instants_may_be_seconds) {
    for (const char* seconds : {"1795178880", "1795178880.0", "\"1795178880\""}) {
        EXPECT_EQ(read_one(std::string(",\"due\":") + seconds),
                  (attributes{{"due", "1795178880"}}));
        EXPECT_EQ(read_one(std::string(R"(,"annotations":[{"description":"x","entry":)") + seconds +
                           "}]"),
                  (attributes{{"annotation_1795178880", "x"}}));
    }
}

// With one such value, no device can export any task.
TEST(taskwarrior_export, a_value_that_taskwarrior_cannot_export_is_an_error) {
    for (const char* more :
         {R"(,"due":"19700102T000000Z")", R"(,"entry":"19630101T000000Z")", R"(,"due":5)",
          R"(,"due":1795178880.5)", R"(,"status":"foo")", R"(,"note":"a\u0000b")",
          R"(,"project":"a\u001bb")", R"(,"tags":["a\"b"])", R"(,"tags":["a\\b"])",
          R"(,"a\"b":"x")", R"(,"a\nb":"x")", R"(,"imask":"x")", R"(,"last":"0x1")",
          R"(,"annotation_x":"y")", R"(,"dep_x":"")",
          R"(,"annotations":[{"entry":"19700102T000000Z","description":"x"}])",
          R"(,"annotations":[{"entry":"20261120T124800Z","description":"a\u0001b"}])"}) {
        const auto read = read_taskwarrior_export("[" + task(a, more) + "]");
        ASSERT_EQ(read.faults.size(), 1u) << more;
        EXPECT_TRUE(read.faults[0].starts_with("entry 1: ")) << read.faults[0];
    }
}

TEST(taskwarrior_export, begins_with_a_byte_order_mark_or_not) {
    for (const std::string& text : {"[" + task(a) + "]", task(a)}) {
        const auto read = read_taskwarrior_export("\xEF\xBB\xBF" + text);
        EXPECT_EQ(read.faults, std::vector<std::string>{});
        EXPECT_EQ(read.tasks.size(), 1u);
    }
}

TEST(taskwarrior_export, a_syntax_error_has_its_entry_and_its_line) {
    std::string text = "[\n";
    for (int n = 1; n < 400; ++n) {
        text += n == 200 ? R"({"uuid":"x","tags":["a,]\"",],"description":"d"},)"
                         : R"({"uuid":"x","tags":["a,]\""],"description":"d"},)";
        text += '\n';
    }
    const auto lines = read_taskwarrior_export(text + "{}]");
    ASSERT_EQ(lines.faults.size(), 1u);
    EXPECT_TRUE(lines.faults[0].starts_with("entry 200, line 201, column 29: malformed JSON: "))
        << lines.faults[0];
    std::erase(text, '\n');
    const auto one_line = read_taskwarrior_export(text + "{}]");
    ASSERT_EQ(one_line.faults.size(), 1u);
    EXPECT_TRUE(one_line.faults[0].starts_with("entry 200, line 1, column ")) << one_line.faults[0];
}

TEST(taskwarrior_export, lists_become_an_attribute_each) {
    EXPECT_EQ(read_one(R"(,"tags":["a","b"])"), (attributes{{"tag_a", ""}, {"tag_b", ""}}));
    const attributes both{{"dep_" + a, ""}, {"dep_" + b, ""}};
    EXPECT_EQ(read_one(R"(,"depends":[")" + a + R"(",")" + b + "\"]"), both);
    EXPECT_EQ(read_one(R"(,"depends":")" + a + "," + b + "\""), both);
    EXPECT_EQ(read_one(R"(,"depends":"[\")" + a + R"(\", \")" + b + R"(\"]")"), both);
    EXPECT_EQ(read_one(R"(,"annotations":[{"entry":"20261120T124800Z","description":"x"},
                                          {"entry":"20261120T124800Z","description":"y"}])"),
              (attributes{{"annotation_1795178880", "x"}, {"annotation_1795178881", "y"}}));
    EXPECT_EQ(read_one(R"(,"tags":[],"depends":"","annotations":[])"), attributes{});
}

TEST(taskwarrior_export, everything_else_is_kept_as_text) {
    EXPECT_EQ(read_one(R"(,"status":"recurring","recur":"weekly","mask":"-+","priority":"H",
                           "parent":")" +
                       b + R"(","rtype":"periodic","project":"a.b","github.url":"http://x")"),
              (attributes{{"github.url", "http://x"},
                          {"mask", "-+"},
                          {"parent", b},
                          {"priority", "H"},
                          {"project", "a.b"},
                          {"recur", "weekly"},
                          {"rtype", "periodic"},
                          {"status", "recurring"}}));
}

TEST(taskwarrior_export, the_status_waiting_is_replaced) {
    EXPECT_EQ(read_one(R"(,"status":"waiting","wait":"20261120T124800Z")"),
              (attributes{{"status", "pending"}, {"wait", "1795178880"}}));
    EXPECT_EQ(read_one(R"(,"status":"deleted")"), (attributes{{"status", "deleted"}}));
}

TEST(taskwarrior_export, numbers_become_text) {
    EXPECT_EQ(
        read_one(R"(,"imask":0,"estimate":2.5,"count":12,"whole":3.0,"less":-1)"),
        (attributes{
            {"count", "12"}, {"estimate", "2.5"}, {"imask", "0"}, {"less", "-1"}, {"whole", "3"}}));
}

TEST(taskwarrior_export, derived_attributes_are_dropped) {
    const auto read =
        read_taskwarrior_export("[" + task(a, R"(,"id":7,"urgency":8.2)") + "," + task(b) + "]");
    EXPECT_EQ(read.faults.size(), 0u);
    for (const auto& t : read.tasks) {
        EXPECT_EQ(t.attributes, (attributes{{"description", "Say it"}, {"status", "pending"}}));
    }
}

TEST(taskwarrior_export, tasks_are_in_the_order_of_their_entry) {
    const std::string c = "11111111-2222-4333-8444-55555555555c";
    const auto read =
        read_taskwarrior_export("[" + task(c) + "," + task(b, R"(,"entry":"20261120T124801Z")") +
                                "," + task(a, R"(,"entry":"20261120T124800Z")") + "]");
    ASSERT_EQ(read.tasks.size(), 3u);
    EXPECT_EQ(to_string(read.tasks[0].uuid), a);
    EXPECT_EQ(to_string(read.tasks[1].uuid), b);
    EXPECT_EQ(to_string(read.tasks[2].uuid), c);
}

TEST(taskwarrior_export, older_exports_have_a_task_a_line) {
    for (const std::string& text : {task(a) + "\n" + task(b) + "\n", task(a) + ",\r\n\n" + task(b),
                                    "\n" + task(b) + "\n" + task(a)}) {
        const auto read = read_taskwarrior_export(text);
        EXPECT_EQ(read.faults.size(), 0u) << text;
        EXPECT_EQ(read.tasks.size(), 2u) << text;
    }
    for (const char* none : {"", "\n", "[]", " [ ]\n"}) {
        const auto read = read_taskwarrior_export(none);
        EXPECT_TRUE(read.faults.empty() && read.tasks.empty()) << none;
    }
}

TEST(taskwarrior_export, every_error_is_listed_with_its_position) {
    const auto read = read_taskwarrior_export(
        "[" + task(a) + R"(, {"description":"x"}, 7, {"uuid":"x","description":"x"}, )" + task(a) +
        "," + task(b, R"(,"due":"tomorrow","tags":[1],"depends":["SYN-1"],"annotations":[{}],
                   "flag":true,"nested":{},"wait":[5])") +
        R"(, {"uuid":"11111111-2222-4333-8444-55555555555d"}])");
    EXPECT_EQ(read.faults, (std::vector<std::string>{
                               "entry 2: uuid is missing",
                               "entry 3: not a task",
                               "entry 4: uuid: must be a UUID",
                               "entry 5: duplicate uuid, see entry 1",
                               "entry 6: due: must be a date such as 20261120T124800Z",
                               "entry 6: tags: invalid element",
                               "entry 6: depends: invalid element",
                               "entry 6: annotations: element without entry or description",
                               "entry 6: flag: Taskwarrior does not export values of this type",
                               "entry 6: nested: Taskwarrior does not export values of this type",
                               "entry 6: wait: Taskwarrior does not export values of this type",
                               "entry 7: description is missing",
                           }));
    const auto lines = read_taskwarrior_export(task(a) + "\n{\n" + task(b, R"(,"due":"x")"));
    ASSERT_EQ(lines.faults.size(), 2u);
    EXPECT_TRUE(lines.faults[0].starts_with("line 2: malformed JSON"));
    EXPECT_TRUE(lines.faults[1].starts_with("line 3: due: "));
    const auto broken = read_taskwarrior_export("[" + task(a));
    ASSERT_EQ(broken.faults.size(), 1u);
    EXPECT_TRUE(broken.faults[0].starts_with("malformed JSON"));
    for (const char* date : {"20261320T124800Z", "2026-11-20T12:48:00Z", "20261120", ""}) {
        const auto bad =
            read_taskwarrior_export("[" + task(a, std::string(R"(,"due":")") + date + "\"") + "]");
        EXPECT_EQ(bad.faults.size(), 1u) << date;
    }
}

}  // namespace
}  // namespace callsign::cli
