#include "api/sync/turnstile.hpp"

#include "support/spawn.hpp"
#include "support/virtual_clock.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>
#include <memory>
#include <vector>

namespace callsign::api {
namespace {

namespace asio = boost::asio;
using std::chrono_literals::operator""ms;

uuid some_version(std::uint64_t n) {
    return make_uuid_v7(time_point{}, n, n);
}

// The chain of a client ID, and requests as the handlers make them.
struct turnstile_test : ::testing::Test {
    // The outcome of a request for the child of a version; empty while it waits.
    struct outcome {
        std::optional<bool> up_to_date;
        uuid child{};
        milliseconds after{0};
    };

    static asio::awaitable<void> ask(turnstile_test& t, uuid parent, std::shared_ptr<outcome> out) {
        turnstile::visit visit(t.turns.enter(t.client));
        for (;;) {
            visit.look();
            const auto child = t.child_of(parent);
            if (child) {
                visit.found(parent, *child);
                out->child = *child;
                out->up_to_date = false;
                break;
            }
            const bool say_so = co_await visit.may_say_up_to_date(parent);
            if (say_so) {
                out->up_to_date = true;
                break;
            }
        }
        out->after = t.clock.elapsed();
    }
    std::shared_ptr<outcome> start(const uuid& parent) {
        auto out = std::make_shared<outcome>();
        testing::spawn(io.get_executor(), ask(*this, parent, out));
        settle();
        return out;
    }
    // Appends a version; returns its id.
    uuid send(bool more_may_follow = false) {
        turnstile::visit visit(turns.enter(client));
        visit.sending(tip());
        append();
        visit.accepted(tip(), more_may_follow);
        settle();
        return tip();
    }
    // A version that is rejected with 409, or not added for another reason.
    void send_in_vain() {
        turnstile::visit visit(turns.enter(client));
        visit.sending(chain.front());
        settle();
    }

