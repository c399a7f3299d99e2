// Goal: on any error a hook returns the task to Taskwarrior at once and unchanged, and every task
// gets its key eventually.

#include "cli/failure.hpp"
#include "cli/task_line.hpp"
#include "hooks.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callsign::cli {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// ---- a task's line ----

TEST(task_line, one_attribute_changes_and_nothing_else) {
    const auto parsed = [](const std::string& text) {
        const auto line = task_line::parse(text);
        EXPECT_TRUE(line) << text;
        return *line;
    };
    const auto with_key = [&](const std::string& text) {
        task_line line = parsed(text);
        line.set("key", "A\"1");
        return line.text();
    };
    EXPECT_EQ(with_key("{}"), R"({"key":"A\"1"})");
    EXPECT_EQ(with_key(R"( {"a" : [1,{"key":"in"}] } )"),
              R"( {"a" : [1,{"key":"in"}] ,"key":"A\"1"} )");
    EXPECT_EQ(with_key(R"({"key":"}","b":-1.0e5})"), R"({"key":"A\"1","b":-1.0e5})");
    EXPECT_EQ(with_key(R"({"a":1,"\u006bey" : null})"), R"({"a":1,"\u006bey" : "A\"1"})");
    EXPECT_EQ(with_key(R"({"key":1,"a":"\\","key":[2]})"),
              R"({"key":"A\"1","a":"\\","key":"A\"1"})");

    const auto without = [&](const std::string& text) {
        task_line line = parsed(text);
        line.remove("key");
        EXPECT_FALSE(line.has("key"));
        return line.text();
    };
    EXPECT_EQ(without(R"({"key":"A-1"})"), "{}");
    EXPECT_EQ(without(R"({"key":"A-1","b":true})"), R"({"b":true})");
    EXPECT_EQ(without(R"({"a":{},"key":"A-1","b":[]})"), R"({"a":{},"b":[]})");
    EXPECT_EQ(without(R"({"a":"key", "key":"A-1"})"), R"({"a":"key"})");
    EXPECT_EQ(without(R"({"key":1,"a":2,"key":3})"), R"({"a":2})");

    task_line line = parsed(R"({"b":2})");
    line.copy("key", parsed(R"({"key": {"odd":"\u00e9"} })"));
    EXPECT_EQ(line.text(), R"({"b":2,"key":{"odd":"\u00e9"}})");
    line.copy("key", parsed("{}"));
    EXPECT_EQ(line.text(), R"({"b":2})");
    EXPECT_EQ(parsed(R"({"a":"x\u00e9\n","b":1})").text_of("a"), "x\xC3\xA9\n");
    EXPECT_EQ(parsed(R"({"a":"x","b":1})").text_of("b"), "");
}

TEST(task_line, other_text_than_an_object_is_rejected) {
    for (const char* text : {"", " ", "[]", "null", "{", R"({"a":1}})", R"({"a":})", R"({"a":1,})",
                             "{\"a\":\"\xFF\"}", "{\"a\":\"\n\"}"}) {
        EXPECT_FALSE(task_line::parse(text)) << text;
    }
    EXPECT_FALSE(task_line::parse(std::string(100, '[') + std::string(100, ']')));
    const std::string filler(task_line::bytes_max - 8, 'x');
    EXPECT_TRUE(task_line::parse(R"({"a":")" + filler + "\"}"));
    EXPECT_FALSE(task_line::parse(R"({"a":"x)" + filler + "\"}"));
}

// ---- on-add ----

TEST_F(hooks, a_new_task_gets_its_key_and_is_otherwise_as_it_was) {
    EXPECT_EQ(added(task_text(1)), keyed(1, "SYN-42") + "\nSYN-42\n");
    EXPECT_THAT(requests, ElementsAre("http://127.0.0.1:8080 /v1/keys cs_account {\"uuid\":\"" +
                                      uuid_text(1) + "\"}"));
    EXPECT_EQ(waits.back(), 1s);
    EXPECT_THAT(remembered(), IsEmpty());
    // The project is sent, for the choice of the series.
    added(task_text(2, R"(,"project":"home.d\u00f6or")"));
    EXPECT_THAT(requests.back(), HasSubstr("\"project\":\"home.d\xC3\xB6or\""));
    // With --no-project it is not.
    EXPECT_EQ(run({"hook", "install", "--data", data.string(), "--no-project"}), 0) << err.str();
    added(task_text(3, R"(,"project":"home")"));
    EXPECT_THAT(requests.back(), Not(HasSubstr("project")));
}

