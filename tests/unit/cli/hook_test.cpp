// Goal: whatever goes wrong, a hook gives Taskwarrior its task back, at once and as it came, and no
// task is without its key for good. Method: the command line as Taskwarrior and its user have it,
// on a directory of its own, with a server and a `task` that do what the test says.

#include "cli/failure.hpp"
#include "cli/key_spool.hpp"
#include "cli/program.hpp"
#include "cli/run.hpp"
#include "cli/task_line.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <sstream>
#include <unistd.h>

namespace callsign::cli {
namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string uuid_text(int n) {
    return "11111111-2222-4333-8444-" + std::to_string(100'000'000'000 + n);
}
uuid uuid_of(int n) {
    return *parse_uuid(uuid_text(n));
}

// As Taskwarrior writes it, with what it and others have put there besides.
std::string task_text(int n, const std::string& more = "") {
    return R"({"description":"Say \"42\" \/ \u00e9 )"
           "\xC3\xA9"
           R"( }{","entry":"20261120T124800Z","estimate":1.50,"huge":123456789012345678901234567890,)"
           R"("tags":["a","{"],"status":"pending","uuid":")" +
           uuid_text(n) + "\"" + more + "}";
}
std::string keyed(int n, const std::string& key) {
    return task_text(n, R"(,"key":")" + key + "\"");
}

http_answer receipt(const http_call& call, const std::string& key) {
    const std::string id(json::parse(call.body).at("uuid").as_string());
    return {201, "application/json",
            R"({"uuid":")" + id + R"(","key":")" + key +
                R"(","prefix":"SYN","number":42,"later":[1],)"
                R"("createdAt":"2026-11-20T12:48:00.123Z","created":true})"};
}
http_answer problem(unsigned status, const std::string& code) {
    return {status, "application/problem+json",
            R"({"status":)" + std::to_string(status) +
                R"(,"title":"No","detail":"Not so.","code":")" + code + "\"}"};
}

