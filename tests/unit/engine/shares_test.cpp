// Goal: the limits hold, in total and per account, and every share is released. Method: named
// examples, then random lists of claims taken and released, compared with plain sums.

#include "engine/shares.hpp"

#include <gtest/gtest.h>
#include <map>
#include <rapidcheck/gtest.h>
#include <vector>

namespace callsign {
namespace {

payer account(std::int64_t n) {
    return account_id{n};
}

constexpr share_limits roomy{
    .depth_max = 100, .bytes_max = 1000, .account_depth_max = 75, .account_bytes_max = 750};

TEST(shares, each_limit_has_its_name) {
    shares together(
        {.depth_max = 1, .bytes_max = 10, .account_depth_max = 1, .account_bytes_max = 10});
    EXPECT_EQ(together.take(account(1), 1), std::nullopt);
    EXPECT_EQ(together.take(account(2), 1), shortage::depth);

    shares bytes(
        {.depth_max = 10, .bytes_max = 10, .account_depth_max = 10, .account_bytes_max = 10});
    EXPECT_EQ(bytes.take(account(1), 10), std::nullopt);
    EXPECT_EQ(bytes.take(account(2), 1), shortage::bytes);

    shares own({.depth_max = 10, .bytes_max = 10, .account_depth_max = 2, .account_bytes_max = 4});
    EXPECT_EQ(own.take(account(1), 3), std::nullopt);
    EXPECT_EQ(own.take(account(1), 3), shortage::account_bytes);
    EXPECT_EQ(own.take(account(1), 1), std::nullopt);
    EXPECT_EQ(own.take(account(1), 0), shortage::account_depth);
    EXPECT_EQ(own.take(account(2), 3), std::nullopt);
}

TEST(shares, a_rejection_takes_nothing) {
    shares book(
        {.depth_max = 10, .bytes_max = 10, .account_depth_max = 1, .account_bytes_max = 10});
    ASSERT_EQ(book.take(account(1), 1), std::nullopt);
    for (int n = 0; n < 100; ++n) EXPECT_EQ(book.take(account(1), 1), shortage::account_depth);
    EXPECT_EQ(book.depth(), 1u);
    EXPECT_EQ(book.bytes(), 1u);
    EXPECT_EQ(book.take(account(2), 9), std::nullopt);
}

TEST(shares, anonymous_clients_have_one) {
    shares book(
        {.depth_max = 10, .bytes_max = 10, .account_depth_max = 2, .account_bytes_max = 10});
    EXPECT_EQ(book.take(payer::anonymous(), 0), std::nullopt);
    EXPECT_EQ(book.take(payer::anonymous(), 0), std::nullopt);
    EXPECT_EQ(book.take(payer::anonymous(), 0), shortage::account_depth);
    EXPECT_EQ(book.take(payer::operators(), 0), std::nullopt);
    EXPECT_EQ(book.take(account(1), 0), std::nullopt);
}

TEST(shares, one_larger_than_the_limit_is_accepted_and_a_second_waits) {
    shares book(roomy);
    EXPECT_EQ(book.take(account(1), 5000), std::nullopt);
    EXPECT_EQ(book.take(account(2), 5000), shortage::bytes);
    EXPECT_EQ(book.take(account(2), 500), std::nullopt);
    book.give_back(account(1), 5000);
    EXPECT_EQ(book.bytes(), 500u);
    EXPECT_EQ(book.take(account(2), 5000), std::nullopt);
}

TEST(shares, one_larger_than_the_share_of_its_account_is_accepted) {
    shares book(roomy);
    EXPECT_EQ(book.take(account(1), 900), std::nullopt);
    EXPECT_EQ(book.take(account(1), 1), shortage::account_bytes);
}

TEST(shares, two_accounts_at_their_maximum_leave_a_share_for_a_third) {
    shares book(roomy);
    while (!book.take(account(1), 10)) {
    }
    while (!book.take(account(2), 10)) {
    }
    for (int n = 0; n < 3; ++n) EXPECT_EQ(book.take(account(3), 10), std::nullopt) << n;
}

TEST(shares, a_held_share_is_released_exactly_once) {
    const auto book = std::make_shared<shares>(roomy);
    const auto hold = [&](std::size_t bytes) {
        EXPECT_EQ(book->take(account(1), bytes), std::nullopt);
        return held_share(book, account(1), bytes);
    };
    {
        const held_share ends = hold(10);
        held_share early = hold(20);
        early.give_back();
        early.give_back();
        held_share moved = hold(30);
        held_share to = std::move(moved);
        held_share replaced = hold(40);
        replaced = hold(50);
        EXPECT_EQ(book->depth(), 3u);
        EXPECT_EQ(book->bytes(), 90u);
    }
    EXPECT_EQ(book->depth(), 0u);
    EXPECT_EQ(book->bytes(), 0u);
}

TEST(shares, an_account_without_a_share_gets_one_while_any_is_free) {
    shares book({.depth_max = 5, .bytes_max = 5, .account_depth_max = 1, .account_bytes_max = 1});
    for (int n = 1; n <= 5; ++n) EXPECT_EQ(book.take(account(n), 1), std::nullopt) << n;
    EXPECT_EQ(book.take(account(6), 1), shortage::depth);
}

RC_GTEST_PROP(shares, equal_what_was_taken_and_not_released, ()) {
    const share_limits limits{.depth_max = *rc::gen::inRange<std::size_t>(1, 40),
                              .bytes_max = *rc::gen::inRange<std::size_t>(1, 400),
                              .account_depth_max = *rc::gen::inRange<std::size_t>(1, 40),
                              .account_bytes_max = *rc::gen::inRange<std::size_t>(1, 400)};
    const auto book = std::make_shared<shares>(limits);
    struct held {
        std::int64_t who;
        std::size_t bytes;
        held_share share;
    };
    std::vector<held> all;
    const auto steps = *rc::gen::inRange(1, 200);
    for (int n = 0; n < steps; ++n) {
        if (!all.empty() && *rc::gen::inRange(0, 3) == 0) {
            const auto at = *rc::gen::inRange<std::size_t>(0, all.size());
            std::swap(all[at], all.back());
            all.pop_back();
        } else {
            const auto who = *rc::gen::inRange<std::int64_t>(1, 5);
            const auto bytes = *rc::gen::inRange<std::size_t>(0, 600);
            if (!book->take(account(who), bytes)) {
                all.push_back({who, bytes, held_share(book, account(who), bytes)});
            }
        }
        std::map<std::int64_t, std::size_t> depth_of;
        std::size_t bytes = 0;
        std::size_t oversized = 0;
        for (const held& h : all) {
            ++depth_of[h.who];
            h.bytes > limits.bytes_max ? ++oversized : bytes += h.bytes;
        }
        RC_ASSERT(book->depth() == all.size());
        RC_ASSERT(book->bytes() == bytes);
        RC_ASSERT(all.size() <= limits.depth_max);
        RC_ASSERT(bytes <= limits.bytes_max);
        RC_ASSERT(oversized <= 1);
        for (const auto& [who, depth] : depth_of) RC_ASSERT(depth <= limits.account_depth_max);
    }
    all.clear();
    RC_ASSERT(book->depth() == 0u);
    // All of it is free again.
    RC_ASSERT(book->take(account(9), limits.bytes_max) == std::nullopt);
}

}  // namespace
}  // namespace callsign
