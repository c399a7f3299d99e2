// Limits how often requests of any client make the server compute a text.

#include "main/setup/kept_text.hpp"

#include <gtest/gtest.h>

namespace callsign::setup {
namespace {

using namespace std::chrono_literals;

TEST(kept_text, is_recomputed_at_a_limited_rate) {
    kept_text kept;
    int made = 0;
    const auto make = [&] { return std::to_string(++made); };
    // Requests at the interval always get a new text.
    for (milliseconds now{0}; now < 2s; now += kept_text::interval) kept.get(now, make);
    EXPECT_EQ(made, 100);
    const int before = made;
    for (int n = 0; n < 10'000; ++n) kept.get(2s, make);
    const int at_once = made - before;
    EXPECT_LE(at_once, kept_text::saved_max / kept_text::interval + 1);
    EXPECT_EQ(kept.get(2s, make), std::to_string(made));
    // After a pause, as many new texts as intervals have passed.
    for (int n = 0; n < 10'000; ++n) kept.get(2s + 5 * kept_text::interval, make);
    EXPECT_EQ(made, before + at_once + 5);
    for (int n = 0; n < 10'000; ++n) kept.get(1h, make);
    EXPECT_EQ(made, before + 2 * at_once + 5);
}

}  // namespace
}  // namespace callsign::setup
