#include "main/pages/pages.hpp"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callsign::pages {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A program with one of each element that a command line may have.
struct definition_test : ::testing::Test {
    CLI::App app{"A program.", "tool"};
    std::string text;
    bool flag = false;

    definition_test() {
        app.add_option("--url", text, "Which server");
        CLI::App* const jobs = app.add_subcommand("job", "What is done");
        CLI::App* const add = jobs->add_subcommand("add", "Adds one: it's [new]");
        add->add_option("NAME", text, "What it is called")->required();
        add->add_option("FILE", text, "Where it is");
        add->add_option("--kind", text, "How")->required()->check(CLI::IsMember({"now", "later"}));
        add->add_option("--from", text, "Of this folder")->type_name("DIR");
        add->add_flag("--dry-run", flag, "Change nothing");
        CLI::Option_group* const one_of = add->add_option_group("one of");
        one_of->add_flag("--first", flag, "At the front");
    }

    command program() { return definition_of(app); }
    const command& add_of(const command& program) { return program.commands.at(0).commands.at(0); }
};

TEST_F(definition_test, has_every_command_with_its_options_and_arguments) {
    const command tool = program();
    std::vector<std::string> paths;
    for (const auto& [path, found] : all_commands(tool)) paths.push_back(path);
    EXPECT_THAT(paths, ElementsAre("", "job", "job add"));
    std::vector<std::string> names;
    for (const option& o : add_of(tool).options) names.push_back(o.name);
    EXPECT_THAT(names, ElementsAre("--kind", "--from", "--dry-run", "--first"))
        << "options of an option group belong to the command";
    names.clear();
    for (const option& o : add_of(tool).arguments) names.push_back(o.name);
    EXPECT_THAT(names, ElementsAre("NAME", "FILE"));
}

TEST_F(definition_test, knows_what_an_option_takes) {
    const command tool = program();
    const auto& options = add_of(tool).options;
    EXPECT_EQ(options.at(0).takes, option::kind::text);
    EXPECT_THAT(options.at(0).choices, ElementsAre("now", "later"));
    EXPECT_TRUE(options.at(0).is_required);
    EXPECT_EQ(options.at(1).takes, option::kind::folder);
    EXPECT_EQ(options.at(2).takes, option::kind::flag);
    EXPECT_FALSE(options.at(2).is_required);
    EXPECT_EQ(add_of(tool).arguments.at(1).takes, option::kind::file);
}

TEST_F(definition_test, a_page_has_all_of_it) {
    const std::string page = man_page(program(), {.summary = "does jobs"}, {"1.2", "2026-11-23"});
    EXPECT_THAT(page, HasSubstr(".TH TOOL 1 \"2026-11-23\" \"Callsign 1.2\""));
    EXPECT_THAT(page, HasSubstr("tool \\- does jobs"));
    EXPECT_THAT(page, HasSubstr("\\fBtool job add\\fR \\fINAME\\fR [\\fIFILE\\fR] \\fB\\-\\-kind"));
    EXPECT_THAT(page, HasSubstr("\\fB\\-\\-dry\\-run\\fR\nChange nothing."));
    EXPECT_THAT(page, HasSubstr("How (\\fBnow\\fR, \\fBlater\\fR)."));
}

// Characters that shells would interpret.
TEST_F(definition_test, helps_are_quoted) {
    EXPECT_THAT(zsh_completion(program()), HasSubstr("'add:Adds one\\: it'\\''s [new]'"));
    EXPECT_THAT(fish_completion(program()), HasSubstr("-d 'Adds one: it\\'s [new]'"));
}

}  // namespace
}  // namespace callsign::pages
