#pragma once
// The command line with a data directory of Taskwarrior, a server and a `task` program whose
// behaviour the test chooses.

#include "cli/failure.hpp"
#include "cli/key_spool.hpp"
#include "cli/program.hpp"
#include "cli/run.hpp"

#include <boost/json/parse.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace callsign::cli {

namespace json = boost::json;

inline std::string uuid_text(int n) {
    return "11111111-2222-4333-8444-" + std::to_string(100'000'000'000 + n);
}
inline uuid uuid_of(int n) {
    return *parse_uuid(uuid_text(n));
}

// A task as Taskwarrior writes it, with attributes of users and other programs.
inline std::string task_text(int n, const std::string& more = "") {
    return R"({"description":"Say \"42\" \/ \u00e9 )"
           "\xC3\xA9"
           R"( }{","entry":"20261120T124800Z","estimate":1.50,"huge":123456789012345678901234567890,)"
           R"("tags":["a","{"],"status":"pending","uuid":")" +
           uuid_text(n) + "\"" + more + "}";
}
inline std::string keyed(int n, const std::string& key) {
    return task_text(n, R"(,"key":")" + key + "\"");
}

inline http_answer receipt_with(const http_call& call, const std::string& key) {
    const std::string id(json::parse(call.body).at("uuid").as_string());
    return {201, "application/json",
            R"({"uuid":")" + id + R"(","key":")" + key +
                R"(","prefix":"SYN","number":42,"later":[1],)"
                R"("createdAt":"2026-11-20T12:48:00.123Z","created":true})"};
}
inline http_answer problem_with(unsigned status, const std::string& code) {
    return {status, "application/problem+json",
            R"({"status":)" + std::to_string(status) +
                R"(,"title":"No","detail":"Not so.","code":")" + code + "\"}"};
}

struct hooks : testing::Test {
    std::filesystem::path dir;   // parent of all test files
    std::filesystem::path data;  // Taskwarrior's data directory
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    time_point now{std::chrono::seconds{1'795'000'000}};  // November 2026
    std::map<std::string, std::string> environment{{"CALLSIGN_TOKEN", "cs_account"}};
    std::function<http_answer(const http_call&)> server;
    // "URL TARGET TOKEN BODY" of each request, and its timeout.
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

    // Assigns keys as the server does: the same key for the same task.
    void numbers_from(int first) {
        server = [keys = std::map<std::string, std::string>{},
                  first](const http_call& call) mutable {
            std::string& key = keys[call.body];
            if (key.empty()) key = "SYN-" + std::to_string(first++);
            return receipt_with(call, key);
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
        const cli_context around{.in = in,
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

    // The output of a hook that Taskwarrior runs with these lines.
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

}  // namespace callsign::cli
