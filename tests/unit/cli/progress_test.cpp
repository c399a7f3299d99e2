// Goal: progress is shown in place on a terminal, and otherwise as an occasional line. Method: a
// clock of the test, and the captured output.

#include "cli/progress.hpp"

#include "cli/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <sstream>

namespace callsign::cli {
namespace {

using namespace std::chrono_literals;

struct progress : testing::Test {
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    milliseconds at = 1h;
    std::size_t columns = 80;

    cli_context around(bool is_terminal) {
        return {.in = in,
                .out = out,
                .err = err,
                .err_is_terminal = is_terminal,
                .environment = {},
                .exchange = {},
                .files = {},
                .columns = [this] { return columns; },
                .elapsed = [this] { return at; }};
    }
};

TEST_F(progress, is_one_line_that_is_erased_at_the_end) {
    const cli_context a = around(true);
    {
        progress_line line(a);
        line.show("1 of 2");
        line.show("2 of 2");
        EXPECT_EQ(err.str(), "\r\x1b[K1 of 2\r\x1b[K2 of 2");
    }
    EXPECT_EQ(err.str(), "\r\x1b[K1 of 2\r\x1b[K2 of 2\r\x1b[K");
}

TEST_F(progress, is_no_wider_than_the_terminal) {
    const cli_context a = around(true);
    columns = 10;
    progress_line line(a);
    line.show("1234567890");
    EXPECT_EQ(err.str(), "\r\x1b[K123456...");
    err.str("");
    line.show("123456789");
    EXPECT_EQ(err.str(), "\r\x1b[K123456789");
    err.str("");
    line.show("one\nline\x1b[2J");
    EXPECT_EQ(err.str(), "\r\x1b[Kone?li...");
}

TEST_F(progress, is_an_occasional_plain_line_without_a_terminal) {
    const cli_context a = around(false);
    {
        progress_line line(a);
        for (int n = 0; n < 25; ++n) {
            line.show("task " + std::to_string(n));
            at += 1s;
        }
    }
    EXPECT_EQ(err.str(), "task 10\ntask 20\n");
}

TEST_F(progress, of_a_short_operation_is_not_shown_without_a_terminal) {
    const cli_context a = around(false);
    { progress_line(a).show("all of it"); }
    EXPECT_EQ(err.str(), "");
    EXPECT_EQ(out.str(), "");
}

TEST(shortened, cuts_between_characters) {
    EXPECT_EQ(shortened("abc", 3), "abc");
    EXPECT_EQ(shortened("abcdef", 5), "ab...");
    EXPECT_EQ(shortened("\xC3\xA4\xC3\xB6\xC3\xBC\xC3\xA4\xC3\xB6", 4), "\xC3\xA4...");
    EXPECT_EQ(shortened("abcdef", 2), "..");
    EXPECT_EQ(shortened("", 2), "");
}

}  // namespace
}  // namespace callsign::cli