TEST_F(hooks, on_any_error_the_task_is_accepted_and_its_request_stored) {
    const std::vector<std::function<http_answer(const http_call&)>> ways{
        [](const http_call&) -> http_answer { throw failure("cannot reach it\nat all"); },
        [](const http_call&) -> http_answer { throw std::runtime_error("odd"); },
        [](const http_call&) { return problem_with(401, "unauthorized"); },
        [](const http_call&) { return problem_with(404, "not-found"); },
        [](const http_call&) { return problem_with(429, "busy"); },
        [](const http_call&) { return problem_with(503, "overloaded"); },
        [](const http_call&) {
            return http_answer{200, "text/html", "<html>"};
        },
        [](const http_call&) {
            return http_answer{201, "application/json", "{}"};
        },
        [](const http_call&) {
            return http_answer{302, "", ""};
        },
        [](const http_call& call) { return receipt_with(call, "SYN 42"); },
        [](const http_call& call) { return receipt_with(call, "syn-42"); },
        [](const http_call& call) { return receipt_with(call, uuid_text(7)); },
        [](const http_call&) {
            return receipt_with({verb::post, "", "", R"({"uuid":")" + uuid_text(99) + "\"}"},
                                "SYN-42");
        }};
    for (std::size_t n = 0; n < ways.size(); ++n) {
        server = ways[n];
        const int task_number = static_cast<int>(n);
        const std::string said = added(task_text(task_number));
        EXPECT_EQ(said.substr(0, said.find('\n')), task_text(task_number)) << n;
        EXPECT_THAT(said, HasSubstr("\nNo key yet: ")) << n;
        EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 2) << said;
        EXPECT_EQ(remembered().size(), n + 1) << said;
    }
}

TEST_F(hooks, without_settings_the_task_is_accepted_and_its_request_stored) {
    environment.erase("CALLSIGN_TOKEN");
    EXPECT_THAT(added(task_text(1)),
                HasSubstr(task_text(1) + "\nNo key yet: no token of the acco"));
    environment["CALLSIGN_TOKEN"] = "cs_account";
    for (const char* bad : {"ftp://h", "http://other.example"}) {
        environment["CALLSIGN_URL"] = bad;
        EXPECT_THAT(added(task_text(2)), HasSubstr(task_text(2) + "\nNo key yet: "));
    }
    for (const char* bad :
         {"secret", "token =", "colour = red", "insecure = perhaps\n", "attribute = uuid",
          "timeout = soon\nurl=http://127.0.0.1:1\ntoken=t"}) {
        put_settings(bad);
        const std::string said = added(task_text(3));
        EXPECT_THAT(said, HasSubstr(task_text(3) + "\nNo key yet: ")) << bad;
        EXPECT_THAT(said, Not(HasSubstr("secret")));
    }
    EXPECT_THAT(remembered(), ElementsAre(uuid_text(1), uuid_text(2), uuid_text(3)));
}

TEST_F(hooks, a_request_that_cannot_be_stored_is_reported) {
    nobody_there();
    std::filesystem::remove_all(data);
    EXPECT_THAT(added(task_text(1)),
                HasSubstr(task_text(1) + "\nNo key, and the request is not stored: "));
}

TEST_F(hooks, invalid_input_is_returned_unchanged) {
    const std::string huge = R"({"uuid":")" + uuid_text(1) + R"(","description":")" +
                             std::string(task_line::bytes_max, 'x') + "\"}";
    for (const std::string& line :
         {std::string("not JSON"), std::string("{\"a\":"), std::string("[]"), std::string("{}"),
          std::string(R"({"uuid":1})"), std::string(R"({"uuid":"no"})"),
          std::string(R"({"uuid":"00000000-0000-0000-0000-000000000000"})"),
          std::string("{\"uuid\":\"") + uuid_text(1) + "\",\"a\":\"\xFF\"}", huge}) {
        EXPECT_EQ(added(line), line + "\n");
        EXPECT_EQ(modified(task_text(1), line), line + "\n");
    }
    EXPECT_EQ(hook("on-add", task_text(1)), keyed(1, "SYN-42") + "\nSYN-42\n")
        << "no line break at the end";
    EXPECT_EQ(hook("on-add", ""), "");
    EXPECT_EQ(hook("on-modify", ""), "");
    EXPECT_EQ(hook("on-modify", task_text(2) + "\n"), keyed(2, "SYN-43") + "\nSYN-43\n");
    EXPECT_THAT(remembered(), IsEmpty());
}

