#pragma once
// What every system test has: the real programs, a data directory of its own, and short words for
// starting a server and asking it things. Nothing here knows how the programs are built inside.

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

// For waits that end early when all is well: an event that takes this long is not coming.
inline constexpr milliseconds patience = 60s;

class system_test : public ::testing::Test {
  protected:
    // Where callsignd and callsign are; the variable lets the same tests try another build.
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

    // The command line on this test's data directory, with --json.
    finished callsign(std::vector<std::string> words) const {
        words.insert(words.begin(), (programs() / "callsign").string());
        words.insert(words.end(), {"--data-dir", data_dir().string(), "--json"});
        return run(words, patience);
    }

    // The object it printed; fails the test if it did not end well.
    json::object ask_callsign(const std::vector<std::string>& words) const {
        const finished done = callsign(words);
        EXPECT_EQ(done.status, (exit_status{0, 0})) << done.err;
        boost::system::error_code error;
        const json::value printed = json::parse(done.out, error);
        EXPECT_FALSE(error) << done.out;
        return printed.is_object() ? printed.as_object() : json::object{};
    }

    // A new account; its write token.
    static std::string make_account(const server& s, const std::string& name,
                                    const std::string& prefix) {
        http_client as_operator(s.port(), s.admin_token());
        const json::object wanted{{"name", name}, {"prefix", prefix}};
        const auto made = as_operator.post_json("/v1/admin/accounts", json::serialize(wanted));
        if (!made || made->status != 201) {
            ADD_FAILURE() << "no account: " << (made ? made->body : "no answer");
            return {};
        }
        return std::string(json::parse(made->body).at("token").as_string());
    }

    void expect_sound() const {
        const json::object report = ask_callsign({"check"});
        EXPECT_TRUE(report.contains("ok") && report.at("ok") == true) << json::serialize(report);
    }

    // What the child has logged once it has said a whole line with these words, which it has to; it
    // writes a line a moment after what the line tells of.
    static std::string await_line(const process& child, std::string_view words) {
        const auto deadline = std::chrono::steady_clock::now() + patience;
        for (;;) {
            std::string log = child.errors();
            const std::size_t said = log.find(words);
            if (said != log.npos && log.find('\n', said + words.size() - 1) != log.npos) return log;
            if (std::chrono::steady_clock::now() > deadline) {
                ADD_FAILURE() << "not said: " << words << "\n" << log;
                return log;
            }
            std::this_thread::yield();
        }
    }

    static void expect_exit(process& child, int code) {
        EXPECT_EQ(child.wait(patience), (exit_status{code, 0})) << child.errors();
    }

  private:
    temp_dir temp_;
};

}  // namespace callsign::testing
