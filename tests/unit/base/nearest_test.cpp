#include <callsign/base/nearest.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <vector>

namespace callsign {
namespace {

const std::vector<std::string> commands{"account", "token", "device", "series", "slots", "check"};

TEST(nearest, finds_what_a_slip_or_two_lead_to) {
    EXPECT_EQ(nearest("acount", commands), "account");    // a letter too few
    EXPECT_EQ(nearest("accounts", commands), "account");  // one too many
    EXPECT_EQ(nearest("tokan", commands), "token");       // another
    EXPECT_EQ(nearest("cehck", commands), "check");       // two that changed places
    EXPECT_EQ(nearest("DEVICE", commands), "device");
    const std::vector<std::string> names{"CALLSIGN_REAPER_WINDOW", "CALLSIGN_REAPER_INTERVAL"};
    EXPECT_EQ(nearest("CALLSIGN_REAPER_WINDWO", names), "CALLSIGN_REAPER_WINDOW");
}

TEST(nearest, suggests_nothing_where_nothing_is_near) {
    EXPECT_EQ(nearest("restaurant", commands), "");
    EXPECT_EQ(nearest("", commands), "");
    EXPECT_EQ(nearest("x", commands), "");
    EXPECT_EQ(nearest("account", {}), "");
    EXPECT_EQ(nearest("abc", commands), "");
    EXPECT_EQ(nearest(std::string(5000, 'a'), commands), "");
    EXPECT_EQ(nearest("ab", std::vector<std::string>{"a", "c"}), "") << "nothing typed is left";
}

TEST(nearest, prefers_the_nearer_and_else_the_first) {
    const std::vector<std::string> words{"listen", "lister", "list"};
    EXPECT_EQ(nearest("listn", words), "listen");
    EXPECT_EQ(nearest("listed", words), "listen");
}

TEST(nearest, is_said_as_a_question) {
    EXPECT_EQ(did_you_mean("acount", commands), "; did you mean 'account'?");
    EXPECT_EQ(did_you_mean("restaurant", commands), "");
}

// Goal: whatever is typed, a word that is known is its own nearest. Method: drawn words.
RC_GTEST_PROP(nearest, a_known_word_is_its_own, (std::vector<std::string> others)) {
    others.insert(others.begin(), "account");
    RC_ASSERT(nearest("account", others) == "account");
}

}  // namespace
}  // namespace callsign
