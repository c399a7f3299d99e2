#include "support/help_style.hpp"

#include <callsign/cli/cli.hpp>

#include <gtest/gtest.h>

namespace callsign {
namespace {

TEST(help_texts, begins_with_an_imperative_or_a_noun) {
    cli::show_definitions([](const CLI::App& app) {
        EXPECT_EQ(help::out_of_style(app), std::vector<std::string>{});
    });
}

TEST(help_texts, the_check_of_style_rejects_clauses) {
    EXPECT_TRUE(help::is_in_style("List all accounts"));
    EXPECT_TRUE(help::is_in_style("API token"));
    for (const char* const clause :
         {"", "What opens an account", "list accounts", "List all accounts.", "Its number"}) {
        EXPECT_FALSE(help::is_in_style(clause)) << clause;
    }
}

}  // namespace
}  // namespace callsign
