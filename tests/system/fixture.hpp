#pragma once
// Fixture of the system tests: the real programs, a separate data directory, and helpers to start a
// server and send requests. Independent of the programs' internals.

#include "support/http_client.hpp"
#include "support/process.hpp"
#include "support/server.hpp"
#include "support/temp_dir.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace callsign::testing {

namespace json = boost::json;
using namespace std::chrono_literals;

// Timeout of waits that normally end early.
inline constexpr milliseconds timeout = 60s;

class system_test : public ::testing::Test {
  protected:
    // The directory of callsignd and callsign; the variable selects another build.
    static std::filesystem::path programs() {
        const char* other = std::getenv("CALLSIGN_PROGRAM_DIR");
        return other != nullptr ? other : CALLSIGN_BUILD_DIR;
    }
    static std::string callsignd() { return (programs() / "callsignd").string(); }

    std::filesystem::path data_dir() const { return temp_.path() / "data"; }
    std::filesystem::path temp_path(const std::string& name) const { return temp_.path() / name; }

    using environment = std::vector<std::pair<std::string, std::string>>;
    std::unique_ptr<server> start(std::vector<std::string> flags = {}, environment env = {}) const {
        return std::make_unique<server>(
            server::options{programs(), data_dir(), std::move(flags), std::move(env)});
    }

    // Runs the command line on this test's data directory, with --json.
    finished callsign(std::vector<std::string> words) const {
        words.insert(words.begin(), (programs() / "callsign").string());
        words.insert(words.end(), {"--data-dir", data_dir().string(), "--json"});
        return run(words, timeout);
    }

    // Returns the JSON object that the command printed; fails the test if the command failed.
    json::object ask_callsign(const std::vector<std::string>& words) const {
        const finished done = callsign(words);
        EXPECT_EQ(done.status, (exit_status{0, 0})) << done.err;
        boost::system::error_code error;
        const json::value printed = json::parse(done.out, error);
        EXPECT_FALSE(error) << done.out;
        return printed.is_object() ? printed.as_object() : json::object{};
    }

    // Creates an account and returns a write token.
    static std::string make_account(const server& s, const std::string& name,
                                    const std::string& prefix) {
        http_client as_operator(s.port(), s.admin_token());
        const json::object wanted{{"name", name}, {"prefix", prefix}};
        const auto made = as_operator.post_json("/v1/admin/accounts", json::serialize(wanted));
        if (!made || made->status != 201) {
            ADD_FAILURE() << "account not created: " << (made ? made->body : "no response");
            return {};
        }
        return std::string(json::parse(made->body).at("token").as_string());
    }

    void expect_sound() const {
        const json::object report = ask_callsign({"check"});
        EXPECT_TRUE(report.contains("ok") && report.at("ok") == true) << json::serialize(report);
    }

    // Returns the child's log once it contains a complete line with these words; fails the test on
    // a timeout. Log lines follow the event they report with a short delay.
    static std::string await_line(const process& child, std::string_view words) {
        const auto deadline = std::chrono::steady_clock::now() + timeout;
        for (;;) {
            std::string log = child.errors();
            const std::size_t said = log.find(words);
            if (said != log.npos && log.find('\n', said + words.size() - 1) != log.npos) return log;
            if (std::chrono::steady_clock::now() > deadline) {
                ADD_FAILURE() << "not logged: " << words << "\n" << log;
                return log;
            }
            std::this_thread::yield();
        }
    }

    static void expect_exit(process& child, int code) {
        EXPECT_EQ(child.wait(timeout), (exit_status{code, 0})) << child.errors();
    }

  private:
    temp_dir temp_;
};

}  // namespace callsign::testing