struct hooks : testing::Test {
    std::filesystem::path dir;   // of all
    std::filesystem::path data;  // Taskwarrior's
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    time_point now{std::chrono::seconds{1'795'000'000}};  // in November 2026
    std::map<std::string, std::string> environment{{"CALLSIGN_TOKEN", "cs_account"}};
    std::function<http_answer(const http_call&)> server;
    // "URL TARGET TOKEN BODY" of each request, and how long it is waited for.
    std::vector<std::string> requests;
    std::vector<milliseconds> waits;
    std::function<finished_program(const std::vector<std::string>&)> task;
    std::vector<std::vector<std::string>> task_lines;

    hooks() {
        std::string name = (std::filesystem::temp_directory_path() / "callsign-XXXXXX").string();
        dir = ::mkdtemp(name.data());
        data = dir / "data";
        std::filesystem::create_directory(data);
        environment["HOME"] = dir.string();
        numbers_from(42);
        task = [](const auto&) { return finished_program{0, "", ""}; };
    }
    ~hooks() override { std::filesystem::remove_all(dir); }

    // The same for the same task, as the server has it.
    void numbers_from(int first) {
        server = [keys = std::map<std::string, std::string>{},
                  first](const http_call& call) mutable {
            std::string& key = keys[call.body];
            if (key.empty()) key = "SYN-" + std::to_string(first++);
            return receipt(call, key);
        };
    }
    void nobody_there() {
        server = [](const http_call&) -> http_answer {
            throw failure("cannot reach http://127.0.0.1:8080: Connection refused");
        };
    }

    std::function<http_answer(const server_url&, const http_call&, milliseconds)> asked() {
        return [this](const server_url& url, const http_call& call, milliseconds wait) {
            requests.push_back(url.text + " " + call.target + " " + call.token + " " + call.body);
            waits.push_back(wait);
            return server(call);
        };
    }

    int run(std::vector<std::string> words, const std::string& input = "") {
        in.clear();
        in.str(input);
        out.str("");
        err.str("");
        requests.clear();
        task_lines.clear();
        const surroundings around{.in = in,
                                  .out = out,
                                  .err = err,
                                  .environment = [this](const char* name) -> const char* {
                                      const auto found = environment.find(name);
                                      return found == environment.end() ? nullptr
                                                                        : found->second.c_str();
                                  },
                                  .exchange = asked(),
                                  .files = {},
                                  .random = {},
                                  .now = [this] { return now; },
                                  .exchange_in_time = asked(),
                                  .run_program =
                                      [this](const std::vector<std::string>& line) {
                                          task_lines.push_back(line);
                                          return task(line);
                                      },
                                  .program = "/opt/it's here/callsign"};
        return cli::run(std::move(words), around);
    }

    // What a hook gives back, when Taskwarrior runs it on these lines.
    std::string hook(const std::string& event, const std::string& lines,
                     const std::string& command = "add") {
        const int status =
            run({"hook", event, "api:2", "args:task " + command + " a\n-x --y",
                 "command:" + command, "rc:/r", "data:" + data.string(), "version:3.5.0"},
                lines);
        EXPECT_EQ(status, 0);
        EXPECT_EQ(err.str(), "") << "Taskwarrior would show it";
        return out.str();
    }
    std::string added(const std::string& line) { return hook("on-add", line + "\n"); }
    std::string modified(const std::string& before, const std::string& after) {
        return hook("on-modify", before + "\n" + after + "\n", "modify");
    }

    std::vector<std::string> remembered() const {
        std::vector<std::string> all;
        for (const auto& entry : key_spool(data).all()) all.push_back(to_string(entry.task));
        return all;
    }
    void remember(int n) const { key_spool(data).remember(uuid_of(n), now); }

    void put_settings(const std::string& text) const {
        std::ofstream(data / "callsign.conf") << text;
    }
    static std::string text_in(const std::filesystem::path& file) {
        std::ifstream read(file);
        return {std::istreambuf_iterator<char>(read), {}};
    }
};

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

TEST(task_line, what_is_no_object_is_none) {
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
    // Its project goes along, for the series.
    added(task_text(2, R"(,"project":"home.d\u00f6or")"));
    EXPECT_THAT(requests.back(), HasSubstr("\"project\":\"home.d\xC3\xB6or\""));
    // Or not, for who would rather not say it.
    EXPECT_EQ(run({"hook", "install", "--data", data.string(), "--no-project"}), 0) << err.str();
    added(task_text(3, R"(,"project":"home")"));
    EXPECT_THAT(requests.back(), Not(HasSubstr("project")));
}

TEST_F(hooks, whatever_goes_wrong_the_task_passes_and_is_remembered) {
    const std::vector<std::function<http_answer(const http_call&)>> ways{
        [](const http_call&) -> http_answer { throw failure("cannot reach it\nat all"); },
        [](const http_call&) -> http_answer { throw std::runtime_error("odd"); },
        [](const http_call&) { return problem(401, "unauthorized"); },
        [](const http_call&) { return problem(404, "not-found"); },
        [](const http_call&) { return problem(429, "busy"); },
        [](const http_call&) { return problem(503, "overloaded"); },
        [](const http_call&) {
            return http_answer{200, "text/html", "<html>"};
        },
        [](const http_call&) {
            return http_answer{201, "application/json", "{}"};
        },
        [](const http_call&) {
            return http_answer{302, "", ""};
        },
        [](const http_call& call) { return receipt(call, "SYN 42"); },
        [](const http_call& call) { return receipt(call, "syn-42"); },
        [](const http_call& call) { return receipt(call, uuid_text(7)); },
        [](const http_call&) {
            return receipt({verb::post, "", "", R"({"uuid":")" + uuid_text(99) + "\"}"}, "SYN-42");
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

TEST_F(hooks, without_what_it_goes_by_the_task_passes_and_is_remembered) {
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

TEST_F(hooks, what_cannot_be_remembered_is_said_and_passes) {
    nobody_there();
    std::filesystem::remove_all(data);
    EXPECT_THAT(added(task_text(1)), HasSubstr(task_text(1) + "\nNo key, nor is it remembered: "));
}

TEST_F(hooks, what_is_not_understood_passes_as_it_came) {
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
    EXPECT_EQ(hook("on-add", task_text(1)), keyed(1, "SYN-42") + "\nSYN-42\n") << "no line end";
    EXPECT_EQ(hook("on-add", ""), "");
    EXPECT_EQ(hook("on-modify", ""), "");
    EXPECT_EQ(hook("on-modify", task_text(2) + "\n"), keyed(2, "SYN-43") + "\nSYN-43\n");
    EXPECT_THAT(remembered(), IsEmpty());
}

TEST_F(hooks, a_line_of_options_that_is_wrong_lets_the_task_pass) {
    for (const auto& words : {std::vector<std::string>{"hook", "on-add", "--colour"},
                              {"hook", "on-add", "--timeout", "soon"},
                              {"--timeout", "0s", "hook", "on-add"}}) {
        EXPECT_EQ(run(words, task_text(1) + "\n"), 0);
        EXPECT_THAT(out.str(), HasSubstr(task_text(1) + "\nNo key: "));
    }
    EXPECT_EQ(run({"hook", "on-modify", "--colour"}, task_text(1) + "\n" + task_text(2) + "\n"), 0);
    EXPECT_THAT(out.str(), testing::StartsWith(task_text(2) + "\n"));
    EXPECT_EQ(run({"hook"}, task_text(1)), 2);
}

TEST_F(hooks, a_managed_account_needs_no_hooks) {
    server = [](const http_call&) { return problem(409, "account-managed"); };
    EXPECT_THAT(added(task_text(1)), HasSubstr(task_text(1) + "\nthe account is managed: "));
    EXPECT_THAT(remembered(), IsEmpty());
}

// Taskwarrior copies every attribute to a duplicate, and to each recurrence.
TEST_F(hooks, the_key_of_another_task_is_not_this_ones) {
    EXPECT_EQ(added(keyed(1, "SYN-7")), keyed(1, "SYN-42") + "\nSYN-42\n");
    EXPECT_EQ(added(keyed(1, "SYN-42")), keyed(1, "SYN-42") + "\n") << "nothing to say";
    nobody_there();
    EXPECT_THAT(added(keyed(2, "SYN-7")), testing::StartsWith(task_text(2) + "\nNo key yet: "));
    // What an import brings is what its owner has, until the server says otherwise.
    EXPECT_THAT(hook("on-add", keyed(3, "SYN-9") + "\n", "import"),
                testing::StartsWith(keyed(3, "SYN-9") + "\nNo key yet: "));
    EXPECT_THAT(remembered(), ElementsAre(uuid_text(2), uuid_text(3)));
}

TEST_F(hooks, after_a_silence_others_do_not_wait) {
    server = [](const http_call&) -> http_answer { throw too_late("no answer within 1s"); };
    added(task_text(1));
    EXPECT_EQ(requests.size(), 1u);
    numbers_from(1);
    now += 9s;
    EXPECT_THAT(added(task_text(2)), HasSubstr("\nNo key yet: the server did not answer a moment"));
    EXPECT_THAT(requests, IsEmpty());
    now += 1s;
    EXPECT_EQ(added(task_text(3)), keyed(3, "SYN-1") + "\nSYN-1\n");
    now -= 5s;
    EXPECT_EQ(added(task_text(4)), keyed(4, "SYN-2") + "\nSYN-2\n") << "it has ended";
    EXPECT_THAT(remembered(), ElementsAre(uuid_text(1), uuid_text(2)));
    // A clock that was ahead does not keep the hooks from asking.
    key_spool(data).note_silence(now + 24h);
    EXPECT_EQ(added(task_text(5)), keyed(5, "SYN-3") + "\nSYN-3\n");
}

TEST_F(hooks, options_come_before_the_file_and_the_file_before_the_environment) {
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
    // A token is for the server that it was given for.
    EXPECT_THAT(asked_with({"--url", "http://127.0.0.1:3"}), HasSubstr("nobody: "));
    EXPECT_EQ(asked_with({"--url", "http://127.0.0.1:3", "--token", "cs_t"}),
              "http://127.0.0.1:3 /v1/keys cs_t");
    put_settings("url = http://far.example\ntoken = cs_file\n");
    EXPECT_THAT(asked_with({}), HasSubstr("for all to read"));
    EXPECT_EQ(asked_with({"--insecure"}), "http://far.example /v1/keys cs_file");
    put_settings("url = http://far.example\ntoken = cs_file\ninsecure = true\n");
    EXPECT_EQ(asked_with({}), "http://far.example /v1/keys cs_file");
    EXPECT_THAT(asked_with({"--url", "http://other.example", "--token", "t"}),
                HasSubstr("for all to read"));
    put_settings("url = http://127.0.0.1:2\n");
    environment.erase("CALLSIGN_URL");
    EXPECT_EQ(asked_with({}), "http://127.0.0.1:2 /v1/keys cs_account");
}

TEST_F(hooks, the_attribute_and_the_time_are_configurable) {
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

TEST_F(hooks, without_taskwarriors_word_the_directory_is_the_usual_one) {
    nobody_there();
    environment["TASKDATA"] = data.string();
    EXPECT_EQ(run({"hook", "on-add"}, task_text(1) + "\n"), 0);
    environment.erase("TASKDATA");
    std::filesystem::create_directory(dir / ".task");
    EXPECT_EQ(run({"hook", "on-add"}, task_text(2) + "\n"), 0);
    EXPECT_THAT(remembered(), ElementsAre(uuid_text(1)));
    EXPECT_TRUE(std::filesystem::exists(dir / ".task" / "callsign-keys" / uuid_text(2)));
    EXPECT_THAT(task_lines, IsEmpty()) << "task waits for its hook";
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

TEST_F(hooks, a_deleted_task_is_not_asked_for) {
    const std::string deleted = R"({"uuid":")" + uuid_text(1) + R"(","status":"deleted")";
    EXPECT_EQ(modified(task_text(1), deleted + "}"), deleted + "}\n");
    EXPECT_THAT(requests, IsEmpty());
    EXPECT_EQ(modified(keyed(1, "SYN-1"), deleted + "}"),
              deleted + R"(,"key":"SYN-1"})" + "\nThe key stays SYN-1.\n");
    const std::string completed = R"({"uuid":")" + uuid_text(1) + R"(","status":"completed")";
    EXPECT_EQ(modified(task_text(1), completed + "}"),
              completed + R"(,"key":"SYN-42"})" + "\nSYN-42\n");
}

// ---- catching up ----

// A Taskwarrior: it exports its tasks, and sets keys.
struct catching_up : hooks {
    std::vector<json::object> tasks;

    catching_up() {
        task = [this](const std::vector<std::string>& line) { return answer(line); };
    }

    void has(int n, const std::string& entry, const json::object& more = {}) {
        json::object one{{"id", n},
                         {"uuid", uuid_text(n)},
                         {"entry", entry},
                         {"status", "pending"},
                         {"description", "d"}};
        for (const auto& [name, value] : more) one[name] = value;
        tasks.push_back(one);
    }

    finished_program answer(const std::vector<std::string>& line) {
        if (line.back() == "export") {
            json::array all(tasks.begin(), tasks.end());
            return {0, json::serialize(all) + "\n", ""};
        }
        for (json::object& one : tasks) {
            if (one.at("uuid").as_string() == line[line.size() - 3]) {
                one["key"] = line.back().substr(4);
                return {0, "", ""};
            }
        }
        return {1, "", "No matches."};
    }

    std::vector<std::string> keys() const {
        std::vector<std::string> all;
        for (const json::object& one : tasks) {
            const auto* const key = one.if_contains("key");
            all.emplace_back(key ? std::string(key->as_string()) : "-");
        }
        return all;
    }
    int catch_up(std::vector<std::string> more = {}) {
        more.insert(more.begin(), {"hook", "catch-up", "--data", data.string(), "--json"});
        return run(std::move(more));
    }
};

TEST_F(catching_up, without_anything_to_do_nobody_is_asked) {
    environment.clear();
    EXPECT_EQ(catch_up(), 0) << err.str();
    EXPECT_EQ(out.str(), "{\"set\":0,\"gone\":0,\"waiting\":0}\n");
    EXPECT_THAT(requests, IsEmpty());
    EXPECT_THAT(task_lines, IsEmpty());
}

TEST_F(catching_up, the_keys_come_in_the_order_of_the_tasks_and_are_set_by_task) {
    for (const int n : {1, 2, 3}) remember(n);
    has(1, "20261120T120300Z");
    has(2, "20261120T120100Z", {{"project", "ops"}});
    has(3, "20261120T120200Z", {{"key", "SYN-44"}, {"status", "completed"}});
    EXPECT_EQ(catch_up(), 0) << err.str();
    EXPECT_EQ(out.str(), "{\"set\":3,\"gone\":0,\"waiting\":0}\n");
    EXPECT_THAT(keys(), ElementsAre("SYN-44", "SYN-42", "SYN-43"));
    EXPECT_THAT(remembered(), IsEmpty());
    EXPECT_THAT(requests[0], HasSubstr(R"("project":"ops")"));
    EXPECT_EQ(waits.back(), 60s);
    ASSERT_EQ(task_lines.size(), 4u);
    EXPECT_THAT(
        task_lines[1],
        ElementsAre("task", "rc.hooks=off", "rc.confirmation=off", "rc.recurrence.confirmation=off",
                    "rc.recurrence=off", "rc.gc=off", "rc.bulk=0", "rc.context=none",
                    "rc.verbose=nothing", "rc.json.array=on", "rc.uda.key.type=string",
                    "rc.data.location=" + data.string(), uuid_text(2), "modify", "key:SYN-42"));
    // A key that is right stays untouched.
    remember(1);
    EXPECT_EQ(catch_up(), 0);
    EXPECT_EQ(out.str(), "{\"set\":0,\"gone\":0,\"waiting\":0}\n");
    EXPECT_EQ(task_lines.size(), 1u);
}

TEST_F(catching_up, those_of_one_second_follow_the_order_they_were_remembered_in) {
    for (const int n : {2, 3, 1}) {
        remember(n);
        now += 1ms;
    }
    for (const int n : {1, 2, 3}) has(n, "20261120T120000Z");
    EXPECT_EQ(catch_up(), 0) << err.str();
    EXPECT_THAT(keys(), ElementsAre("SYN-44", "SYN-42", "SYN-43"));
}

TEST_F(catching_up, the_directory_is_the_one_that_taskwarrior_says) {
    data = dir / "elsewhere";
    std::filesystem::create_directory(data);
    remember(1);
    has(1, "20261120T120000Z");
    task = [this](const std::vector<std::string>& line) {
        if (line.back() == "rc.data.location") return finished_program{0, "~/elsewhere\n", ""};
        return answer(line);
    };
    EXPECT_EQ(run({"hook", "catch-up", "--task", "/opt/task"}), 0) << err.str();
    EXPECT_EQ(out.str(), "keys set       1\ntasks gone     0\nstill waiting  0\n");
    for (const auto& line : task_lines) {
        EXPECT_EQ(line[0], "/opt/task");
        EXPECT_THAT(line, Not(testing::Contains(HasSubstr("rc.data.location="))));
    }
}

TEST_F(catching_up, those_that_are_gone_are_forgotten) {
    remember(1);  // deleted
    remember(2);  // nowhere
    now += 5min;
    remember(3);  // about to be written by the Taskwarrior whose hook has remembered it
    has(1, "20261120T120000Z", {{"status", "deleted"}});
    now += 5min;
    EXPECT_EQ(catch_up(), 0) << err.str();
    EXPECT_EQ(out.str(), "{\"set\":0,\"gone\":2,\"waiting\":1}\n");
    EXPECT_THAT(requests, IsEmpty());
    EXPECT_THAT(remembered(), ElementsAre(uuid_text(3)));
}

TEST_F(catching_up, what_fails_is_remembered_and_comes_the_next_time) {
    for (const int n : {1, 2, 3}) {
        remember(n);
        has(n, "20261120T12000" + std::to_string(n) + "Z");
    }
    nobody_there();
    EXPECT_EQ(catch_up(), 1);
    EXPECT_THAT(err.str(), HasSubstr("Connection refused"));
    EXPECT_EQ(requests.size(), 1u);
    EXPECT_EQ(remembered().size(), 3u);
    // The server goes away after the first.
    numbers_from(1);
    server = [this, one_by_one = server, left = 1](const http_call& call) mutable {
        if (left-- > 0) return one_by_one(call);
        throw failure("cannot reach it");
    };
    EXPECT_EQ(catch_up(), 1);
    EXPECT_EQ(out.str(), "{\"set\":1,\"gone\":0,\"waiting\":2}\n");
    EXPECT_THAT(remembered(), ElementsAre(uuid_text(2), uuid_text(3)));
    // Taskwarrior is busy.
    numbers_from(2);
    task = [this](const std::vector<std::string>& line) {
        return line.back() == "export" ? answer(line) : finished_program{2, "", "locked\n"};
    };
    EXPECT_EQ(catch_up(), 1);
    EXPECT_THAT(err.str(), HasSubstr("task ended with status 2: locked\n"));
    EXPECT_EQ(remembered().size(), 2u);
    // One is refused: the other comes.
    task = [this](const std::vector<std::string>& line) { return answer(line); };
    server = [all = server](const http_call& call) {
        return call.body.find(uuid_text(2)) != std::string::npos ? problem(404, "unknown-prefix")
                                                                 : all(call);
    };
    EXPECT_EQ(catch_up(), 1);
    EXPECT_THAT(err.str(), HasSubstr(uuid_text(2) + ": No: Not so. (unknown-prefix)\n"));
    EXPECT_EQ(out.str(), "{\"set\":1,\"gone\":0,\"waiting\":1}\n");
    EXPECT_THAT(keys(), ElementsAre("SYN-1", "-", "SYN-3"));
}

TEST_F(catching_up, an_account_that_has_become_managed_has_nothing_to_wait_for) {
    remember(1);
    has(1, "20261120T120000Z");
    server = [](const http_call&) { return problem(409, "account-managed"); };
    EXPECT_EQ(catch_up(), 1);
    EXPECT_THAT(err.str(), HasSubstr("the account is managed"));
    EXPECT_THAT(remembered(), IsEmpty());
}

TEST_F(catching_up, all_means_every_task_that_has_no_key_of_its_own) {
    has(1, "20261120T120500Z");
    has(2, "20261120T120400Z", {{"key", "SYN-7"}});
    has(3, "20261120T120300Z", {{"key", "SYN-8"}});
    has(4, "20261120T120200Z", {{"key", "SYN-8"}, {"status", "completed"}});
    has(5, "20261120T120100Z", {{"status", "deleted"}});
    has(6, "20261120T120000Z", {{"status", "recurring"}});
    EXPECT_EQ(catch_up(), 0);
    EXPECT_THAT(task_lines, IsEmpty());
    EXPECT_EQ(catch_up({"--all"}), 0) << err.str();
    EXPECT_EQ(out.str(), "{\"set\":4,\"gone\":0,\"waiting\":0}\n");
    EXPECT_THAT(keys(), ElementsAre("SYN-45", "SYN-7", "SYN-44", "SYN-43", "-", "SYN-42"));
}

TEST_F(catching_up, an_export_that_is_none_changes_nothing) {
    remember(1);
    task = [](const auto&) { return finished_program{0, "Cannot proceed", ""}; };
    now += 1h;
    EXPECT_EQ(catch_up(), 1);
    EXPECT_THAT(err.str(), HasSubstr("`task export`"));
    EXPECT_THAT(remembered(), ElementsAre(uuid_text(1)));
}

// ---- installing ----

TEST_F(hooks, are_installed_with_what_they_go_by) {
    environment.erase("CALLSIGN_TOKEN");
    EXPECT_EQ(run({"hook", "install", "--data", data.string(), "--url", "http://127.0.0.1:9",
                   "--token-file", "-"},
                  "cs_from_input\n"),
              0)
        << err.str();
    const std::string add = (data / "hooks/on-add.callsign").string();
    const std::string modify = (data / "hooks/on-modify.callsign").string();
    const std::string settings = (data / "callsign.conf").string();
    EXPECT_EQ(out.str(), add + "\n" + modify + "\n" + settings +
                             "\n\nThe lines for its .taskrc:\n\n"
                             "uda.key.type=string\nuda.key.label=Key\n");
    EXPECT_THAT(text_in(settings), HasSubstr("url = http://127.0.0.1:9\ntoken = cs_from_input\n"));
    using std::filesystem::perms;
    EXPECT_EQ(std::filesystem::status(settings).permissions(),
              perms::owner_read | perms::owner_write);
    for (const std::string& file : {add, modify}) {
        EXPECT_EQ(std::filesystem::status(file).permissions(), perms{0755});
        EXPECT_THAT(text_in(file), HasSubstr(R"('/opt/it'\''s here/callsign' hook on-)"));
    }
    // Again, with another time: the rest stays.
    EXPECT_EQ(run({"hook", "install", "--data", data.string(), "--url", "http://127.0.0.1:9",
                   "--timeout", "2s", "--attribute", "ticket", "--json"}),
              0)
        << err.str();
    EXPECT_THAT(text_in(settings), HasSubstr("token = cs_from_input\nattribute = ticket\n"
                                             "timeout = 2s\n"));
    EXPECT_THAT(out.str(), HasSubstr(R"("taskrc":"uda.ticket.type=string\n)"));
    EXPECT_THAT(requests, IsEmpty());
}

// Taskwarrior refuses every task as long as a hook fails.
TEST_F(hooks, scripts_let_tasks_pass_when_there_is_no_program) {
    EXPECT_EQ(run({"hook", "install", "--data", data.string()}), 0) << err.str();
    EXPECT_THAT(text_in(data / "callsign.conf"), HasSubstr("token = cs_account\n"));
    const auto script = [&](const char* name) {
        // The tasks have backslashes and quotes that sh must leave alone.
        std::ofstream(dir / "lines") << keyed(1, R"(\\n)") << "\n"
                                     << (std::string(name) == "on-add" ? "" : task_text(2) + "\n");
        const std::string file = (data / "hooks" / (std::string(name) + ".callsign")).string();
        return run_program(
            {"sh", "-c", "\"$0\" api:2 \"args:a b\" <\"$1\"", file, (dir / "lines").string()});
    };
    const finished_program add = script("on-add");
    EXPECT_EQ(add.status, 0);
    EXPECT_EQ(add.out, keyed(1, R"(\\n)") + "\n");
    EXPECT_THAT(add.err, HasSubstr("/opt/it's here/callsign"));
    const finished_program modify = script("on-modify");
    EXPECT_EQ(modify.status, 0);
    EXPECT_EQ(modify.out, task_text(2) + "\n");
}

TEST_F(hooks, of_others_are_not_overwritten) {
    std::filesystem::create_directory(data / "hooks");
    const auto file = data / "hooks/on-modify.callsign";
    std::ofstream(file) << "#!/bin/sh\nexec mine\n";
    EXPECT_EQ(run({"hook", "install", "--data", data.string()}), 2);
    EXPECT_THAT(err.str(), HasSubstr("is not callsign's: say --yes"));
    EXPECT_EQ(text_in(file), "#!/bin/sh\nexec mine\n");
    EXPECT_FALSE(std::filesystem::exists(data / "callsign.conf"));
    EXPECT_FALSE(std::filesystem::exists(data / "hooks/on-add.callsign"));
    EXPECT_EQ(run({"hook", "install", "--data", data.string(), "--yes"}), 0) << err.str();
    EXPECT_THAT(text_in(file), HasSubstr("callsign"));
}

TEST_F(hooks, a_token_is_not_given_away) {
    const auto install = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"hook", "install", "--data", data.string()});
        return run(std::move(more));
    };
    EXPECT_EQ(install({"--token", "cs_t"}), 2) << "others can see it";
    EXPECT_THAT(err.str(), HasSubstr("--token-file"));
    EXPECT_EQ(install({"--url", "http://far.example"}), 2);
    EXPECT_THAT(err.str(), HasSubstr("--insecure"));
    EXPECT_EQ(install({"--url", "ftp://far.example"}), 2);
    EXPECT_EQ(install({"--attribute", "status"}), 2);
    EXPECT_EQ(install({"--token-file", "/no/such/file"}), 1);
    EXPECT_FALSE(std::filesystem::exists(data / "hooks"));
    EXPECT_EQ(install({"--url", "http://far.example", "--insecure"}), 0) << err.str();
    EXPECT_THAT(text_in(data / "callsign.conf"), HasSubstr("insecure = true\n"));
    // Hooks run anywhere.
    EXPECT_EQ(install({"--url", "https://far.example", "--cacert", "ca.pem"}), 0) << err.str();
    EXPECT_THAT(text_in(data / "callsign.conf"),
                HasSubstr("cacert = " + std::filesystem::absolute("ca.pem").string() + "\n"));
    EXPECT_EQ(install({"--url", "http://far.example", "--insecure"}), 0) << err.str();
    EXPECT_THAT(text_in(data / "callsign.conf"), testing::Not(HasSubstr("cacert")));
    // What one server was trusted with is not for the next.
    environment.erase("CALLSIGN_TOKEN");
    EXPECT_EQ(install({"--url", "http://127.0.0.1:9"}), 2);
    EXPECT_THAT(err.str(), HasSubstr("a write token of the account is needed"));
    EXPECT_EQ(install({}), 0) << err.str();
    EXPECT_THAT(text_in(data / "callsign.conf"), HasSubstr("url = http://far.example\n"));
}

TEST_F(hooks, go_where_taskwarrior_says_else_where_it_usually_is) {
    task = [](const auto&) -> finished_program { throw failure("cannot run task"); };
    EXPECT_EQ(run({"hook", "install"}), 0) << err.str();
    EXPECT_TRUE(std::filesystem::exists(dir / ".task/hooks/on-add.callsign"));
    task = [&](const auto&) { return finished_program{0, data.string() + "\n", ""}; };
    EXPECT_EQ(run({"hook", "install"}), 0) << err.str();
    EXPECT_TRUE(std::filesystem::exists(data / "hooks/on-add.callsign"));
    environment["TASKDATA"] = (dir / "third").string();
    EXPECT_EQ(run({"hook", "install"}), 0) << err.str();
    EXPECT_TRUE(std::filesystem::exists(dir / "third/hooks/on-add.callsign"));
}

// ---- other processes ----

TEST(program, runs_to_its_end_without_a_shell) {
    const finished_program done =
        run_program({"sh", "-c", "cat; echo \"$0\"; echo no >&2; exit 3", "a b $HOME"});
    EXPECT_EQ(done.status, 3);
    EXPECT_EQ(done.out, "a b $HOME\n");
    EXPECT_EQ(done.err, "no\n");
    EXPECT_EQ(run_program({"sh", "-c", "kill -9 $$"}).status, 137);
    EXPECT_THROW(run_program({"/no/such/program"}), failure);
    const finished_program much = run_program({"sh", "-c",
                                               "head -c 300000 /dev/zero >&2; "
                                               "head -c 300000 /dev/zero"});
    EXPECT_EQ(much.out.size() + much.err.size(), 600'000u);
}

TEST(in_time, an_answer_comes_as_it_is) {
    const std::string large(200'000, '\n');
    const http_answer answer = in_time(60s, [&] {
        return http_answer{409, "text/plain; a=b", large};
    });
    EXPECT_EQ(answer.status, 409u);
    EXPECT_EQ(answer.content_type, "text/plain; a=b");
    EXPECT_EQ(answer.body, large);
    EXPECT_EQ(in_time(60s, [] { return http_answer{}; }).status, 0u);
}

TEST(in_time, it_ends_when_the_time_is_over_whatever_is_done) {
    EXPECT_THROW(in_time(20ms,
                         []() -> http_answer {
                             while (true) ::pause();
                         }),
                 too_late);
    EXPECT_THROW(in_time(60s, []() -> http_answer { throw too_late("late"); }), too_late);
}

TEST(in_time, a_failure_is_one_here) {
    const auto failure_of = [](const std::function<http_answer()>& ask) -> std::string {
        try {
            in_time(60s, ask);
        } catch (const failure& e) {
            return e.what();
        }
        return {};
    };
    EXPECT_EQ(failure_of([]() -> http_answer { throw failure("two\nlines"); }), "two\nlines");
    EXPECT_EQ(failure_of([]() -> http_answer { throw std::runtime_error("other"); }), "other");
    EXPECT_EQ(failure_of([]() -> http_answer {
                  ::raise(SIGKILL);
                  return {};
              }),
              "the server could not be asked");
}

}  // namespace
}  // namespace callsign::cli