TEST_F(hooks, an_invalid_option_does_not_block_the_task) {
    for (const auto& words : {std::vector<std::string>{"hook", "on-add", "--colour"},
                              {"hook", "on-add", "--timeout", "soon"},
                              {"--timeout", "0s", "hook", "on-add"}}) {
        EXPECT_EQ(run(words, task_text(1) + "\n"), 0);
        EXPECT_THAT(out.str(), HasSubstr(task_text(1) + "\nNo key: "));
    }
    EXPECT_EQ(run({"hook", "on-modify", "--colour"}, task_text(1) + "\n" + task_text(2) + "\n"), 0);
    EXPECT_THAT(out.str(), testing::StartsWith(task_text(2) + "\n"));
    EXPECT_EQ(run({"hook"}, task_text(1)), 0);
}

TEST_F(hooks, a_managed_account_needs_no_hooks) {
    server = [](const http_call&) { return problem_with(409, "account-managed"); };
    EXPECT_THAT(added(task_text(1)), HasSubstr(task_text(1) + "\nthe account is managed: "));
    EXPECT_THAT(remembered(), IsEmpty());
}

// Taskwarrior copies all attributes to a duplicate and to each recurrence.
TEST_F(hooks, the_key_of_another_task_is_not_this_ones) {
    EXPECT_EQ(added(keyed(1, "SYN-7")), keyed(1, "SYN-42") + "\nSYN-42\n");
    EXPECT_EQ(added(keyed(1, "SYN-42")), keyed(1, "SYN-42") + "\n") << "no message is needed";
    nobody_there();
    EXPECT_THAT(added(keyed(2, "SYN-7")), testing::StartsWith(task_text(2) + "\nNo key yet: "));
    // An imported task keeps its key until the server responds with another.
    EXPECT_THAT(hook("on-add", keyed(3, "SYN-9") + "\n", "import"),
                testing::StartsWith(keyed(3, "SYN-9") + "\nNo key yet: "));
    EXPECT_THAT(remembered(), ElementsAre(uuid_text(2), uuid_text(3)));
}

TEST_F(hooks, after_a_silence_others_do_not_wait) {
    server = [](const http_call&) -> http_answer { throw too_late("no response within 1s"); };
    added(task_text(1));
    EXPECT_EQ(requests.size(), 1u);
    numbers_from(1);
    now += 9s;
    EXPECT_THAT(added(task_text(2)),
                HasSubstr("\nNo key yet: the server did not respond to the last"));
    EXPECT_THAT(requests, IsEmpty());
    now += 1s;
    EXPECT_EQ(added(task_text(3)), keyed(3, "SYN-1") + "\nSYN-1\n");
    now -= 5s;
    EXPECT_EQ(added(task_text(4)), keyed(4, "SYN-2") + "\nSYN-2\n") << "the pause has ended";
    EXPECT_THAT(remembered(), ElementsAre(uuid_text(1), uuid_text(2)));
    // A pause that begins in the future, from a wrong clock, is ignored.
    key_spool(data).note_silence(now + 24h);
    EXPECT_EQ(added(task_text(5)), keyed(5, "SYN-3") + "\nSYN-3\n");
}

TEST_F(hooks, options_override_the_file_and_the_file_overrides_the_environment) {
    const auto asked_with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"hook", "on-add", "data:" + data.string()});
        EXPECT_EQ(run(more, task_text(1) + "\n"), 0);
        if (requests.empty()) return "nobody: " + out.str();
        const std::string request = requests.back();
        return request.substr(0, request.find(" {"));
    };
    environment["CALLSIGN_URL"] = "http://127.0.0.1:1";
    EXPECT_EQ(asked_with({}), "http://127.0.0.1:1 /v1/keys cs_account");
    EXPECT_EQ(asked_with({"--token", "cs_t"}), "http://127.0.0.1:1 /v1/keys cs_t");
    put_settings("# A comment\n\n url=http://127.0.0.1:2\r\ntoken = cs_file\n");
    EXPECT_EQ(asked_with({}), "http://127.0.0.1:2 /v1/keys cs_file");
    EXPECT_EQ(asked_with({"--url", "http://127.0.0.1:2"}), "http://127.0.0.1:2 /v1/keys cs_file");
    // A token is used only with the server that it was given for.
    EXPECT_THAT(asked_with({"--url", "http://127.0.0.1:3"}), HasSubstr("nobody: "));
    EXPECT_EQ(asked_with({"--url", "http://127.0.0.1:3", "--token", "cs_t"}),
              "http://127.0.0.1:3 /v1/keys cs_t");
    put_settings("url = http://far.example\ntoken = cs_file\n");
    EXPECT_THAT(asked_with({}), HasSubstr("unencrypted"));
    EXPECT_EQ(asked_with({"--insecure"}), "http://far.example /v1/keys cs_file");
    put_settings("url = http://far.example\ntoken = cs_file\ninsecure = true\n");
    EXPECT_EQ(asked_with({}), "http://far.example /v1/keys cs_file");
    EXPECT_THAT(asked_with({"--url", "http://other.example", "--token", "t"}),
                HasSubstr("unencrypted"));
    put_settings("url = http://127.0.0.1:2\n");
    environment.erase("CALLSIGN_URL");
    EXPECT_EQ(asked_with({}), "http://127.0.0.1:2 /v1/keys cs_account");
}

