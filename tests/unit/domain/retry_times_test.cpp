// Goal: samples decay by elapsed time alone, in any steps, and no account has more than its share
// of the result. Method: examples, and random histories applied in two ways.

#include <callsign/domain/retry_times.hpp>

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck/gtest.h>

namespace callsign {
namespace {

using namespace std::chrono_literals;

constexpr milliseconds week = 24h * 7;

void expect_close(const retry_times& one, const retry_times& other) {
    const auto close = [](double a, double b) {
        return std::abs(a - b) <= 1e-9 * std::max({1e-9, std::abs(a), std::abs(b)});
    };
    RC_ASSERT(close(one.samples(), other.samples()));
    RC_ASSERT(close(one.late_slots(), other.late_slots()));
    RC_ASSERT(close(one.failed_slots(), other.failed_slots()));
    for (const milliseconds w : {milliseconds{15s}, milliseconds{1h}}) {
        RC_ASSERT(close(one.with(w).failed, other.with(w).failed));
        RC_ASSERT(close(one.with(w).pending, other.with(w).pending));
    }
    const auto a = one.fair(100), b = other.fair(100);
    for (std::size_t i = 0; i < retry_histogram::buckets; ++i) {
        RC_ASSERT(close(a.weight(i), b.weight(i)));
    }
}

TEST(retry_times, a_sample_counts_for_half_after_a_half_life) {
    retry_times t(week);
    t.saw(3, 40s, slot_state::committed);
    t.pass(week);
    EXPECT_DOUBLE_EQ(t.samples(), 0.5);
    t.saw(3, 40s, slot_state::committed);
    EXPECT_DOUBLE_EQ(t.samples(), 1.5);
    t.pass(2 * week);
    EXPECT_DOUBLE_EQ(t.samples(), 0.375);
}

RC_GTEST_PROP(retry_times, the_number_of_steps_makes_no_difference, ()) {
    retry_times in_one(1h), in_many(1h);
    const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 200'000'000));
    for (const int n : steps) {
        const auto part = static_cast<std::size_t>(n) % retry_times::parts;
        const auto found = static_cast<slot_state>(1 + n % 3);
        for (retry_times* t : {&in_one, &in_many}) {
            t->saw(part, milliseconds{n}, found);
            t->failed(n % 4);
        }
        in_one.pass(milliseconds{n});
        in_many.pass(milliseconds{n / 3});
        in_many.pass(milliseconds{0});
        in_many.pass(milliseconds{n / 7});
        in_many.pass(milliseconds{n - n / 3 - n / 7});
    }
    expect_close(in_one, in_many);
}

TEST(retry_times, centuries_and_crowds_leave_numbers) {
    retry_times t(1h);
    t.saw(0, milliseconds::max(), slot_state::failed);
    t.pass(milliseconds::max());
    t.pass(milliseconds::max());
    EXPECT_EQ(t.samples(), 0);
    for (int i = 0; i < 1000; ++i) {
        t.failed(std::numeric_limits<std::int64_t>::max());
        t.saw(1, 1s, slot_state::pending);
        t.pass(31h);
    }
    EXPECT_TRUE(is_sound(t.record()));
    EXPECT_TRUE(std::isfinite(t.with(24h).pending));
    EXPECT_TRUE(std::isfinite(t.fair(100).samples()));
}

// The largest sound record stays sound, whatever is added to it.
TEST(retry_times, a_record_at_its_limits_stays_sound) {
    constexpr double most = retry_histogram::weight_max;
    retry_record r;
    r.observed_ms = r.failed = r.late = most;
    for (auto& part : r.retries) ASSERT_TRUE(part.set(0, most));
    ASSERT_TRUE(is_sound(r));
    retry_times t(r);
    for (int i = 0; i < 100; ++i) {
        t.pass(t.record().half_life / 3);
        t.saw(0, 1s, slot_state::failed);
        t.failed(std::numeric_limits<std::int64_t>::max());
        t.add(t);
        ASSERT_TRUE(is_sound(t.record()));
        EXPECT_TRUE(std::isfinite(t.samples()));
        EXPECT_TRUE(std::isfinite(t.with(1h).pending));
    }
}

RC_GTEST_PROP(retry_times, a_restored_record_continues_unchanged, ()) {
    retry_times through(1h);
    auto restarted = through;
    const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 50'000'000));
    for (const int n : steps) {
        for (retry_times* t : {&through, &restarted}) {
            t->saw(0, milliseconds{n}, slot_state::failed);
            t->pass(milliseconds{n});
        }
        RC_ASSERT(is_sound(restarted.record()));
        restarted = retry_times(restarted.record());
    }
    RC_ASSERT(through.record() == restarted.record());
}

