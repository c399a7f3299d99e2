// Goal: on a terminal the program behaves interactively, and in a pipe as other programs do.
// Method: `callsign` on a pseudo-terminal, with its input and all output; and the same command line
// in a pipe.

#include "support/terminal.hpp"

#include "fixture.hpp"
#include "support/localhost.hpp"

#include <fstream>
#include <gmock/gmock.h>

namespace callsign::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class terminal_test : public system_test {
  protected:
    std::vector<std::string> line(std::vector<std::string> words) const {
        words.insert(words.begin(), (programs() / "callsign").string());
        return words;
    }
    std::vector<std::string> on_data(std::vector<std::string> words) const {
        words.insert(words.end(), {"--data-dir", data_dir().string()});
        return line(words);
    }
};

TEST_F(terminal_test, no_arguments_print_help) {
    const finished done = run(line({}), timeout);
    EXPECT_EQ(done.status, (exit_status{0, 0}));
    EXPECT_THAT(done.out, HasSubstr("doctor"));
    EXPECT_EQ(done.err, "");
}

TEST_F(terminal_test, a_misspelt_command_is_named_in_red_on_a_terminal_alone) {
    const finished piped = run(line({"acount"}), timeout);
    EXPECT_EQ(piped.status, (exit_status{2, 0}));
    EXPECT_EQ(piped.err,
              "callsign: unknown command 'acount'; did you mean 'account'? (callsign --help)\n");
    EXPECT_EQ(piped.out, "");
    terminal shown(line({"acount"}), {{"NO_COLOR", ""}});
    EXPECT_THAT(shown.rest(), HasSubstr("\x1b[31mcallsign:\x1b[0m unknown command"));
    EXPECT_EQ(shown.status(), (exit_status{2, 0}));
    terminal plain(line({"acount"}), {{"NO_COLOR", "1"}});
    EXPECT_THAT(plain.rest(), Not(HasSubstr("\x1b")));
}

TEST_F(terminal_test, a_misspelt_option_of_the_server_is_named) {
    const finished done = run({callsignd(), "--lisen", ":0"}, timeout);
    EXPECT_EQ(done.status, (exit_status{2, 0}));
    EXPECT_EQ(done.err,
              "callsignd: unknown option '--lisen'; did you mean '--listen'? (callsignd "
              "--help)\n");
}

// Destructive commands ask for confirmation, and only a yes confirms.
TEST_F(terminal_test, asks_before_it_destroys) {
    auto s = start();
    ask_callsign({"account", "create", "ben", "--prefix", "BEN"});
    const auto state = [&] {
        const json::object shown = ask_callsign({"account", "show", "ben"});
        return std::string(shown.at("state").as_string());
    };
    const finished piped = run(on_data({"account", "delete", "ben"}), timeout);
    EXPECT_EQ(piped.status, (exit_status{2, 0}));
    EXPECT_THAT(piped.err, HasSubstr("use --yes"));
    for (const char* no : {"n\n", "\n", "\x04", "x\n"}) {
        terminal asked(on_data({"account", "delete", "ben"}));
        EXPECT_THAT(asked.await("[y/N] "), HasSubstr("Delete account 'ben' and all its tasks"));
        asked.type(no);
        EXPECT_THAT(asked.rest(), HasSubstr("nothing was changed"));
        EXPECT_EQ(asked.status(), (exit_status{1, 0}));
        EXPECT_EQ(state(), "active");
    }
    terminal asked(on_data({"account", "delete", "ben"}));
    asked.await("[y/N] ");
    asked.type("y\n");
    EXPECT_THAT(asked.rest(), HasSubstr("deleted"));
    EXPECT_EQ(asked.status(), (exit_status{0, 0}));
    EXPECT_EQ(state(), "deleted");
}

TEST_F(terminal_test, progress_is_in_place_on_a_terminal_and_not_in_a_pipe) {
    auto s = start();
    terminal shown(on_data({"check"}), {}, 20);
    const std::string all = shown.rest();
    EXPECT_EQ(shown.status(), (exit_status{0, 0}));
    EXPECT_THAT(all, HasSubstr("\r\x1b[Kchecking "));
    EXPECT_THAT(all, HasSubstr("\r\x1b[KCHECKED")) << "progress is erased before the result";
    for (std::size_t at = 0; (at = all.find("\x1b[K", at)) != all.npos;) {
        at += 3;
        const auto end = all.find_first_of("\r\n", at);
        const std::string text = all.substr(at, end - at);
        EXPECT_LT(text.starts_with("checking") ? text.size() : 0, 20u) << text;
    }
    const finished piped = run(on_data({"check"}), timeout);
    EXPECT_EQ(piped.status, (exit_status{0, 0}));
    EXPECT_EQ(piped.err, "");
    EXPECT_THAT(piped.out, Not(HasSubstr("\r")));
}

TEST_F(terminal_test, empty_lists_say_so_where_rows_are_not) {
    auto s = start();
    const finished piped = run(on_data({"slots", "list"}), timeout);
    EXPECT_EQ(piped.status, (exit_status{0, 0}));
    EXPECT_EQ(piped.out, "");
    EXPECT_THAT(piped.err, HasSubstr("No slots"));
    const json::object list = ask_callsign({"slots", "list"});
    EXPECT_TRUE(list.at("slots").as_array().empty());
}

TEST_F(terminal_test, addresses_need_no_scheme) {
    auto s = start();
    const std::string port = ":" + std::to_string(s->port());
    auto hosts = own_names();
    hosts.emplace_back();
    for (const std::string& host : hosts) {
        const finished done = run(line({"account", "list", "--url", host + port}), timeout,
                                  {{"CALLSIGN_TOKEN", s->admin_token()}});
        EXPECT_EQ(done.status, (exit_status{0, 0})) << done.err;
        EXPECT_THAT(done.out, HasSubstr("home"));
    }
}

TEST_F(terminal_test, file_errors_say_what_to_do) {
    auto s = start();
    const finished folder =
        run(on_data({"import", "taskwarrior", "/tmp", "--account", "home"}), timeout);
    EXPECT_THAT(folder.err, HasSubstr("cannot read /tmp: Is a directory: specify a file"));
    const finished missing =
        run(on_data({"import", "taskwarrior", "/no/such/file", "--account", "home"}), timeout);
    EXPECT_THAT(missing.err,
                HasSubstr("cannot read /no/such/file: No such file: missing directory /no/such"));
    EXPECT_EQ(missing.status, (exit_status{1, 0}));
}

// SIGHUP logs which keys took effect and which did not, and no values.
TEST_F(terminal_test, a_reload_names_the_keys_that_changed) {
    const auto file = temp_path("callsign.toml");
    std::ofstream(file) << "[reaper]\nbatch = 7\n";
    auto s = start({"--config", file.string()}, {{"CALLSIGN_REAPER_WINDWO", "1m"}});
    const std::string started = await_line(s->child(), "name=CALLSIGN_REAPER_WINDWO");
    EXPECT_THAT(started, HasSubstr("unknown environment variable"));
    EXPECT_THAT(started, HasSubstr("nearest=CALLSIGN_REAPER_WINDOW"));
    std::ofstream(file) << "[reaper]\nbatch = 8\n[http]\nconnections_max = 4711\n";
    s->child().signal(SIGHUP);
    const std::string log = await_line(s->child(), "changed settings need a restart");
    EXPECT_THAT(log, HasSubstr("changed=reaper.batch"));
    EXPECT_THAT(log, HasSubstr("keys=http.connections_max"));
    EXPECT_THAT(log, Not(HasSubstr("4711")));
}

}  // namespace
}  // namespace callsign::testing
