// Goal: the window follows observed retries, within its limits, and changes only by its rules.
// Method: examples of each rule, then random inputs that must satisfy all of them.

#include <callsign/domain/auto_window.hpp>

#include <cmath>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace callsign {
namespace {

using namespace std::chrono_literals;

const auto_window_options usual;

window_choice choose(milliseconds quantile, milliseconds before, milliseconds held = 2h,
                     double samples = 1000) {
    return choose_window(usual, {samples, quantile, before, held, true});
}

TEST(auto_window, is_the_quantile_and_half_as_much_again) {
    const auto c = choose(41s, 100s);
    EXPECT_EQ(c.window, 62s);
    EXPECT_EQ(c.wanted, 62s);
    EXPECT_EQ(c.reason, window_reason::derived);
    EXPECT_TRUE(c.changed);
    EXPECT_TRUE(c.derived);
}

TEST(auto_window, stays_the_fallback_while_there_are_too_few_samples) {
    for (const double samples : {0.0, 99.0}) {
        const auto c = choose_window(
            usual, {samples, samples > 0 ? std::optional<milliseconds>(41s) : std::nullopt});
        EXPECT_EQ(c.window, 10min);
        EXPECT_EQ(c.reason, window_reason::few_samples);
        EXPECT_FALSE(c.changed);
        EXPECT_FALSE(c.derived);
    }
    auto_window_options narrow = usual;
    narrow.window_max = 5min;
    EXPECT_EQ(choose_window(narrow, {}).window, 5min);
    narrow = usual;
    narrow.window_min = 20min;
    EXPECT_EQ(choose_window(narrow, {}).window, 20min);
}

TEST(auto_window, falls_back_only_when_half_of_its_samples_have_decayed) {
    const window_inputs some{60, 3h, 4h + 30min, 2h, true};
    EXPECT_EQ(choose_window(usual, some).window, 4h + 30min);
    window_inputs never = some;
    never.was_derived = false;
    EXPECT_EQ(choose_window(usual, never).reason, window_reason::few_samples);
    window_inputs few = some;
    few.samples = 49;
    const auto c = choose_window(usual, few);
    EXPECT_EQ(c.reason, window_reason::few_samples);
    EXPECT_EQ(c.window, 2h + 15min);  // between the former window and the fallback
}

TEST(auto_window, lengthens_at_once_and_by_what_is_needed) {
    const auto c = choose(1h, 62s, 0ms);
    EXPECT_EQ(c.window, 90min);
    EXPECT_EQ(c.reason, window_reason::derived);
}

TEST(auto_window, shortens_once_an_hour_and_to_half_at_most) {
    auto c = choose(41s, 1h, 59min);
    EXPECT_EQ(c.window, 1h);
    EXPECT_EQ(c.reason, window_reason::shortening);
    EXPECT_FALSE(c.changed);
    c = choose(41s, 1h, 1h);
    EXPECT_EQ(c.window, 30min);
    EXPECT_EQ(c.reason, window_reason::shortening);
    EXPECT_TRUE(c.changed);
    EXPECT_EQ(c.wanted, 62s);
    c = choose(41s, 100s, 1h);
    EXPECT_EQ(c.window, 62s);
    EXPECT_EQ(c.reason, window_reason::derived);
}

TEST(auto_window, small_differences_are_let_be) {
    for (const milliseconds quantile : {milliseconds{38s}, milliseconds{44s}}) {
        const auto c = choose(quantile, 62s);
        EXPECT_EQ(c.window, 62s);
        EXPECT_EQ(c.reason, window_reason::within_hysteresis);
        EXPECT_FALSE(c.changed);
    }
    // A quantile that alternates between two adjacent buckets must not change the window.
    EXPECT_GT(usual.hysteresis, 0.0906);
}

TEST(auto_window, keeps_its_limits) {
    EXPECT_EQ(choose(1s, 2min).window, 1min);
    EXPECT_EQ(choose(1s, 2min).reason, window_reason::at_floor);
    EXPECT_EQ(choose(24h * 7, 2min).window, 6h);
    EXPECT_EQ(choose(24h * 7, 2min).reason, window_reason::at_ceiling);
    // Changed limits apply at once, regardless of the former window and its age.
    EXPECT_EQ(choose(24h, 12h, 0ms).window, 6h);
    EXPECT_EQ(choose(1s, 1s, 0ms).window, 1min);
}

TEST(auto_window, windows_are_round_durations) {
    EXPECT_EQ(rounded_up(1ms), 10ms);
    EXPECT_EQ(rounded_up(100ms), 100ms);
    EXPECT_EQ(rounded_up(1234ms), 1300ms);
    EXPECT_EQ(rounded_up(61'440ms), 62s);
    EXPECT_EQ(rounded_up(601s), 11min);
    EXPECT_EQ(rounded_up(6h + 1s), 6h + 10min);
}

RC_GTEST_PROP(auto_window, moves_only_by_its_rules, ()) {
    const auto span = [](int least_doublings, int most_doublings) {
        return milliseconds{std::llround(
            std::exp2(*rc::gen::inRange(least_doublings * 100, most_doublings * 100) / 100.0))};
    };
    auto_window_options o;
    o.window_min = span(0, 30);
    o.window_max = o.window_min + span(0, 30);
    o.margin = 1 + *rc::gen::inRange(0, 1000) / 10.0;
    window_inputs in;
    in.samples = *rc::gen::inRange(0, 300);
    if (in.samples > 0) in.quantile = span(0, 30);
    in.before = *rc::gen::arbitrary<bool>() ? span(0, 32) : 0ms;
    in.held = span(0, 24);
    in.was_derived = *rc::gen::arbitrary<bool>();

    const auto c = choose_window(o, in);
    RC_ASSERT(c.window >= o.window_min && c.window <= o.window_max);
    RC_ASSERT(c.wanted >= o.window_min && c.wanted <= o.window_max);
    if (in.before == 0ms) return;
    RC_ASSERT(c.changed == (c.window != in.before));
    const auto before = std::clamp(in.before, o.window_min, o.window_max);
    // The window is never longer than wanted, unless it was before, and never moves away from it.
    RC_ASSERT(c.window <= std::max(before, c.wanted));
    RC_ASSERT(c.window >= std::min(before, c.wanted));
    if (c.window < before) {
        RC_ASSERT(in.held >= o.shorten_after);
        RC_ASSERT(c.window >= before / 2);
    }
    // Chosen again at the same instant, the window stays.
    window_inputs again = in;
    again.before = c.window;
    again.held = c.changed ? 0ms : in.held;
    again.was_derived = c.derived;
    RC_ASSERT(choose_window(o, again).window == c.window);
}

}  // namespace
}  // namespace callsign
