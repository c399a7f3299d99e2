#include <callsign/base/nearest.hpp>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <vector>

namespace callsign {
namespace {

const std::vector<std::string> commands{"account", "token", "device", "series", "slots", "check"};

TEST(nearest, finds_words_within_one_or_two_typing_errors) {
    EXPECT_EQ(nearest("acount", commands), "account");    // a missing letter
    EXPECT_EQ(nearest("accounts", commands), "account");  // an extra letter
    EXPECT_EQ(nearest("tokan", commands), "token");       // a wrong letter
    EXPECT_EQ(nearest("cehck", commands), "check");       // two transposed letters
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
    EXPECT_EQ(nearest("ab", std::vector<std::string>{"a", "c"}), "")
        << "no letter of the input is left";
}

TEST(nearest, prefers_the_nearer_and_else_the_first) {
    const std::vector<std::string> words{"listen", "lister", "list"};
    EXPECT_EQ(nearest("listn", words), "listen");
    EXPECT_EQ(nearest("listed", words), "listen");
}

TEST(nearest, is_worded_as_a_suggestion) {
    EXPECT_EQ(did_you_mean("acount", commands), "; did you mean 'account'?");
    EXPECT_EQ(did_you_mean("restaurant", commands), "");
}

// Goal: a known word is its own nearest. Method: random words.
RC_GTEST_PROP(nearest, a_known_word_is_its_own, (std::vector<std::string> others)) {
    others.insert(others.begin(), "account");
    RC_ASSERT(nearest("account", others) == "account");
}

}  // namespace
}  // namespace callsign
