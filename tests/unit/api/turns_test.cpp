#include "api/webhooks/turns.hpp"

#include "support/virtual_clock.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <string>

namespace callsign::api {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct turns_test : ::testing::Test {
    static asio::awaitable<void> take(turns_test& t, std::int64_t account, std::string name) {
        turns::turn mine = co_await t.all.take(account_id{account});
        t.held.emplace(std::move(name), std::move(mine));
    }
    // Returns true if the turn begins at once.
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
        all.took(account_id{account}, span);
        held.erase(name);
        settle();
    }
    void be_slow(std::int64_t account) {
        ASSERT_TRUE(ask(account, "slow"));
        end("slow", account, 501ms);
    }

    testing::virtual_clock clock;
    turns all{clock,
              {.at_once = 4,
               .account_at_once = 1,
               .slow_at_once = 2,
               .slow_turn = 500ms,
               .slow_for = 5min}};
    std::map<std::string, turns::turn> held;
    asio::io_context io{1};
};

TEST_F(turns_test, slow_accounts_have_a_share_of_them) {
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

TEST_F(turns_test, a_quick_turn_does_not_hide_a_slow_one) {
    for (const std::int64_t account : {1, 2, 3}) be_slow(account);
    const auto have_turns = [&] {
        const bool both = ask(2, "two") && ask(3, "three");
        const bool more = ask(1, "one");
        EXPECT_TRUE(both);
        end("two", 2, 4s);
        end("three", 3, 4s);
        end("one", 1, 1ms);
        return more;
    };
    EXPECT_FALSE(have_turns());
    clock.advance_to_next(4min);
    EXPECT_FALSE(have_turns());
    clock.advance_to_next(1min);
    EXPECT_FALSE(have_turns());  // its turn was a quick one, five minutes after the last slow one
    EXPECT_TRUE(have_turns());
}

TEST_F(turns_test, waiting_turns_of_an_account_that_is_quick_again_are_no_longer_limited) {
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

}  // namespace
}  // namespace callsign::api
