// The store's time with wall clocks that are set forward and back, compared with a model that knows
// when each stamp was really made.

#include "engine/store_time.hpp"

#include "support/virtual_clock.hpp"

#include <gtest/gtest.h>
#include <random>
#include <rapidcheck/gtest.h>
#include <utility>
#include <vector>

namespace callsign {
namespace {

using namespace std::chrono_literals;
using testing::virtual_start;

constexpr milliseconds ten_years = 24h * 3650;

// Two clocks, and the store time that they give.
struct clocks {
    explicit clocks(time_point last_moment, time_point at = virtual_start,
                    milliseconds trust_after = 1h)
        : wall(at), time(last_moment, trust_after) {
        read();
    }

    time_point read() {
        time.read(wall, elapsed);
        return time.now();
    }
    time_point after(milliseconds span) {
        wall += span;
        elapsed += span;
        return read();
    }
    void set_wall(milliseconds by) { wall += by; }
    bool is_older(time_point stamp, milliseconds span) const {
        return stamp < time.stamped_before(span);
    }

    time_point wall;
    milliseconds elapsed{12345};
    store_time time;
};

TEST(store_time, follows_a_running_wall_clock) {
    clocks c(virtual_start - 1min);
    EXPECT_EQ(c.read(), virtual_start);
    EXPECT_EQ(c.after(5s), virtual_start + 5s);
    EXPECT_EQ(c.time.lead(), 0ms);
    EXPECT_EQ(c.time.jumped(), 0ms);
}

TEST(store_time, starts_at_the_last_moment_when_the_wall_clock_is_behind_it) {
    clocks c(virtual_start + ten_years);
    EXPECT_EQ(c.read(), virtual_start + ten_years);
    EXPECT_EQ(c.time.wall(), virtual_start);
    EXPECT_EQ(c.time.lead(), ten_years);
}

TEST(store_time, does_not_stand_still_while_the_wall_clock_is_behind) {
    clocks c(virtual_start + ten_years);
    c.after(1ms);
    const time_point before = c.read();
    const time_point later = c.after(10min);
    EXPECT_EQ(later - before, milliseconds{10min} * 9 / 10);
}

TEST(store_time, lets_a_wall_clock_that_was_set_back_catch_up) {
    clocks c(virtual_start - 1h);
    const time_point before = c.after(1s);
    c.set_wall(-2s);
    time_point last = before;
    for (int n = 0; n < 300; ++n) {
        const time_point now = c.after(100ms);
        EXPECT_GE(now, last);
        last = now;
    }
    EXPECT_LE(c.time.lead(), store_time::tolerance);
    const time_point caught_up = c.read();
    EXPECT_EQ(c.after(1h) - caught_up, milliseconds{1h});
}

TEST(store_time, a_jump_ahead_is_reported_and_makes_nothing_old) {
    clocks c(virtual_start - 1h);
    const time_point stamp = c.after(1s);
    c.after(1min);
    c.set_wall(ten_years);
    EXPECT_EQ(c.read(), c.wall);
    EXPECT_EQ(c.time.jumped(), ten_years);
    EXPECT_FALSE(c.is_older(stamp, 61s));
    EXPECT_TRUE(c.is_older(stamp, 59s));
    c.after(1s);
    EXPECT_EQ(c.time.jumped(), 0ms);
}

TEST(store_time, a_stamp_from_the_wrong_year_ages_in_the_right_one) {
    clocks c(virtual_start - 1h);
    c.set_wall(ten_years);
    const time_point stamp = c.after(1s);
    c.after(1s);
    c.set_wall(-ten_years);
    c.after(10min);
    EXPECT_TRUE(c.is_older(stamp, 10min));
    EXPECT_FALSE(c.is_older(stamp, 11min));
}

TEST(store_time, stamps_of_earlier_runs_are_at_first_only_known_to_be_earlier) {
    const time_point stamp = virtual_start - 24h * 30;
    clocks c(virtual_start - 24h);
    EXPECT_FALSE(c.is_older(stamp, 1ms));
    c.after(10min);
    EXPECT_TRUE(c.is_older(stamp, 9min));
    EXPECT_FALSE(c.is_older(stamp, 11min));
}

TEST(store_time, stamps_of_earlier_runs_follow_the_wall_clock_after_a_while) {
    clocks c(virtual_start - 24h);
    c.after(1h - 1ms);
    EXPECT_FALSE(c.is_older(virtual_start - 24h * 30, 24h * 7));
    c.after(1ms);
    EXPECT_TRUE(c.is_older(virtual_start - 24h * 30, 24h * 7));
    EXPECT_TRUE(c.is_older(virtual_start - 24h * 7, 24h * 7));
    EXPECT_FALSE(c.is_older(virtual_start - 24h * 6, 24h * 7));
}

TEST(store_time, a_run_in_the_wrong_year_does_not_make_older_runs_old) {
    // The last stamp is ten years ahead; the clock is right again.
    clocks c(virtual_start + ten_years);
    c.after(2h);
    EXPECT_FALSE(c.is_older(virtual_start - 24h, 24h * 7));
    EXPECT_TRUE(c.is_older(virtual_start - 24h * 8, 24h * 7));
}

// For any change of the wall clock: moments never go back, and a stamp that counts as older than a
// span is; it counts as older at most a tenth of the span late.
RC_GTEST_PROP(store_time, ages_are_those_of_the_steady_clock, (std::uint64_t seed)) {
    std::mt19937_64 chance(seed);
    const auto below = [&](std::uint64_t n) { return milliseconds{chance() % n}; };
    clocks c(virtual_start - below(10'000) + below(10'000));
    const milliseconds begun = c.elapsed;
    std::vector<std::pair<time_point, milliseconds>> stamps;  // and when they were made
    time_point last = c.read();
    for (int n = 0; n < 200; ++n) {
        if (chance() % 8 == 0) c.set_wall(below(chance() % 4 ? 4'000 : 400'000'000'000) * 2);
        if (chance() % 8 == 0) c.set_wall(-below(chance() % 4 ? 4'000 : 400'000'000'000) * 2);
        const time_point now = c.after(below(5'000));
        RC_ASSERT(now >= last);
        last = now;
        stamps.emplace_back(now, c.elapsed);
        const milliseconds span =
            below(static_cast<std::uint64_t>((c.elapsed - begun).count()) + 1);
        for (const auto& [stamp, made] : stamps) {
            const milliseconds age = c.elapsed - made;
            if (c.is_older(stamp, span)) RC_ASSERT(age >= span);
            if (age * 10 > span * 10 + milliseconds{20}) RC_ASSERT(c.is_older(stamp, span));
        }
    }
}

TEST(store_time, how_old_a_stamp_is_does_not_hang_on_a_clock_that_is_set) {
    clocks c(virtual_start - 1min);
    const auto first = c.after(10s);
    c.set_wall(ten_years);
    const auto second = c.after(10s);
    c.set_wall(-ten_years);
    const auto third = c.after(10s);
    c.after(10s);
    EXPECT_NEAR(static_cast<double>(c.time.age_of(first).count()), 30'000, 2);
    EXPECT_NEAR(static_cast<double>(c.time.age_of(second).count()), 20'000, 2);
    EXPECT_NEAR(static_cast<double>(c.time.age_of(third).count()), 10'000, 2);
    EXPECT_EQ(c.time.age_of(c.time.now()), 0ms);
    EXPECT_EQ(c.time.age_of(c.time.now() + 1h), 0ms);
}

// A stamp from before the start is as old as the run, until the wall clock is trusted.
TEST(store_time, how_old_a_stamp_of_an_earlier_run_is) {
    clocks c(virtual_start - 1min);
    c.after(20min);
    EXPECT_EQ(c.time.age_of(virtual_start - 2h), 20min);
    c.after(40min);
    EXPECT_EQ(c.time.age_of(virtual_start - 2h), 3h);
}

// is_older and age_of agree: a stamp is older than less than its age, and not older than more.
RC_GTEST_PROP(store_time, a_stamp_is_as_old_as_the_reaper_takes_it_to_be, ()) {
    clocks c(virtual_start - 1min);
    std::vector<time_point> stamps{virtual_start - 3h};
    const auto steps =
        *rc::gen::container<std::vector<int>>(rc::gen::inRange(-1'000'000, 1'000'000));
    for (const int n : steps) {
        if (n % 3 == 0) c.set_wall(milliseconds{n});
        stamps.push_back(c.after(milliseconds{std::abs(n)}));
    }
    for (const time_point stamp : stamps) {
        const milliseconds age = c.time.age_of(stamp);
        RC_ASSERT(!c.is_older(stamp, age + 2ms));
        if (age > 2ms && stamp >= virtual_start) RC_ASSERT(c.is_older(stamp, age - 2ms));
    }
}

}  // namespace
}  // namespace callsign
