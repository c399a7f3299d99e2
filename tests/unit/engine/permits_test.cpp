#include "support/virtual_clock.hpp"

#include <callsign/engine/permits.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace callsign::testing {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct permits_test : ::testing::Test {
    static asio::awaitable<void> take(permits_test& t, std::int64_t account, std::string name) {
        permits::permit mine = co_await t.all.take(account_id{account});
        t.held.emplace(std::move(name), std::move(mine));
    }
    // Returns true if the permit is available at once.
    bool ask(std::int64_t account, const std::string& name) {
        asio::co_spawn(io, take(*this, account, name), asio::detached);
        settle();
        return held.contains(name);
    }
    void settle() {
        io.restart();
        io.poll();
    }
    void end(const std::string& name, std::int64_t account, milliseconds span) {
        all.report_span(account_id{account}, span);
        held.erase(name);
        settle();
    }
    void be_slow(std::int64_t account) {
        ASSERT_TRUE(ask(account, "slow"));
        end("slow", account, 501ms);
    }

    virtual_clock clock;
    permits all{clock,
                {.at_once = 4,
                 .payer_at_once = 1,
                 .slow_at_once = 2,
                 .slow_span = 500ms,
                 .slow_for = 5min}};
    std::map<std::string, permits::permit> held;
    asio::io_context io{1};
};

TEST_F(permits_test, slow_accounts_have_a_share_of_them) {
    for (const std::int64_t account : {1, 2, 3, 4}) be_slow(account);
    EXPECT_TRUE(ask(1, "one"));
    EXPECT_TRUE(ask(2, "two"));
    EXPECT_FALSE(ask(3, "three"));
    EXPECT_FALSE(ask(4, "four"));
    EXPECT_TRUE(ask(10, "quick"));
    EXPECT_TRUE(ask(11, "other"));
    EXPECT_FALSE(ask(12, "more"));
    // The slow accounts that wait longest are skipped while their share is in use.
    end("quick", 10, 500ms);
    EXPECT_TRUE(held.contains("more"));
    end("one", 1, 4s);
    EXPECT_TRUE(held.contains("three"));
    EXPECT_FALSE(held.contains("four"));
    end("two", 2, 1ms);
    EXPECT_TRUE(held.contains("four"));
}

TEST_F(permits_test, a_quick_permit_does_not_hide_a_slow_one) {
    for (const std::int64_t account : {1, 2, 3}) be_slow(account);
    const auto all_at_once = [&] {
        const bool both = ask(2, "two") && ask(3, "three");
        const bool more = ask(1, "one");
        EXPECT_TRUE(both);
        end("two", 2, 4s);
        end("three", 3, 4s);
        end("one", 1, 1ms);
        return more;
    };
    EXPECT_FALSE(all_at_once());
    clock.advance_to_next(4min);
    EXPECT_FALSE(all_at_once());
    clock.advance_to_next(1min);
    EXPECT_FALSE(all_at_once());  // its last one was quick, five minutes after the last slow one
    EXPECT_TRUE(all_at_once());
}

TEST_F(permits_test, waiting_payers_that_are_quick_again_are_no_longer_limited) {
    for (const std::int64_t account : {1, 2, 3, 4}) be_slow(account);
    EXPECT_TRUE(ask(1, "one"));
    EXPECT_TRUE(ask(2, "two"));
    EXPECT_FALSE(ask(1, "one again"));
    EXPECT_FALSE(ask(3, "three"));
    EXPECT_FALSE(ask(4, "four"));
    clock.advance_to_next(5min);
    end("one", 1, 1ms);
    EXPECT_TRUE(held.contains("one again"));
    EXPECT_TRUE(held.contains("three"));
    EXPECT_FALSE(held.contains("four"));
}

// ---- order, time, shutdown ----

struct plain_permits : permits_test {
    plain_permits() { all.limit(2); }
};

TEST_F(plain_permits, a_payer_without_one_precedes_a_payer_with_one) {
    permits two(clock, {.at_once = 2, .payer_at_once = 2});
    std::vector<std::int64_t> order;
    std::list<permits::permit> kept;
    for (const int account : {1, 1, 1, 1, 2}) {
        asio::co_spawn(io, two.take(account_id{account}),
                       [&, account](const std::exception_ptr&, permits::permit mine) {
                           order.push_back(account);
                           kept.push_back(std::move(mine));
                       });
        settle();
    }
    EXPECT_EQ(order, (std::vector<std::int64_t>{1, 1}));
    kept.erase(kept.begin());
    settle();
    EXPECT_EQ(order, (std::vector<std::int64_t>{1, 1, 2}));
    kept.clear();
    settle();
    EXPECT_EQ(order, (std::vector<std::int64_t>{1, 1, 2, 1, 1}));
}

TEST_F(plain_permits, a_higher_limit_applies_to_those_that_wait) {
    EXPECT_TRUE(ask(1, "one"));
    EXPECT_TRUE(ask(2, "two"));
    EXPECT_FALSE(ask(3, "three"));
    all.limit(3);
    settle();
    EXPECT_TRUE(held.contains("three"));
    all.limit(1);
    held.erase("one");
    EXPECT_FALSE(ask(4, "four"));
    held.clear();
    settle();
    EXPECT_TRUE(held.contains("four"));
}

TEST_F(plain_permits, one_that_is_not_available_in_time_is_none) {
    EXPECT_TRUE(ask(1, "one"));
    EXPECT_TRUE(ask(2, "two"));
    std::optional<bool> has_one;
    asio::co_spawn(io, all.take(account_id{3}, 5s),
                   [&](const std::exception_ptr&, const permits::permit& p) { has_one = !!p; });
    settle();
    EXPECT_EQ(has_one, std::nullopt);
    clock.advance_to_next(5s);
    settle();
    EXPECT_EQ(has_one, false);
    // It is in the queue no more.
    held.erase("one");
    EXPECT_TRUE(ask(4, "four"));
}

TEST_F(plain_permits, after_a_stop_there_are_none) {
    EXPECT_TRUE(ask(1, "one"));
    EXPECT_TRUE(ask(2, "two"));
    ask(3, "three");
    all.stop();
    settle();
    ASSERT_TRUE(held.contains("three"));
    EXPECT_FALSE(held.at("three"));
    held.clear();
    ask(4, "four");
    EXPECT_FALSE(held.at("four"));
}

// At shutdown frames are destroyed: one that waits, and one that was given a permit and has not run
// since.
TEST(destroyed_permits, are_given_back) {
    virtual_clock clock;
    permits all(clock, {.at_once = 1, .payer_at_once = 1});
    std::optional<permits::permit> held;
    {
        struct droppable : asio::io_context {
            using asio::io_context::shutdown;
        } io;
        const auto take = [&](std::int64_t account, auto done) {
            asio::co_spawn(io, all.take(account_id{account}), done);
            io.restart();
            io.poll();
        };
        take(1, [&](const std::exception_ptr&, permits::permit p) { held = std::move(p); });
        take(2, [](const std::exception_ptr&, const permits::permit&) { FAIL(); });
        take(3, [](const std::exception_ptr&, const permits::permit&) { FAIL(); });
        held.reset();  // the second one has a permit now, and does not run
        io.shutdown();
    }
    asio::io_context io;
    bool has_one = false;
    asio::co_spawn(io, all.take(account_id{4}),
                   [&](const std::exception_ptr&, const permits::permit& p) { has_one = !!p; });
    io.poll();
    EXPECT_TRUE(has_one);
}

}  // namespace
}  // namespace callsign::testing
