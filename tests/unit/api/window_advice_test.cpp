// The advice about windows for operators: the sentences, with their numbers.

#include "api/admin/window_advice.hpp"

#include <gtest/gtest.h>

namespace callsign::api {
namespace {

using namespace std::chrono_literals;

// A server with these observations, and an automatic or a fixed window.
class window_advice : public ::testing::Test {
  protected:
    window_advice() { here().choice.window = 10min; }

    window_status& here() { return status_.windows.local; }

    void is_set_to(milliseconds window) {
        status_.options.window = window;
        here().choice.window = window;
        here().choice.reason = window_reason::fixed;
    }
    void wants(milliseconds p99, milliseconds window) {
        here().p99 = p99;
        here().choice.inputs = {1000, p99, 0ms, 0ms, true};
        here().choice.wanted = window;
        here().choice.derived = true;
    }
    void would_have(milliseconds window, double failed, double pending = 0) {
        here().others.push_back({window, {failed, pending}});
    }
    std::string advice(milliseconds oldest = 0ms) const { return advise(status_, oldest); }
    std::string reason(window_reason r) {
        here().choice.reason = r;
        return reason_text(here(), status_.options.automatic);
    }

    reaper_status status_;
};

TEST_F(window_advice, a_window_that_is_set_too_short) {
    is_set_to(15s);
    wants(41s, 62s);
    would_have(15s, 311.8);
    would_have(62s, 0);
    here().late = 312;
    EXPECT_EQ(advice(),
              "p99 of retries is 41s; the fixed window of 15s failed 312 slots that were still "
              "being retried; set reaper.window to 62s or auto.");
    // The slots failed under another window than the current one.
    here().late = 100;
    EXPECT_NE(advice().find("the fixed window of 15s would have failed 312 slots"),
              std::string::npos);
}

TEST_F(window_advice, a_window_that_is_set_too_short_and_too_few_retries) {
    is_set_to(15s);
    here().p99 = 41s;
    here().late = 1;
    would_have(15s, 1);
    EXPECT_EQ(advice(),
              "p99 of retries is 41s; the fixed window of 15s failed 1 slot that was still being "
              "retried; lengthen reaper.window, or set it to auto.");
}

// The window already exceeds the margin, and the few later retries would fail with auto as well.
TEST_F(window_advice, a_window_that_is_set_longer_than_the_chosen_one_and_fails_some) {
    is_set_to(10min);
    wants(41s, 62s);
    would_have(10min, 2);
    here().late = 2;
    EXPECT_EQ(advice(),
              "p99 of retries is 41s; the fixed window of 10m failed 2 slots that were still being "
              "retried; lengthen reaper.window.");
}

TEST_F(window_advice, slots_that_failed_in_a_former_window_do_not_count) {
    is_set_to(1h);
    here().late = 312;
    would_have(15s, 312);
    would_have(1h, 0);
    EXPECT_EQ(advice().find("Nothing to change"), 0u);
}

TEST_F(window_advice, a_chosen_window_that_is_too_short) {
    here().late = 3;
    would_have(10min, 3);
    here().choice.inputs.samples = 12;
    EXPECT_EQ(advice(),
              "the window of 10m failed 3 slots that were still being retried; lengthen "
              "reaper.window_min until there are enough retries (12 of 100 so far).");
    here().choice.reason = window_reason::at_ceiling;
    EXPECT_NE(advice().find("lengthen reaper.window_max."), std::string::npos);
    here().choice.reason = window_reason::derived;
    EXPECT_NE(advice().find("lengthen reaper.window_min or raise reaper.margin."),
              std::string::npos);
}

TEST_F(window_advice, a_window_that_is_set_too_long) {
    is_set_to(6h);
    wants(41s, 62s);
    would_have(62s, 0, 0.2);
    would_have(6h, 0, 11);
    EXPECT_EQ(advice(),
              "p99 of retries is 41s; a window of 62s would also fail none, and abandoned slots "
              "would be pending for less time; set reaper.window to 62s or auto.");
    // Not if the shorter one would fail slots, and not if no slots are pending.
    here().others[0].would_have.failed = 1;
    EXPECT_EQ(advice().find("Nothing to change"), 0u);
    here().others[0].would_have.failed = 0;
    here().others[1].would_have.pending = 0;
    EXPECT_EQ(advice().find("Nothing to change"), 0u);
}

TEST_F(window_advice, sweeps_that_do_not_keep_up) {
    EXPECT_NE(advice(20min).find("sweeps do not keep up"), std::string::npos);
    EXPECT_NE(advice(8min).find("may be shorter"), std::string::npos);
    EXPECT_EQ(advice(30s).find("Nothing to change"), 0u);
}

TEST_F(window_advice, remote_accounts_are_named) {
    auto& there = status_.windows.remote;
    there.choice.window = 1min;
    there.late = 2;
    there.others.push_back({1min, {2, 0}});
    EXPECT_EQ(advice().find("Remote accounts: the window of 1m failed 2 slots"), 0u);
}

TEST_F(window_advice, every_reason_has_its_numbers) {
    wants(41s, 62s);
    EXPECT_EQ(reason(window_reason::derived),
              "The 0.99 quantile of retries is 41s, which multiplied by 1.5 is 62s.");
    EXPECT_EQ(reason(window_reason::within_hysteresis),
              "The 0.99 quantile of retries is 41s, which multiplied by 1.5 is close to the "
              "current window (within 10 %).");
    EXPECT_EQ(reason(window_reason::shortening),
              "The 0.99 quantile of retries is 41s, which multiplied by 1.5 is less; the window is "
              "shortened once in 1h, at most by half, until it is 62s.");
    wants(12s, 1min);
    EXPECT_NE(reason(window_reason::at_floor).find("less than reaper.window_min (1m)."),
              std::string::npos);
    wants(24h, 6h);
    EXPECT_NE(reason(window_reason::at_ceiling).find("more than reaper.window_max (6h)."),
              std::string::npos);
    here().choice.inputs.samples = 12.3;
    EXPECT_EQ(reason(window_reason::few_samples), "12 of 100 required retries were seen.");
    EXPECT_EQ(reason(window_reason::fixed), "Set in the configuration.");
}

}  // namespace
}  // namespace callsign::api
