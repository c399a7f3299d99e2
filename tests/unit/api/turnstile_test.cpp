#include "api/sync/turnstile.hpp"

#include "support/virtual_clock.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

namespace callsign::api {
namespace {

namespace asio = boost::asio;
using std::chrono_literals::operator""ms;

asio::awaitable<void> finish(turnstile::visit& v, std::optional<bool>& out) {
    out = co_await v.may_say_up_to_date();
}

struct turnstile_test : ::testing::Test {
    // How a question for the next version ended; none: it waits.
    struct outcome {
        std::optional<bool> up_to_date;
        milliseconds after{0};
        int looks = 0;
    };

    // Asks as a handler does: looks, and looks again until it may say "up to date" or `child` is
    // there to be given.
    static asio::awaitable<void> ask(turnstile_test& t, std::uint64_t connection,
                                     std::shared_ptr<outcome> out) {
        turnstile::visit visit(t.turns.enter(t.client, connection));
        const int known = t.versions;
        for (;;) {
            ++out->looks;
            visit.look();
            if (t.versions != known) {
                out->up_to_date = false;
                break;
            }
            const bool say_so = co_await visit.may_say_up_to_date();
            if (say_so) {
                out->up_to_date = true;
                break;
            }
        }
        out->after = t.clock.elapsed();
    }
    std::shared_ptr<outcome> start(std::uint64_t connection) {
        auto out = std::make_shared<outcome>();
        asio::co_spawn(io, ask(*this, connection, out), [](std::exception_ptr e) {
            if (e) std::rethrow_exception(e);
        });
        settle();
        return out;
    }
    void send(std::uint64_t connection, bool accepted = true) {
        turnstile::visit visit(turns.enter(client, connection));
        visit.sending();
        if (accepted) ++versions;
        visit.sent(accepted);
        settle();
    }
    void settle() {
        io.restart();
        while (io.poll() > 0) {
        }
    }
    void advance(milliseconds by) {
        const milliseconds end = clock.elapsed() + by;
        while (clock.advance_to_next(end - clock.elapsed())) settle();
        settle();
    }

    testing::virtual_clock clock;
    asio::io_context io;
    turnstile turns{clock, 50ms};
    const uuid client = make_uuid_v7(time_point{}, 1, 1);
    int versions = 0;
};

TEST_F(turnstile_test, the_first_is_told_at_once) {
    EXPECT_EQ(start(1)->up_to_date, true);
}

TEST_F(turnstile_test, the_holder_itself_does_not_wait) {
    start(1);
    EXPECT_EQ(start(1)->up_to_date, true);
}

TEST_F(turnstile_test, another_waits_for_the_holders_version) {
    start(1);
    const auto second = start(2);
    EXPECT_FALSE(second->up_to_date);
    advance(20ms);
    EXPECT_FALSE(second->up_to_date);
    send(1);
    EXPECT_EQ(second->up_to_date, false);  // and gets it
    EXPECT_EQ(second->after, 20ms);
}

TEST_F(turnstile_test, or_until_the_holder_has_had_its_time) {
    start(1);
    const auto second = start(2);
    advance(49ms);
    EXPECT_FALSE(second->up_to_date);
    advance(1ms);
    EXPECT_EQ(second->up_to_date, true);
    EXPECT_EQ(second->after, 50ms);
}

TEST_F(turnstile_test, or_until_the_holder_has_gone) {
    start(1);
    const auto second = start(2);
    turns.closed(1);
    settle();
    EXPECT_EQ(second->up_to_date, true);
    EXPECT_EQ(second->after, 0ms);
}

TEST_F(turnstile_test, the_turn_goes_from_one_to_the_next) {
    start(1);
    const auto second = start(2);
    const auto third = start(3);
    turns.closed(1);
    settle();
    // One of the two has the turn now, the other one waits for it.
    EXPECT_EQ(second->up_to_date.has_value() + third->up_to_date.has_value(), 1);
    const auto& waiting = second->up_to_date ? third : second;
    send(second->up_to_date ? 2 : 3);
    EXPECT_EQ(waiting->up_to_date, false);
}

TEST_F(turnstile_test, who_has_sent_does_not_take_the_turn_again) {
    start(1);
    send(1);
    EXPECT_EQ(start(1)->up_to_date, true);  // the end of its sync
    EXPECT_EQ(start(2)->up_to_date, true);  // nobody holds the turn
    EXPECT_FALSE(start(1)->up_to_date);     // a further sync on the same connection waits again
}

TEST_F(turnstile_test, a_refused_version_ends_the_turn_and_not_the_sync) {
    start(1);
    send(1, false);
    EXPECT_EQ(start(1)->up_to_date, true);
    EXPECT_FALSE(start(2)->up_to_date);
}

TEST_F(turnstile_test, a_version_on_its_way_keeps_the_turn) {
    start(1);
    turnstile::visit visit(turns.enter(client, 1));
    visit.sending();
    const auto second = start(2);
    advance(120ms);
    EXPECT_FALSE(second->up_to_date);
    ++versions;
    visit.sent(true);
    settle();
    EXPECT_EQ(second->up_to_date, false);
}

TEST_F(turnstile_test, what_came_while_the_chain_was_looked_at_is_looked_for_again) {
    turnstile::visit visit(turns.enter(client, 2));
    visit.look();
    start(1);
    send(1);
    std::optional<bool> said;
    asio::co_spawn(io, finish(visit, said), asio::detached);
    settle();
    EXPECT_EQ(said, false);
}

TEST_F(turnstile_test, nobody_waits_for_ever) {
    start(1);
    turnstile::visit stuck(turns.enter(client, 1));
    stuck.sending();
    const auto second = start(2);
    advance(10'000ms);
    EXPECT_EQ(second->up_to_date, true);
    EXPECT_LE(second->after, 1000ms);
}

TEST_F(turnstile_test, without_a_connection_nobody_waits) {
    start(1);
    EXPECT_EQ(start(0)->up_to_date, true);
}

TEST_F(turnstile_test, clients_do_not_wait_for_each_other) {
    start(1);
    turnstile::visit other(turns.enter(make_uuid_v7(time_point{}, 2, 2), 2));
    other.look();
    std::optional<bool> said;
    asio::co_spawn(io, finish(other, said), asio::detached);
    settle();
    EXPECT_EQ(said, true);
}

TEST_F(turnstile_test, what_is_over_is_forgotten) {
    for (std::uint64_t connection = 1; connection <= 100; ++connection) {
        start(connection);
        turns.closed(connection);
    }
    settle();
    EXPECT_EQ(turns.size(), 0u);
}

TEST_F(turnstile_test, a_handler_that_is_dropped_leaves_its_place) {
    start(1);
    auto away = std::make_unique<asio::io_context>();
    auto out = std::make_shared<outcome>();
    asio::co_spawn(*away, ask(*this, 2, out), asio::detached);
    away->poll();
    EXPECT_FALSE(out->up_to_date);
    away.reset();
    send(1);  // wakes whoever waits
    turns.closed(1);
    EXPECT_EQ(turns.size(), 0u);
}

}  // namespace
}  // namespace callsign::api
