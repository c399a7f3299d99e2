// A change ends a wait for it whenever it comes: before the wait, during it, or while its waiter
// waits for another change.

#include "support/virtual_clock.hpp"

#include <callsign/engine/wakeup.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>
#include <memory>
#include <optional>

namespace callsign::testing {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

class wakeup_order : public ::testing::Test {
  protected:
    void settle() {
        io.restart();
        while (io.poll() > 0) {
        }
    }
    void advance(milliseconds by) {
        const milliseconds end = clock.elapsed() + by;
        while (clock.advance_to_next(end - clock.elapsed())) settle();
    }
    asio::awaitable<void> wait(wakeup::moment seen, milliseconds span) {
        outcome = co_await changed.wait(seen, span);
    }
    void start(wakeup::moment seen, milliseconds span) {
        outcome.reset();
        asio::co_spawn(io, wait(seen, span), asio::detached);
        settle();
    }

    asio::io_context io;
    virtual_clock clock;
    wakeup changed{clock, io.get_executor()};
    std::optional<bool> outcome;
};

TEST_F(wakeup_order, a_change_before_the_wait_ends_it_at_once) {
    const auto seen = changed.now();
    changed.notify();
    start(seen, 1h);
    EXPECT_EQ(outcome, true);
}

// The frame's timer belongs to the executor's context, and is destroyed with it.
TEST(wakeup, outlives_a_context_that_ends_during_a_wait) {
    virtual_clock clock;
    auto io = std::make_unique<asio::io_context>();
    wakeup changed(clock, io->get_executor());
    bool has_ended = false;
    asio::co_spawn(
        *io,
        [&]() -> asio::awaitable<void> {
            co_await changed.wait(changed.now(), 1h);
            has_ended = true;
        },
        asio::detached);
    while (io->poll() > 0) {
    }
    io.reset();
    changed.notify();  // without waiters
    EXPECT_FALSE(has_ended);
}

TEST_F(wakeup_order, a_change_in_the_wait_ends_it) {
    start(changed.now(), 1h);
    EXPECT_EQ(outcome, std::nullopt);
    changed.notify();
    settle();
    EXPECT_EQ(outcome, true);
}

TEST_F(wakeup_order, another_wait_in_between_does_not_take_the_change) {
    const auto seen = changed.now();
    changed.notify();
    start(changed.now(), 5s);
    advance(5s);
    EXPECT_EQ(outcome, false);
    start(seen, 1h);
    EXPECT_EQ(outcome, true);
}

TEST_F(wakeup_order, a_change_already_seen_does_not_end_a_wait) {
    changed.notify();
    start(changed.now(), 5s);
    EXPECT_EQ(outcome, std::nullopt);
    advance(4s);
    EXPECT_EQ(outcome, std::nullopt);
    advance(1s);
    EXPECT_EQ(outcome, false);
}

TEST_F(wakeup_order, a_change_ends_all_waits_for_it) {
    int ended = 0;
    for (int n = 0; n < 3; ++n) {
        asio::co_spawn(io, changed.wait(changed.now(), 1h),
                       [&](const std::exception_ptr&, bool has_changed) { ended += has_changed; });
    }
    settle();
    changed.notify();
    settle();
    EXPECT_EQ(ended, 3);
}

TEST_F(wakeup_order, a_condition_is_awaited_over_several_changes) {
    int value = 0;
    std::optional<bool> is_two;
    const auto start_until = [&](milliseconds span) {
        is_two.reset();
        asio::co_spawn(io, changed.until([&] { return value == 2; }, span),
                       [&](const std::exception_ptr&, bool is) { is_two = is; });
        settle();
    };
    start_until(5s);
    for (; value < 2; ++value) {
        EXPECT_EQ(is_two, std::nullopt);
        changed.notify();
        settle();
    }
    changed.notify();
    settle();
    EXPECT_EQ(is_two, true);
    value = 0;
    start_until(5s);
    advance(4s);
    changed.notify();
    settle();
    EXPECT_EQ(is_two, std::nullopt);
    advance(1s);
    EXPECT_EQ(is_two, false);
}

}  // namespace
}  // namespace callsign::testing
