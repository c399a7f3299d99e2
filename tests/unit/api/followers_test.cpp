// Followers of changes: no wake-up is lost in any state of a follower.

#include "api/feed/followers.hpp"

#include "support/test_server.hpp"

#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using api::follower;
using api::followers;
using namespace std::chrono_literals;

constexpr account_id one{1}, two{2};

class following : public ::testing::Test {
  protected:
    std::shared_ptr<follower> join(account_id of, std::int64_t token = 1) {
        return all.join({token_id{token}, of}, home.io().get_executor());
    }
    // The result becomes true when the wait has ended.
    std::shared_ptr<bool> wait(const std::shared_ptr<follower>& who, std::int64_t seq) {
        auto done = std::make_shared<bool>(false);
        home.spawn(wait_beyond(who, seq, done));
        home.settle();
        return done;
    }
    static boost::asio::awaitable<void> wait_beyond(std::shared_ptr<follower> who, std::int64_t seq,
                                                    std::shared_ptr<bool> done) {
        co_await who->wait_beyond(seq, 1h);
        *done = true;
    }
    static boost::asio::awaitable<void> pause(std::shared_ptr<follower> who,
                                              std::shared_ptr<bool> done) {
        co_await who->pause(1h);
        *done = true;
    }
    void append(account_id to, std::int64_t seq) { all.follow(events::version_appended{to, seq}); }

    test_server home;
    followers all{home.clock(), {}};
};

TEST_F(following, each_of_an_account_is_woken) {
    const auto a = join(one), b = join(one), other = join(two);
    const auto done_a = wait(a, 4), done_b = wait(b, 4), done_other = wait(other, 4);
    EXPECT_FALSE(*done_a || *done_b || *done_other);
    append(one, 5);
    home.settle();
    EXPECT_TRUE(*done_a && *done_b);
    EXPECT_FALSE(*done_other);
}

TEST_F(following, a_change_while_it_is_busy_ends_the_next_wait) {
    const auto a = join(one);
    append(one, 5);
    EXPECT_TRUE(*wait(a, 4));
}

// The follower was woken for another reason and has not run yet: its timer merges the two wake-ups.
TEST_F(following, a_change_while_it_wakes_ends_the_next_wait) {
    const auto a = join(one);
    const auto woken = std::make_shared<bool>(false);
    home.spawn(pause(a, woken));
    home.settle();
    a->wake();
    append(one, 5);
    home.settle();
    EXPECT_TRUE(*woken);
    EXPECT_TRUE(*wait(a, 4));
}

// A new follower may share a read that began before it joined.
TEST_F(following, a_new_follower_knows_the_changes_that_others_have_received) {
    const auto a = join(one);
    append(one, 5);
    const auto b = join(one);
    EXPECT_TRUE(b->is_beyond(4));
    EXPECT_FALSE(b->is_beyond(5));
    EXPECT_TRUE(*wait(b, 4));
}

TEST_F(following, only_the_followers_of_a_revoked_token_end) {
    const auto a = join(one, 1), b = join(one, 2);
    const auto done_a = wait(a, 4), done_b = wait(b, 4);
    all.follow(events::token_revoked{token_id{2}, one});
    home.settle();
    EXPECT_FALSE(*done_a);
    EXPECT_TRUE(*done_b);
    EXPECT_EQ(a->ended(), follower::end::none);
    EXPECT_EQ(b->ended(), follower::end::token_revoked);
}

TEST_F(following, followers_that_have_left_are_not_woken) {
    auto a = join(one), b = join(one), c = join(one);
    const auto done = wait(c, 4);
    EXPECT_EQ(all.count(), 3u);
    a.reset();
    b.reset();
    EXPECT_EQ(all.count(), 1u);
    append(one, 5);
    home.settle();
    EXPECT_TRUE(*done);
}

// The service may be destroyed before its last connection.
TEST_F(following, one_may_outlive_the_others) {
    auto those = std::make_unique<followers>(home.clock(), api::feed_options{});
    auto last = those->join({token_id{1}, one}, home.io().get_executor());
    those.reset();
    last.reset();
}

}  // namespace
}  // namespace callsign::testing
