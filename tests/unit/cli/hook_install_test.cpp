// Installed hooks, and the processes that they run: a program until it exits, and a request with a
// timeout.

#include "cli/failure.hpp"
#include "cli/program.hpp"
#include "hooks.hpp"

#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callsign::cli {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;

// ---- installing ----

TEST_F(hooks, are_installed_with_their_settings) {
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
                             "\n\nLines for .taskrc:\n\n"
                             "uda.key.type=string\nuda.key.label=Key\n");
    EXPECT_THAT(text_in(settings), HasSubstr("url = http://127.0.0.1:9\ntoken = cs_from_input\n"));
    using std::filesystem::perms;
    EXPECT_EQ(std::filesystem::status(settings).permissions(),
              perms::owner_read | perms::owner_write);
    for (const std::string& file : {add, modify}) {
        EXPECT_EQ(std::filesystem::status(file).permissions(), perms{0755});
        EXPECT_THAT(text_in(file), HasSubstr(R"('/opt/it'\''s here/callsign' hook on-)"));
    }
    // A second run with another timeout keeps the other settings.
    EXPECT_EQ(run({"hook", "install", "--data", data.string(), "--url", "http://127.0.0.1:9",
                   "--timeout", "2s", "--attribute", "ticket", "--json"}),
              0)
        << err.str();
    EXPECT_THAT(text_in(settings), HasSubstr("token = cs_from_input\nattribute = ticket\n"
                                             "timeout = 2s\n"));
    EXPECT_THAT(out.str(), HasSubstr(R"("taskrc":"uda.ticket.type=string\n)"));
    EXPECT_THAT(requests, IsEmpty());
}

// Taskwarrior rejects every task while a hook fails.
TEST_F(hooks, scripts_accept_tasks_when_the_program_is_missing) {
    EXPECT_EQ(run({"hook", "install", "--data", data.string()}), 0) << err.str();
    EXPECT_THAT(text_in(data / "callsign.conf"), HasSubstr("token = cs_account\n"));
    const auto script = [&](const char* name) {
        // Backslashes and quotes in tasks, which sh must leave unchanged.
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
    EXPECT_THAT(err.str(), HasSubstr("was written by another program: use --yes"));
    EXPECT_EQ(text_in(file), "#!/bin/sh\nexec mine\n");
    EXPECT_FALSE(std::filesystem::exists(data / "callsign.conf"));
    EXPECT_FALSE(std::filesystem::exists(data / "hooks/on-add.callsign"));
    EXPECT_EQ(run({"hook", "install", "--data", data.string(), "--yes"}), 0) << err.str();
    EXPECT_THAT(text_in(file), HasSubstr("callsign"));
}

TEST_F(hooks, a_token_is_not_disclosed) {
    const auto install = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"hook", "install", "--data", data.string()});
        return run(std::move(more));
    };
    EXPECT_EQ(install({"--token", "cs_t"}), 2) << "other users can see it";
    EXPECT_THAT(err.str(), HasSubstr("--token-file"));
    EXPECT_EQ(install({"--url", "http://far.example"}), 2);
    EXPECT_THAT(err.str(), HasSubstr("--insecure"));
    EXPECT_EQ(install({"--url", "ftp://far.example"}), 2);
    EXPECT_EQ(install({"--attribute", "status"}), 2);
    EXPECT_EQ(install({"--token-file", "/no/such/file"}), 1);
    EXPECT_FALSE(std::filesystem::exists(data / "hooks"));
    EXPECT_EQ(install({"--url", "http://far.example", "--insecure"}), 0) << err.str();
    EXPECT_THAT(text_in(data / "callsign.conf"), HasSubstr("insecure = true\n"));
    // Hooks run in any working directory, so the path becomes absolute.
    EXPECT_EQ(install({"--url", "https://far.example", "--cacert", "ca.pem"}), 0) << err.str();
    EXPECT_THAT(text_in(data / "callsign.conf"),
                HasSubstr("cacert = " + std::filesystem::absolute("ca.pem").string() + "\n"));
    EXPECT_EQ(install({"--url", "http://far.example", "--insecure"}), 0) << err.str();
    EXPECT_THAT(text_in(data / "callsign.conf"), testing::Not(HasSubstr("cacert")));
    // The stored token is not used for another server.
    environment.erase("CALLSIGN_TOKEN");
    EXPECT_EQ(install({"--url", "http://127.0.0.1:9"}), 2);
    EXPECT_THAT(err.str(), HasSubstr("no write token of the account"));
    EXPECT_EQ(install({}), 0) << err.str();
    EXPECT_THAT(text_in(data / "callsign.conf"), HasSubstr("url = http://far.example\n"));
}

TEST_F(hooks, are_installed_where_taskwarrior_is_configured_or_in_the_default_directory) {
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

TEST(in_time, a_response_is_returned_unchanged) {
    const std::string large(200'000, '\n');
    const http_answer answer = in_time(60s, [&] {
        return http_answer{409, "text/plain; a=b", large};
    });
    EXPECT_EQ(answer.status, 409u);
    EXPECT_EQ(answer.content_type, "text/plain; a=b");
    EXPECT_EQ(answer.body, large);
    EXPECT_EQ(in_time(60s, [] { return http_answer{}; }).status, 0u);
}

TEST(in_time, it_ends_at_the_timeout) {
    EXPECT_THROW(in_time(20ms,
                         []() -> http_answer {
                             while (true) ::pause();
                         }),
                 too_late);
    EXPECT_THROW(in_time(60s, []() -> http_answer { throw too_late("late"); }), too_late);
}

TEST(in_time, an_exception_of_the_child_is_rethrown) {
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
              "the request to the server failed");
}

}  // namespace
}  // namespace callsign::cli