RC_GTEST_PROP(retry_times, two_added_together_equal_one_of_both, ()) {
    retry_times one(1h), other(1h), both(1h);
    const auto steps = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 50'000'000));
    for (const int n : steps) {
        for (retry_times* t : {n % 2 == 0 ? &one : &other, &both}) {
            t->saw(2, milliseconds{n}, slot_state::pending);
            t->failed(1);
        }
        for (retry_times* t : {&one, &both}) t->pass(milliseconds{n});
        // The same time passes for both; only one counts it as observed.
        other.pass(milliseconds{n});
        auto record = other.record();
        record.observed_ms = 0;
        other = retry_times(record);
        if (n % 5 != 0) continue;
        one.add(other);
        other = retry_times(1h);  // from another landmark
    }
    one.add(other);
    expect_close(one, both);
}

TEST(retry_times, another_half_life_applies_to_the_future_only) {
    retry_times t(1h);
    t.saw(0, 1s, slot_state::failed);
    t.failed(8);
    t.pass(90min);
    const double before = t.samples();
    t.choose(1min, true, true);
    t.pass(1s);
    const double then = t.samples();
    t.set_half_life(week);
    EXPECT_NEAR(t.samples(), then, 1e-12);
    EXPECT_LT(then, before);
    t.pass(week);
    EXPECT_NEAR(t.samples(), then / 2, 1e-12);
    EXPECT_EQ(t.record().window, 1min);
    EXPECT_EQ(t.record().held, week + 1s);
    EXPECT_TRUE(t.record().derived);
}

// One account that retries constantly, after milliseconds or after days, beside nine usual ones.
TEST(retry_times, one_account_does_not_determine_the_result) {
    constexpr double part_max = 100;
    retry_times quiet(week);
    for (std::size_t part = 1; part <= 9; ++part) {
        for (int i = 0; i < 200; ++i) quiet.saw(part, 30s + i * 50ms, slot_state::committed);
    }
    const auto usual = *quiet.fair(part_max).quantile(0.99);
    for (const milliseconds loud : {milliseconds{10ms}, milliseconds{24h}}) {
        retry_times t = quiet;
        for (int i = 0; i < 100'000; ++i) t.saw(0, loud, slot_state::committed);
        const auto all = t.fair(part_max);
        EXPECT_DOUBLE_EQ(all.samples(), 10 * part_max);
        EXPECT_DOUBLE_EQ(all.longer_than(1h) + (loud < 1s ? part_max : 0), part_max);
        // Fast retries cannot shorten the window at all.
        EXPECT_GE(*all.quantile(0.99), usual);
    }
}

TEST(retry_times, accounts_are_dealt_into_parts) {
    EXPECT_EQ(retry_times::part_of(account_id{1}), retry_times::part_of(account_id{17}));
    EXPECT_NE(retry_times::part_of(account_id{1}), retry_times::part_of(account_id{2}));
    EXPECT_LT(retry_times::part_of(account_id{-1}), retry_times::parts);
}

TEST(retry_times, what_another_window_would_have_done) {
    retry_times t(24h * 36'500);
    // In 1000 seconds: four slots whose clients retried, two of them late, and one without a retry.
    // The replay was never at risk.
    t.saw(0, 20s, slot_state::pending);
    t.saw(0, 80s, slot_state::pending);
    t.saw(0, 320s, slot_state::failed);
    t.saw(0, 640s, slot_state::failed);
    t.saw(0, 640s, slot_state::committed);
    t.failed(3);
    t.pass(1000s);
    EXPECT_NEAR(t.late_slots(), 2, 1e-6);
    EXPECT_NEAR(t.with(15s).failed, 4, 1e-6);
    EXPECT_NEAR(t.with(100s).failed, 2, 1e-6);
    EXPECT_NEAR(t.with(1h).failed, 0, 1e-6);
    EXPECT_NEAR(t.with(10s).pending, 5 * 10 / 1000.0, 1e-6);
    // Each counts for as long as it was pending, to within the histogram's error.
    const double exact = (20 + 80 + 3 * 100) / 1000.0;
    EXPECT_GE(t.with(100s).pending, exact - 1e-6);
    EXPECT_LE(t.with(100s).pending, exact * (1 + retry_histogram::error_max));
}

TEST(retry_times, records_that_it_cannot_have_made) {
    const auto faulty = [](auto damage) {
        retry_times t(week);
        t.saw(0, 1s, slot_state::failed);
        t.pass(1h);
        retry_record r = t.record();
        EXPECT_TRUE(is_sound(r));
        damage(r);
        return !is_sound(r);
    };
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(faulty([](auto& r) { r.half_life = 0ms; }));
    EXPECT_TRUE(faulty([](auto& r) { r.half_life = milliseconds::max(); }));
    EXPECT_TRUE(faulty([](auto& r) { r.age = -1ms; }));
    EXPECT_TRUE(faulty([](auto& r) { r.age = 40 * r.half_life; }));
    EXPECT_TRUE(faulty([](auto& r) { r.window = -1ms; }));
    EXPECT_TRUE(faulty([](auto& r) { r.held = milliseconds::max(); }));
    EXPECT_TRUE(faulty([&](auto& r) { r.observed_ms = nan; }));
    EXPECT_TRUE(faulty([&](auto& r) { r.failed = -1; }));
    EXPECT_TRUE(faulty([&](auto& r) { r.late = std::numeric_limits<double>::infinity(); }));
}

}  // namespace
}  // namespace callsign
