// Goal: replicas of one client ID that repeatedly sync at the same moment never send a stale
// version, whichever responses are lost and however connections are used: the turnstile sees no
// connections. Method: models of stock clients on a virtual clock, with a separate delay of each
// request and response; every delay is well below a turn. Without a turnstile the same replicas do
// get conflicts, which verifies the method.

#include "api/sync/turnstile.hpp"

#include "support/spawn.hpp"
#include "support/virtual_clock.hpp"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <gtest/gtest.h>
#include <optional>
#include <random>
#include <vector>

namespace callsign::api {
namespace {

namespace asio = boost::asio;
using std::chrono_literals::operator""ms;

constexpr int replicas = 6;
constexpr int rounds = 15;

struct turnstile_world {
    turnstile_world(std::uint64_t seed, milliseconds hold, int lost_of_100)
        : random(seed), turns(clock, hold), answers_lost_of_100(lost_of_100) {}

    int draw(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random); }
    bool is_lost(int of_100) { return draw(100) < of_100; }

    std::mt19937_64 random;
    testing::virtual_clock clock;
    asio::io_context io;
    turnstile turns;
    const int answers_lost_of_100;
    const uuid client = make_uuid_v7(time_point{}, 1, 1);
    std::vector<uuid> chain{uuid{}};
    int versions_late = 0;
    int syncs_done = 0;
};

asio::awaitable<void> pass(turnstile_world& w, int below) {
    const auto executor = co_await asio::this_coro::executor;
    const auto timer = w.clock.make_timer(executor);
    const milliseconds span{w.draw(below)};
    co_await timer->wait(span);
}

// ---- the server's handlers ----

asio::awaitable<std::optional<uuid>> child_of(turnstile_world& w, uuid parent) {
    turnstile::visit visit(w.turns.enter(w.client));
    for (;;) {
        visit.look();
        co_await pass(w, 3);
        const auto at = std::find(w.chain.begin(), w.chain.end(), parent) + 1;
        const auto child = at == w.chain.end() ? std::nullopt : std::optional(*at);
        co_await pass(w, 2);
        if (child) {
            visit.found(parent, *child);
            co_return child;
        }
        const bool say_so = co_await visit.may_say_up_to_date(parent);
        if (say_so) co_return std::nullopt;
    }
}

// nullopt: the version is stale.
asio::awaitable<std::optional<uuid>> add_to(turnstile_world& w, uuid parent, bool is_full) {
    turnstile::visit visit(w.turns.enter(w.client));
    visit.sending(parent);
    co_await pass(w, 4);
    if (parent != w.chain.back()) co_return std::nullopt;
    const uuid added = make_uuid_v7(time_point{}, w.chain.size(), 1);
    w.chain.push_back(added);
    co_await pass(w, 2);
    visit.accepted(added, is_full);
    co_return added;
}

// ---- a stock client ----

struct replica {
    uuid base{};  // updated at the end of a successful sync
    int batches = 0;
    std::vector<uuid> sent;  // since then; not sent again if found in the chain
};

// Returns false if a response was lost; the sync then has no effect.
asio::awaitable<bool> sync(turnstile_world& w, replica& r) {
    uuid at = r.base;
    int left = r.batches;
    for (;;) {
        for (;;) {
            co_await pass(w, 5);
            const auto child = co_await child_of(w, at);
            co_await pass(w, 5);
            if (w.is_lost(w.answers_lost_of_100 / 10)) co_return false;
            if (!child) break;
            at = *child;
            if (std::count(r.sent.begin(), r.sent.end(), at) > 0) --left;
        }
        if (left == 0) break;
        co_await pass(w, 5);
        const auto added = co_await add_to(w, at, left > 1);
        co_await pass(w, 5);
        if (added) r.sent.push_back(*added);
        if (!added) ++w.versions_late;
        if (w.is_lost(w.answers_lost_of_100)) co_return false;
        if (!added) continue;
        at = *added;
        --left;
    }
    r.base = at;
    r.batches = 0;
    r.sent.clear();
    co_return true;
}

asio::awaitable<void> live(turnstile_world& w) {
    replica r;
    for (int round = 0; round < rounds; ++round) {
        r.batches = w.draw(4) == 0 ? 0 : 1 + w.draw(2);
        for (;;) {
            const bool done = co_await sync(w, r);
            if (done) break;
            co_await pass(w, 10);
            // The user may have made further changes during the sync.
            if (r.batches < 3 && w.draw(2) == 0) ++r.batches;
        }
        ++w.syncs_done;
        co_await pass(w, 8);
    }
}

int versions_late(std::uint64_t seed, milliseconds hold, int lost_of_100) {
    turnstile_world w(seed, hold, lost_of_100);
    for (int n = 0; n < replicas; ++n) {
        testing::spawn(w.io.get_executor(), live(w));
    }
    do {
        w.io.restart();
        while (w.io.poll() > 0) {
        }
    } while (w.syncs_done < replicas * rounds && w.clock.advance_to_next(std::chrono::hours{1}));
    EXPECT_EQ(w.syncs_done, replicas * rounds) << "seed " << seed;
    return w.versions_late;
}

TEST(turnstile_model, no_version_is_stale) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        ASSERT_EQ(versions_late(seed, 50ms, 0), 0) << "seed " << seed;
    }
}

TEST(turnstile_model, nor_with_responses_lost) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        ASSERT_EQ(versions_late(seed, 50ms, 20), 0) << "seed " << seed;
    }
}

TEST(turnstile_model, without_it_they_are) {
    EXPECT_GT(versions_late(1, 0ms, 0), 0);
    EXPECT_GT(versions_late(1, 0ms, 20), 0);
}

}  // namespace
}  // namespace callsign::api