TEST_F(hooks, the_attribute_and_the_timeout_are_configurable) {
    put_settings("url = http://127.0.0.1:2\ntoken = t\nattribute = ticket\ntimeout = 250ms\n");
    const std::string mine = task_text(1, R"(,"key":"mine")");
    EXPECT_EQ(added(mine), task_text(1, R"(,"key":"mine","ticket":"SYN-42")") + "\nSYN-42\n");
    EXPECT_EQ(waits.back(), 250ms);
    EXPECT_EQ(
        run({"hook", "on-add", "--attribute", "nr", "--timeout", "3s", "data:" + data.string()},
            mine + "\n"),
        0);
    EXPECT_EQ(out.str(), task_text(1, R"(,"key":"mine","nr":"SYN-42")") + "\nSYN-42\n");
    EXPECT_EQ(waits.back(), 3s);
}

TEST_F(hooks, without_an_argument_of_taskwarrior_the_directory_is_the_default) {
    nobody_there();
    environment["TASKDATA"] = data.string();
    EXPECT_EQ(run({"hook", "on-add"}, task_text(1) + "\n"), 0);
    environment.erase("TASKDATA");
    std::filesystem::create_directory(dir / ".task");
    EXPECT_EQ(run({"hook", "on-add"}, task_text(2) + "\n"), 0);
    EXPECT_THAT(remembered(), ElementsAre(uuid_text(1)));
    EXPECT_TRUE(std::filesystem::exists(dir / ".task" / "callsign-keys" / uuid_text(2)));
    EXPECT_THAT(task_lines, IsEmpty()) << "Taskwarrior waits for its hook";
}

// ---- on-modify ----

TEST_F(hooks, a_modified_task_without_a_key_gets_it) {
    const std::string after = task_text(1, R"(,"priority":"H")");
    EXPECT_EQ(modified(task_text(1), after),
              task_text(1, R"(,"priority":"H","key":"SYN-42")") + "\nSYN-42\n");
    EXPECT_EQ(modified(task_text(1), keyed(1, "MINE-1")), keyed(1, "SYN-42") + "\nSYN-42\n");
    nobody_there();
    EXPECT_THAT(modified(task_text(1), after), testing::StartsWith(after + "\nNo key yet: "));
    EXPECT_THAT(modified(task_text(2), keyed(2, "MINE-1")),
                testing::StartsWith(task_text(2) + "\nNo key yet: "));
    EXPECT_THAT(remembered(), ElementsAre(uuid_text(1), uuid_text(2)));
}

TEST_F(hooks, a_key_stays_as_it_was) {
    const std::string before = keyed(1, "SYN-42");
    EXPECT_EQ(modified(before, before), before + "\n");
    EXPECT_EQ(modified(before, keyed(1, "SYN-1")), before + "\nThe key stays SYN-42.\n");
    EXPECT_EQ(modified(before, keyed(1, "")), before + "\nThe key stays SYN-42.\n");
    EXPECT_EQ(modified(before, task_text(1)), before + "\nThe key stays SYN-42.\n");
    const std::string first = R"({"key":"SYN-1","uuid":")" + uuid_text(1) + "\"}";
    EXPECT_EQ(modified(before, first),
              R"({"key":"SYN-42","uuid":")" + uuid_text(1) + "\"}\nThe key stays SYN-42.\n");
    EXPECT_THAT(requests, IsEmpty());
    EXPECT_THAT(remembered(), IsEmpty());
}

TEST_F(hooks, no_key_is_requested_for_a_deleted_task) {
    const std::string deleted = R"({"uuid":")" + uuid_text(1) + R"(","status":"deleted")";
    EXPECT_EQ(modified(task_text(1), deleted + "}"), deleted + "}\n");
    EXPECT_THAT(requests, IsEmpty());
    EXPECT_EQ(modified(keyed(1, "SYN-1"), deleted + "}"),
              deleted + R"(,"key":"SYN-1"})" + "\nThe key stays SYN-1.\n");
    const std::string completed = R"({"uuid":")" + uuid_text(1) + R"(","status":"completed")";
    EXPECT_EQ(modified(task_text(1), completed + "}"),
              completed + R"(,"key":"SYN-42"})" + "\nSYN-42\n");
}

}  // namespace
}  // namespace callsign::cli
