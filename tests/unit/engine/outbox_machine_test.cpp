// The next step of a remote account, event by event: without sockets, store or time.

#include "engine/outbox/outbox_machine.hpp"

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
    // An event without pending work or a due check.
    outbox_action say(heard what) { return say({.what = what}); }
    outbox_action say(outbox_event e) { return m_.resume(e, 127); }
    outbox_action work(heard what) { return say({.what = what, .has_work = true}); }
    outbox_action fail(failure why) { return say({.what = heard::failed, .failure = why}); }

    // Advances to where a version has been taken and is to be sent.
    void take(bool is_single = false) {
        ASSERT_EQ(say(heard::rested).step, step::pull);
        ASSERT_EQ(work(heard::up_to_date).step, step::take);
        ASSERT_EQ(say({.what = heard::taken, .is_single = is_single}).step, step::send);
    }

    outbox_machine m_{limits};
};

TEST_F(machine_test, pulls_available_versions_and_then_rests) {
    EXPECT_EQ(say(heard::rested).step, step::pull);
    EXPECT_EQ(say(heard::child).step, step::apply);
    EXPECT_EQ(say(heard::applied_part).step, step::apply);
    EXPECT_EQ(say(heard::applied).step, step::pull);
    const auto rest = say(heard::up_to_date);
    EXPECT_EQ(rest.step, step::rest);
    EXPECT_EQ(rest.pause, limits.poll_interval);
    EXPECT_FALSE(rest.is_patient);
}

TEST_F(machine_test, sends_pending_work_and_continues_without_a_pull) {
    take();
    EXPECT_EQ(say(heard::accepted).step, step::settle);
    EXPECT_EQ(work(heard::settled).step, step::take);
    EXPECT_EQ(say(heard::nothing).step, step::rest);
}

TEST_F(machine_test, pulls_first_for_work_that_needs_the_newest_state) {
    take();
    EXPECT_EQ(say(heard::accepted).step, step::settle);
    EXPECT_EQ(say({.what = heard::settled, .has_work = true, .pull_first = true}).step, step::pull);
}

// The most important invariant: no version is sent to a parent whose child is unknown.
TEST_F(machine_test, resolves_the_outcome_of_a_version_before_it_sends_another) {
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

TEST_F(machine_test, takes_a_new_version_once_another_is_the_child) {
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

TEST_F(machine_test, repeated_conflicts_extend_the_pause) {
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

TEST_F(machine_test, a_version_that_was_not_sent_is_taken_again_after_a_pause) {
    take();
    EXPECT_EQ(fail(failure::unreachable).step, step::disband);
    const auto rest = work(heard::disbanded);
    EXPECT_EQ(rest.step, step::rest);
    EXPECT_TRUE(rest.is_patient);
    EXPECT_GE(rest.pause, limits.retry_min * 9 / 10);
    EXPECT_FALSE(m_.is_uncertain());
}

// A version that could not be resent may have arrived the first time.
TEST_F(machine_test, an_uncertain_version_stays_so_while_the_server_is_unreachable) {
    take();
    fail(failure::lost);
    say(heard::rested);
    work(heard::up_to_date);
    EXPECT_EQ(fail(failure::unreachable).step, step::rest);
    EXPECT_TRUE(m_.is_uncertain());
}

TEST_F(machine_test, a_rejected_effect_is_found_by_bisection) {
    take();
    EXPECT_EQ(fail(failure::rejected).step, step::disband);
    EXPECT_EQ(m_.effects_max(), 4);
    EXPECT_LE(work(heard::disbanded).pause, 2 * limits.conflict_pause);
    take(true);
    EXPECT_EQ(fail(failure::rejected).step, step::give_up);
    EXPECT_EQ(work(heard::disbanded).step, step::rest);
    // The other effects continue, and with more per version.
    take();
    say(heard::accepted);
    say(heard::settled);
    EXPECT_EQ(m_.effects_max(), 8);
}

TEST_F(machine_test, a_rejection_after_an_unknown_outcome_is_not_final) {
    take(true);
    fail(failure::lost);
    say(heard::rested);
    work(heard::up_to_date);
    EXPECT_EQ(fail(failure::rejected).step, step::rest);
    EXPECT_TRUE(m_.is_uncertain());
}

TEST_F(machine_test, failures_extend_the_pause_up_to_a_limit) {
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
    // The server's Retry-After applies, up to the limit.
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

TEST_F(machine_test, a_report_that_halts_must_be_repeated) {
    EXPECT_EQ(say({.what = heard::rested, .verify_due = true}).step, step::verify);
    EXPECT_EQ(say(heard::diverged).step, step::rest);
    EXPECT_EQ(say({.what = heard::rested, .verify_due = true}).step, step::verify);
    const auto halt = say(heard::diverged);
    EXPECT_EQ(halt.step, step::halt);
    EXPECT_EQ(halt.why, remote_halt::history_lost);
    EXPECT_EQ(say(heard::rested).step, step::pull);  // an operator has resumed the account
}

TEST_F(machine_test, one_good_response_ends_the_suspicion) {
    say({.what = heard::rested, .verify_due = true});
    say(heard::diverged);
    say({.what = heard::rested, .verify_due = true});
    EXPECT_EQ(say(heard::confirmed).step, step::pull);
    say(heard::up_to_date);
    say({.what = heard::rested, .verify_due = true});
    EXPECT_EQ(say(heard::diverged).step, step::rest);
}

TEST_F(machine_test, restarts_from_a_snapshot) {
    say(heard::rested);
    EXPECT_EQ(say(heard::gone).step, step::restart);
    EXPECT_EQ(say(heard::restarted).step, step::pull);
    say(heard::gone);
    EXPECT_EQ(say(heard::incomplete).step, step::rest);
    say(heard::rested);
    say(heard::gone);
    const auto halt = say(heard::incomplete);
    EXPECT_EQ(halt.step, step::halt);
    EXPECT_EQ(halt.why, remote_halt::history_incomplete);
}

TEST_F(machine_test, does_not_verify_while_a_version_is_in_flight) {
    take();
    fail(failure::lost);
    EXPECT_EQ(say({.what = heard::rested, .verify_due = true}).step, step::pull);
}

TEST_F(machine_test, a_mirror_with_a_cursor_mismatch_is_pulled_again) {
    take();
    say(heard::accepted);
    EXPECT_EQ(say(heard::moved).step, step::pull);
    EXPECT_FALSE(m_.is_uncertain());
}

}  // namespace
}  // namespace callsign
