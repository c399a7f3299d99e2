#include <callsign/base/back_off.hpp>

#include <gtest/gtest.h>

namespace callsign {
namespace {

using namespace std::chrono_literals;

constexpr std::uint8_t middle = 127;  // no jitter, to a thousandth
constexpr back_off pauses{1s, 60s};

milliseconds rounded(milliseconds pause) {
    return std::chrono::round<std::chrono::seconds>(pause);
}

TEST(back_off, doubles_up_to_a_maximum) {
    EXPECT_EQ(rounded(pauses.after(1, middle)), 1s);
    EXPECT_EQ(rounded(pauses.after(2, middle)), 2s);
    EXPECT_EQ(rounded(pauses.after(6, middle)), 32s);
    EXPECT_EQ(rounded(pauses.after(7, middle)), 60s);
    EXPECT_EQ(rounded(pauses.after(1'000'000'000, middle)), 60s);
}

TEST(back_off, is_what_the_server_asks_for_if_that_is_longer) {
    EXPECT_EQ(rounded(pauses.after(1, middle, 20s)), 20s);
    EXPECT_EQ(rounded(pauses.after(6, middle, 20s)), 32s);
    EXPECT_EQ(rounded(pauses.after(1, middle, 24h)), 60s);
}

TEST(back_off, differs_by_a_tenth) {
    EXPECT_EQ(pauses.after(1, 0), 900ms);
    EXPECT_EQ(pauses.after(1, 255), 1100ms);
}

}  // namespace
}  // namespace callsign
