// What an account that lives elsewhere does next, event by event: no sockets, no store, no time.

#include "engine/outbox_machine.hpp"

#include <gtest/gtest.h>

namespace callsign {
namespace {

using heard = outbox_event::kind;
using step = outbox_step;
using failure = sink_failure::kind;

constexpr outbox_limits limits{.poll_interval = std::chrono::seconds{5},
                               .retry_min = std::chrono::seconds{1},
                               .retry_max = std::chrono::seconds{8},
                               .conflict_pause = milliseconds{20},
                               .resends_max = 2,
                               .doubts_max = 2,
                               .effects_max = 8};

class machine_test : public ::testing::Test {
  protected:
    // As it comes: nothing waits, nothing is due.
    outbox_action say(heard what) { return say({.what = what}); }
    outbox_action say(outbox_event e) { return m_.resume(e, 127); }
    outbox_action work(heard what) { return say({.what = what, .has_work = true}); }
    outbox_action fail(failure why) { return say({.what = heard::failed, .failure = why}); }

    // To where a version has been taken and is to be sent.
    void take(bool is_single = false) {
        ASSERT_EQ(say(heard::rested).step, step::pull);
        ASSERT_EQ(work(heard::up_to_date).step, step::take);
        ASSERT_EQ(say({.what = heard::taken, .is_single = is_single}).step, step::send);
    }

