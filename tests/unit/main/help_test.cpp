#include "main/setup/command_line.hpp"
#include "support/help_style.hpp"

#include <gtest/gtest.h>

namespace callsign::setup {
namespace {

TEST(help_texts, begins_with_an_imperative_or_a_noun) {
    show_definitions([](const CLI::App& app) {
        EXPECT_EQ(help::out_of_style(app), std::vector<std::string>{});
    });
}

}  // namespace
}  // namespace callsign::setup
