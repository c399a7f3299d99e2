// The meaning of command lines, and the errors of invalid ones.

#include "command_line.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callsign::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(command_line, a_line_that_is_not_understood_does_nothing) {
    for (const auto& words : {std::vector<std::string>{"account", "create"},
                              {"acount", "list"},
                              {"account", "list", "--colour"},
                              {"account", "list", "extra"},
                              {"account", "list", "--url", "ftp://h"},
                              {"account", "list", "--url", "h:x"},
                              {"account", "list", "--url", "http://u:p@h"},
                              {"account", "list", "--timeout", "soon"}}) {
        err.str("");
        EXPECT_EQ(run(words), 2) << testing::PrintToString(words);
        EXPECT_THAT(err.str(), HasSubstr("callsign: "));
    }
    EXPECT_TRUE(requests.empty());
    EXPECT_EQ(out.str(), "");
}

TEST_F(command_line, without_a_command_help_is_shown) {
    EXPECT_EQ(run({}), 0);
    EXPECT_THAT(out.str(), HasSubstr("reaper"));
    out.str("");
    EXPECT_EQ(run({"account"}), 0);
    EXPECT_THAT(out.str(), HasSubstr("rename"));
    EXPECT_THAT(out.str(), Not(HasSubstr("reaper")));
    EXPECT_EQ(err.str(), "");
    EXPECT_TRUE(requests.empty());
}

TEST_F(command_line, a_misspelt_word_is_shown_with_the_nearest) {
    const std::vector<std::pair<std::vector<std::string>, std::string>> lines{
        {{"acount", "list"}, "unknown command 'acount'; did you mean 'account'? (callsign --help)"},
        {{"account", "crate", "x"},
         "unknown command 'crate'; did you mean 'create'? (callsign account --help)"},
        {{"account", "list", "--jsn"},
         "unknown option '--jsn'; did you mean '--json'? (callsign account list --help)"},
        {{"--urll=x", "account"},
         "unknown option '--urll'; did you mean '--url'? (callsign --help)"},
        {{"account", "create", "x", "--prefx", "SYN"},
         "unknown option '--prefx'; did you mean '--prefix'? (callsign account create --help)"},
        {{"account", "move", "x", "--her"},
         "unknown option '--her'; did you mean '--here'? (callsign account move --help)"},
        {{"restaurant"}, "unknown command 'restaurant' (callsign --help)"},
        {{"--url", "acount", "tokn"},
         "unknown command 'tokn'; did you mean 'token'? (callsign --help)"}};
    for (const auto& [words, sentence] : lines) {
        err.str("");
        EXPECT_EQ(run(words), 2) << testing::PrintToString(words);
        EXPECT_EQ(err.str(), "callsign: " + sentence + "\n");
    }
    err.str("");
    EXPECT_EQ(run({"acc\x1b[2Junt"}), 2);
    EXPECT_THAT(err.str(), Not(HasSubstr("\x1b"))) << "control characters are escaped";
    EXPECT_EQ(out.str(), "");
}

TEST_F(command_line, asks_for_confirmation_only_on_a_terminal) {
    terminal = true;
    answer(R"({"accountId":"7","name":"desk","prefix":"DESK","seq":312,"state":"active"})");
    in.str("");
    EXPECT_EQ(run({"account", "delete", "desk"}), 1)
        << "the end of the input is not a confirmation";
    EXPECT_THAT(err.str(), HasSubstr("Delete account 'desk' and all its tasks (312 changes)?"));
    EXPECT_THAT(err.str(), HasSubstr("[y/N]"));
    EXPECT_THAT(err.str(), HasSubstr("nothing was changed"));
    ASSERT_EQ(requests.size(), 1u);
    EXPECT_THAT(requests[0], HasSubstr("GET"));
    for (const char* no : {"", "n\n", "no\n", "yess\n", " \n", "Y N\n"}) {
        in.clear();
        in.str(no);
        EXPECT_EQ(run({"repair-clock", "--data-dir", data_dir.string()}), 1) << no;
    }
    err_is_piped = true;
    err.str("");
    in.clear();
    in.str("y\n");
    EXPECT_EQ(run({"repair-clock", "--data-dir", data_dir.string()}), 2)
        << "the prompt would not be visible";
    EXPECT_THAT(err.str(), Not(HasSubstr("[y/N]")));
    EXPECT_THAT(err.str(), HasSubstr("use --yes"));
}

TEST_F(command_line, has_colours_on_a_terminal_only) {
    const std::string red = "\x1b[31m";
    run({"acount"});
    EXPECT_THAT(err.str(), Not(HasSubstr("\x1b")));
    run({"acount", "--color", "always"});
    terminal = true;
    err.str("");
    run({"acount"});
    EXPECT_THAT(err.str(), HasSubstr(red));
    for (const auto& [name, value] : {std::pair{"NO_COLOR", "1"}, std::pair{"TERM", "dumb"}}) {
        environment[name] = value;
        err.str("");
        run({"acount"});
        EXPECT_THAT(err.str(), Not(HasSubstr("\x1b"))) << name;
        environment.erase(name);
    }
    environment["NO_COLOR"] = "";
    err.str("");
    run({"acount"});
    EXPECT_THAT(err.str(), HasSubstr(red)) << "an empty variable counts as unset";
}

TEST_F(command_line, help_and_version) {
    EXPECT_EQ(run({"--version"}), 0);
    EXPECT_EQ(out.str(), "callsign " CALLSIGN_VERSION "\n");
    EXPECT_EQ(run({"--help"}), 0);
    EXPECT_THAT(out.str(), HasSubstr("reaper"));
    EXPECT_THAT(out.str(), Not(HasSubstr("cs_operator")));
    out.str("");
    EXPECT_EQ(run({"token", "create", "--help"}), 0);
    EXPECT_THAT(out.str(), HasSubstr("--operator"));
    EXPECT_EQ(err.str(), "");
}

// Commands with irreversible effects. Without a terminal they need --yes.
TEST_F(command_line, irreversible_commands_ask_for_confirmation) {
    const std::string secret = (data_dir / "secret").string();
    std::ofstream(secret) << "hush\n";
    const std::vector<std::vector<std::string>> commands{
        {"account", "delete", "x"},
        {"account", "manage", "x", "--secret-file", secret},
        {"account", "move", "x", "--here"},
        {"account", "move", "x", "--to", "https://there.example", "--client-id", "y",
         "--secret-file", secret},
        {"account", "remote", "x", "--accept-loss"},
        {"device", "revoke", "x", "y"},
        {"repair-clock", "--data-dir", data_dir.string()},
        {"restore", data_dir.string(), "--data-dir", data_dir.string()},
        {"token", "revoke", "7"}};
    for (const auto& command : commands) {
        const std::string shown = command[0] + " " + command[1];
        answer(R"({"name":"x","state":"open","seq":1})");
        err.str("");
        requests.clear();
        EXPECT_EQ(run(command), 2) << shown;
        EXPECT_THAT(err.str(), HasSubstr(": use --yes")) << shown;
        for (const std::string& sent : requests) EXPECT_THAT(sent, StartsWith("GET ")) << shown;
    }
}

}  // namespace
}  // namespace callsign::cli