    outbox_machine m_{limits};
};

TEST_F(machine_test, pulls_what_there_is_and_then_rests) {
    EXPECT_EQ(say(heard::rested).step, step::pull);
    EXPECT_EQ(say(heard::child).step, step::apply);
    EXPECT_EQ(say(heard::applied_part).step, step::apply);
    EXPECT_EQ(say(heard::applied).step, step::pull);
    const auto rest = say(heard::up_to_date);
    EXPECT_EQ(rest.step, step::rest);
    EXPECT_EQ(rest.pause, limits.poll_interval);
    EXPECT_FALSE(rest.is_patient);
}

TEST_F(machine_test, sends_what_waits_and_goes_on_without_asking) {
    take();
    EXPECT_EQ(say(heard::accepted).step, step::settle);
    EXPECT_EQ(work(heard::settled).step, step::take);
    EXPECT_EQ(say(heard::nothing).step, step::rest);
}

TEST_F(machine_test, pulls_first_for_what_is_to_be_looked_at_on_the_newest) {
    take();
    EXPECT_EQ(say(heard::accepted).step, step::settle);
    EXPECT_EQ(say({.what = heard::settled, .has_work = true, .pull_first = true}).step, step::pull);
}

// The one thing that must never happen: another version behind a parent whose child is not known.
TEST_F(machine_test, asks_what_became_of_a_version_before_anything_else_is_sent) {
    for (const failure lost : {failure::lost, failure::unavailable, failure::not_a_server}) {
        m_ = outbox_machine(limits);
        take();
        const auto rest = fail(lost);
        EXPECT_EQ(rest.step, step::rest);
        EXPECT_TRUE(rest.is_patient);
        EXPECT_TRUE(m_.is_uncertain());
        EXPECT_EQ(work(heard::rested).step, step::pull);
        EXPECT_EQ(say(heard::own_child).step, step::settle);
        say(heard::settled);
        EXPECT_FALSE(m_.is_uncertain());
    }
}

TEST_F(machine_test, sends_the_same_again_while_there_is_no_child) {
    take();
    fail(failure::lost);
    for (int n = 0; n < limits.resends_max; ++n) {
        EXPECT_EQ(say(heard::rested).step, step::pull);
        EXPECT_EQ(work(heard::up_to_date).step, step::resend);
        fail(failure::lost);
    }
    EXPECT_EQ(say(heard::rested).step, step::pull);
    EXPECT_EQ(work(heard::up_to_date).step, step::disband);
    EXPECT_EQ(m_.effects_max(), limits.effects_max / 2);
}

TEST_F(machine_test, takes_anew_once_another_is_the_child) {
    take();
    fail(failure::lost);
    EXPECT_EQ(say(heard::rested).step, step::pull);
    EXPECT_EQ(say(heard::child).step, step::apply);
    EXPECT_FALSE(m_.is_uncertain());
    EXPECT_EQ(say(heard::applied).step, step::pull);
    EXPECT_EQ(work(heard::up_to_date).step, step::take);
}

TEST_F(machine_test, a_conflict_may_be_with_a_copy_of_its_own) {
    take();
    const auto rest = say(heard::conflict);
    EXPECT_EQ(rest.step, step::rest);
    EXPECT_TRUE(rest.is_patient);
    EXPECT_LE(rest.pause, limits.conflict_pause);
    EXPECT_EQ(say(heard::rested).step, step::pull);
    EXPECT_EQ(say(heard::own_child).step, step::settle);
}

TEST_F(machine_test, conflicts_in_a_row_keep_it_away_longer) {
    milliseconds before{0};
    for (int n = 0; n < 4; ++n) {
        take();
        const auto rest = say(heard::conflict);
        EXPECT_GT(rest.pause, before);
        before = rest.pause;
        say(heard::rested);
        say(heard::child);
        say(heard::applied);
        EXPECT_EQ(say(heard::up_to_date).step, step::rest);
    }
}

TEST_F(machine_test, what_never_left_is_taken_anew_after_a_pause) {
    take();
    EXPECT_EQ(fail(failure::unreachable).step, step::disband);
    const auto rest = work(heard::disbanded);
    EXPECT_EQ(rest.step, step::rest);
    EXPECT_TRUE(rest.is_patient);
    EXPECT_GE(rest.pause, limits.retry_min * 9 / 10);
    EXPECT_FALSE(m_.is_uncertain());
}

// One that could not be sent again may have been there before.
TEST_F(machine_test, what_may_be_there_stays_so_though_the_server_is_gone) {
    take();
    fail(failure::lost);
    say(heard::rested);
    work(heard::up_to_date);
    EXPECT_EQ(fail(failure::unreachable).step, step::rest);
    EXPECT_TRUE(m_.is_uncertain());
}

TEST_F(machine_test, what_is_refused_is_looked_for_among_what_is_not) {
    take();
    EXPECT_EQ(fail(failure::refused).step, step::disband);
    EXPECT_EQ(m_.effects_max(), 4);
    EXPECT_LE(work(heard::disbanded).pause, 2 * limits.conflict_pause);
    take(true);
    EXPECT_EQ(fail(failure::refused).step, step::give_up);
    EXPECT_EQ(work(heard::disbanded).step, step::rest);
    // The others go on, and more at a time.
    take();
    say(heard::accepted);
    say(heard::settled);
    EXPECT_EQ(m_.effects_max(), 8);
}

TEST_F(machine_test, refused_after_it_may_have_been_taken_is_no_refusal) {
    take(true);
    fail(failure::lost);
    say(heard::rested);
    work(heard::up_to_date);
    EXPECT_EQ(fail(failure::refused).step, step::rest);
    EXPECT_TRUE(m_.is_uncertain());
}

TEST_F(machine_test, failures_keep_it_away_longer_up_to_a_bound) {
    milliseconds before{0};
    for (int n = 0; n < 3; ++n) {
        say(heard::rested);
        const auto rest = fail(failure::unreachable);
        EXPECT_GT(rest.pause, before);
        before = rest.pause;
    }
    for (int n = 0; n < 10; ++n) {
        say(heard::rested);
        EXPECT_LE(fail(failure::unreachable).pause, limits.retry_max * 11 / 10);
    }
    // As the server asks, within the bound.
    say(heard::rested);
    say(heard::up_to_date);
    say(heard::rested);
    const auto asked = say({.what = heard::failed,
                            .failure = failure::unavailable,
                            .retry_in = std::chrono::seconds{4}});
    EXPECT_GE(asked.pause, std::chrono::seconds{4} * 9 / 10);
    say(heard::rested);
    const auto too_long = say({.what = heard::failed,
                               .failure = failure::unavailable,
                               .retry_in = std::chrono::hours{9}});
    EXPECT_LE(too_long.pause, limits.retry_max * 11 / 10);
}

TEST_F(machine_test, what_stops_everything_is_not_believed_at_once) {
    EXPECT_EQ(say({.what = heard::rested, .verify_due = true}).step, step::verify);
    EXPECT_EQ(say(heard::diverged).step, step::rest);
    EXPECT_EQ(say({.what = heard::rested, .verify_due = true}).step, step::verify);
    const auto halt = say(heard::diverged);
    EXPECT_EQ(halt.step, step::halt);
    EXPECT_EQ(halt.why, remote_halt::gone_back);
    EXPECT_EQ(say(heard::rested).step, step::pull);  // a person has acted
}

TEST_F(machine_test, one_answer_as_it_should_be_ends_the_doubt) {
    say({.what = heard::rested, .verify_due = true});
    say(heard::diverged);
    say({.what = heard::rested, .verify_due = true});
    EXPECT_EQ(say(heard::confirmed).step, step::pull);
    say(heard::up_to_date);
    say({.what = heard::rested, .verify_due = true});
    EXPECT_EQ(say(heard::diverged).step, step::rest);
}

TEST_F(machine_test, begins_again_from_a_snapshot) {
    say(heard::rested);
    EXPECT_EQ(say(heard::gone).step, step::restart);
    EXPECT_EQ(say(heard::restarted).step, step::pull);
    say(heard::gone);
    EXPECT_EQ(say(heard::incomplete).step, step::rest);
    say(heard::rested);
    say(heard::gone);
    const auto halt = say(heard::incomplete);
    EXPECT_EQ(halt.step, step::halt);
    EXPECT_EQ(halt.why, remote_halt::incomplete);
}

TEST_F(machine_test, does_not_verify_while_a_version_is_on_its_way) {
    take();
    fail(failure::lost);
    EXPECT_EQ(say({.what = heard::rested, .verify_due = true}).step, step::pull);
}

TEST_F(machine_test, a_mirror_that_was_moved_is_pulled_for_anew) {
    take();
    say(heard::accepted);
    EXPECT_EQ(say(heard::moved).step, step::pull);
    EXPECT_FALSE(m_.is_uncertain());
}

}  // namespace
}  // namespace callsign