    void append() { chain.push_back(some_version(chain.size())); }
    const uuid& tip() const { return chain.back(); }
    std::optional<uuid> child_of(const uuid& parent) const {
        const auto at = std::find(chain.begin(), chain.end(), parent);
        if (at == chain.end() || at + 1 == chain.end()) return std::nullopt;
        return *(at + 1);
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
    const uuid client = some_version(1'000);
    std::vector<uuid> chain{uuid{}};
};

TEST_F(turnstile_test, the_first_gets_up_to_date_at_once) {
    EXPECT_EQ(start(tip())->up_to_date, true);
}

TEST_F(turnstile_test, another_gets_the_version_that_follows) {
    start(tip());
    const auto second = start(tip());
    EXPECT_FALSE(second->up_to_date);
    advance(20ms);
    EXPECT_FALSE(second->up_to_date);
    const uuid sent = send();
    start(sent);  // its sender has ended its sync
    EXPECT_EQ(second->up_to_date, false);
    EXPECT_EQ(second->child, sent);
    EXPECT_EQ(second->after, 20ms);
}

TEST_F(turnstile_test, or_gets_up_to_date_when_the_turn_has_expired) {
    start(tip());
    const auto second = start(tip());
    advance(49ms);
    EXPECT_FALSE(second->up_to_date);
    advance(1ms);
    EXPECT_EQ(second->up_to_date, true);
    EXPECT_EQ(second->after, 50ms);
}

TEST_F(turnstile_test, the_turn_passes_from_one_to_the_next) {
    start(tip());
    const auto second = start(tip());
    const auto third = start(tip());
    advance(50ms);
    EXPECT_EQ(second->up_to_date.has_value() + third->up_to_date.has_value(), 1);
    const auto& waiting = second->up_to_date ? third : second;
    const uuid sent = send();
    start(sent);
    EXPECT_EQ(waiting->child, sent);
}

TEST_F(turnstile_test, the_end_of_a_sync_takes_no_turn) {
    start(tip());
    const uuid sent = send();
    EXPECT_EQ(start(sent)->up_to_date, true);
    EXPECT_EQ(start(sent)->up_to_date, true);  // no replica had the turn
    EXPECT_FALSE(start(sent)->up_to_date);
}

TEST_F(turnstile_test, the_same_replica_takes_one_in_its_next_sync) {
    start(tip());
    const uuid sent = send();
    start(sent);
    advance(1000ms);
    EXPECT_EQ(start(sent)->up_to_date, true);
    EXPECT_FALSE(start(sent)->up_to_date);
}

TEST_F(turnstile_test, a_replica_that_reads_its_own_version_takes_one) {
    const uuid before = tip();
    start(before);
    const uuid sent = send();  // its response is lost
    EXPECT_EQ(start(before)->child, sent);
    EXPECT_EQ(start(sent)->up_to_date, true);
    const auto second = start(sent);
    EXPECT_FALSE(second->up_to_date);
    const uuid next = send();
    start(next);
    EXPECT_EQ(second->child, next);
}

TEST_F(turnstile_test, a_replica_that_gets_a_version_before_its_senders_sync_ends_takes_one) {
    const uuid before = tip();
    start(before);
    const uuid sent = send();
    EXPECT_EQ(start(before)->child, sent);
    // One of the two is the sender; the other may have versions to push.
    EXPECT_EQ(start(sent)->up_to_date, true);
    EXPECT_FALSE(start(sent)->up_to_date);
}

TEST_F(turnstile_test, also_if_it_was_read_before_its_outcome_was_reported) {
    const uuid before = tip();
    start(before);
    turnstile::visit visit(turns.enter(client));
    visit.sending(before);
    append();
    EXPECT_EQ(start(before)->child, tip());
    visit.accepted(tip(), false);
    EXPECT_EQ(start(tip())->up_to_date, true);
    EXPECT_FALSE(start(tip())->up_to_date);
}

TEST_F(turnstile_test, a_sender_that_does_not_return_delays_one_turn_at_most) {
    start(tip());
    const auto second = start(tip());
    advance(10ms);
    const uuid sent = send();
    advance(49ms);
    advance(1ms);
    EXPECT_EQ(second->child, sent);
    EXPECT_LE(second->after, 60ms);
}

TEST_F(turnstile_test, after_a_full_batch_its_sender_has_the_turn_again) {
    start(tip());
    const uuid sent = send(true);
    EXPECT_EQ(start(sent)->up_to_date, true);
    const auto second = start(sent);
    EXPECT_FALSE(second->up_to_date);
    const uuid last = send();
    EXPECT_EQ(start(last)->up_to_date, true);
    EXPECT_EQ(second->child, last);
}

TEST_F(turnstile_test, a_rejected_version_ends_no_turn) {
    start(tip());
    const auto second = start(tip());
    send_in_vain();
    EXPECT_FALSE(second->up_to_date);
    advance(49ms);
    EXPECT_FALSE(second->up_to_date);
    advance(1ms);
    EXPECT_EQ(second->up_to_date, true);
}

// Otherwise a request in progress would be repeated for each rejected version.
TEST_F(turnstile_test, nor_does_it_count_as_an_appended_one) {
    int looks = 0;
    const auto look_once = [](turnstile_test& t, int& count) -> asio::awaitable<bool> {
        turnstile::visit visit(t.turns.enter(t.client));
        visit.look();
        ++count;
        t.send_in_vain();
        const bool say_so = co_await visit.may_say_up_to_date(t.tip());
        co_return say_so;
    };
    std::optional<bool> said;
    asio::co_spawn(io, look_once(*this, looks), [&](std::exception_ptr, bool is) { said = is; });
    settle();
    EXPECT_EQ(said, true);
    EXPECT_EQ(looks, 1);
}

TEST_F(turnstile_test, a_version_in_flight_keeps_the_turn) {
    start(tip());
    std::unique_ptr<turnstile::visit> visit(new turnstile::visit(turns.enter(client)));
    visit->sending(tip());
    const auto second = start(tip());
    advance(120ms);
    EXPECT_FALSE(second->up_to_date);
    append();
    visit->accepted(tip(), false);
    visit.reset();
    start(tip());
    EXPECT_EQ(second->child, tip());
}

TEST_F(turnstile_test, and_releases_it_when_it_is_rejected) {
    start(tip());
    std::unique_ptr<turnstile::visit> visit(new turnstile::visit(turns.enter(client)));
    visit->sending(tip());
    const auto second = start(tip());
    advance(120ms);
    visit.reset();
    settle();
    EXPECT_EQ(second->up_to_date, true);
    EXPECT_EQ(second->after, 120ms);
}

TEST_F(turnstile_test, a_version_added_during_the_look_up_causes_another_one) {
    turnstile::visit visit(turns.enter(client));
    const uuid before = tip();
    visit.look();
    send();
    std::optional<bool> said;
    const auto finish = [](turnstile::visit& v, uuid parent) -> asio::awaitable<bool> {
        co_return co_await v.may_say_up_to_date(parent);
    };
    asio::co_spawn(io, finish(visit, before), [&](std::exception_ptr, bool is) { said = is; });
    settle();
    EXPECT_EQ(said, false);
}

TEST_F(turnstile_test, every_wait_is_limited) {
    start(tip());
    turnstile::visit stuck(turns.enter(client));
    stuck.sending(tip());
    const auto second = start(tip());
    advance(10'000ms);
    EXPECT_EQ(second->up_to_date, true);
    EXPECT_LE(second->after, turns.timeout());
}

TEST_F(turnstile_test, and_does_not_depend_on_the_wall_clock) {
    start(tip());
    clock.step_wall(std::chrono::hours{24});
    const auto second = start(tip());
    EXPECT_FALSE(second->up_to_date);
    clock.step_wall(-std::chrono::hours{72});
    advance(50ms);
    EXPECT_EQ(second->up_to_date, true);
}

TEST_F(turnstile_test, clients_do_not_wait_for_each_other) {
    start(tip());
    turnstile::visit other(turns.enter(some_version(2'000)));
    other.look();
    std::optional<bool> said;
    const auto finish = [](turnstile::visit& v, uuid parent) -> asio::awaitable<bool> {
        co_return co_await v.may_say_up_to_date(parent);
    };
    asio::co_spawn(io, finish(other, tip()), [&](std::exception_ptr, bool is) { said = is; });
    settle();
    EXPECT_EQ(said, true);
}

TEST_F(turnstile_test, expired_turns_are_removed) {
    for (std::uint64_t n = 0; n < 1000; ++n) {
        turnstile::visit visit(turns.enter(some_version(2'000 + n)));
        visit.sending(tip());
        visit.accepted(some_version(n), false);
    }
    EXPECT_EQ(turns.size(), 1000u);
    advance(50ms);
    turns.enter(client);
    EXPECT_EQ(turns.size(), 0u);
}

TEST_F(turnstile_test, a_handler_that_is_dropped_leaves_its_place) {
    start(tip());
    auto away = std::make_unique<asio::io_context>();
    auto out = std::make_shared<outcome>();
    asio::co_spawn(*away, ask(*this, tip(), out), asio::detached);
    away->poll();
    EXPECT_FALSE(out->up_to_date);
    away.reset();
    start(send());  // wakes all waiting requests
    advance(1000ms);
    turns.enter(client);
    EXPECT_EQ(turns.size(), 0u);
}

}  // namespace
}  // namespace callsign::api
