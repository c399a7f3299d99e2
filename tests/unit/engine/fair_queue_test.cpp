// Goal: an account with waiting items is served, regardless of other accounts, and none gets more
// than its share. Method: a few examples, then random lists of arrivals and services, verified
// against the queue's guarantee for any two accounts.

#include "engine/fair_queue.hpp"

#include <deque>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <rapidcheck/gtest.h>
#include <string>

namespace callsign {
namespace {

struct item {
    payer who;
    std::size_t weight = 1;
    int number = 0;
    item* behind = nullptr;
};

payer payer_of(std::int64_t n) {
    return account_id{n};
}

class queue_of_items {
  public:
    explicit queue_of_items(std::size_t quantum) : queue(quantum) {}

    void push(payer who, std::size_t weight) {
        all_.push_back(std::make_unique<item>(item{who, weight, static_cast<int>(all_.size())}));
        queue.push(*all_.back());
    }
    item* take() { return queue.next() ? &queue.take() : nullptr; }

    // The accounts of the items in order, as letters: account 1 is a.
    std::string take_all() {
        std::string order;
        while (item* i = take())
            order += i->who.is_system() ? '!' : static_cast<char>('a' + i->who.id() - 1);
        return order;
    }

    fair_queue<item> queue;

  private:
    std::deque<std::unique_ptr<item>> all_;
};

TEST(fair_queue, one_account_is_served_in_order) {
    queue_of_items q(10);
    for (const std::size_t weight : {5u, 500u, 1u, 70u}) q.push(payer_of(1), weight);
    for (int n = 0; n < 4; ++n) EXPECT_EQ(q.take()->number, n);
    EXPECT_TRUE(q.queue.empty());
    EXPECT_EQ(q.take(), nullptr);
}

TEST(fair_queue, accounts_take_turns_by_weight_not_by_number) {
    queue_of_items q(10);
    for (int n = 0; n < 3; ++n) q.push(payer_of(1), 10);
    for (int n = 0; n < 8; ++n) q.push(payer_of(2), 5);
    EXPECT_EQ(q.take_all(), "abbabbabbbb");
}

TEST(fair_queue, a_heavy_item_waits_for_the_turns_of_others) {
    queue_of_items q(10);
    q.push(payer_of(1), 30);
    for (int n = 0; n < 5; ++n) q.push(payer_of(2), 10);
    EXPECT_EQ(q.take_all(), "bbabbb");
}

TEST(fair_queue, an_account_that_joins_a_long_queue_is_next_in_turn) {
    queue_of_items q(10);
    for (int n = 0; n < 1000; ++n) q.push(payer_of(1), 10);
    for (int n = 0; n < 500; ++n) q.take();
    q.push(payer_of(2), 10);
    EXPECT_EQ(q.take()->who, payer_of(1)) << "its turn ends";
    EXPECT_EQ(q.take()->who, payer_of(2));
}

TEST(fair_queue, an_item_that_is_put_back_keeps_its_place) {
    queue_of_items q(10);
    for (int n = 0; n < 4; ++n) q.push(payer_of(1), 5);
    q.push(payer_of(2), 5);
    q.push(payer::system(), 5);
    std::vector<item*> taken;
    for (int n = 0; n < 3; ++n) taken.push_back(q.take());
    q.push(payer_of(1), 5);
    q.queue.put_back(taken);
    std::vector<int> numbers;
    std::string order;
    while (item* i = q.take()) {
        order += i->who.is_system() ? '!' : static_cast<char>('a' + i->who.id() - 1);
        if (i->who == payer_of(1)) numbers.push_back(i->number);
    }
    EXPECT_EQ(order.front(), '!');
    EXPECT_EQ(numbers, (std::vector<int>{0, 1, 2, 3, 6}));
    EXPECT_EQ(std::count(order.begin(), order.end(), 'b'), 1);
    EXPECT_TRUE(q.queue.empty());
}

TEST(fair_queue, an_account_that_exceeded_its_claim_repays_while_others_wait) {
    queue_of_items q(10);
    for (int n = 0; n < 8; ++n) q.push(payer_of(1), 10);
    for (int n = 0; n < 6; ++n) q.push(payer_of(2), 10);
    EXPECT_EQ(q.take()->who, payer_of(1));
    q.queue.charge(payer_of(1), 30);
    EXPECT_EQ(q.take_all(), "bbbbababaaaaa");
    // An account that is alone owes nothing.
    for (int n = 0; n < 2; ++n) q.push(payer_of(1), 10);
    q.take();
    q.queue.charge(payer_of(1), 1'000'000);
    EXPECT_EQ(q.take()->who, payer_of(1));
    q.queue.charge(payer_of(3), 10);  // an account without waiting items
}

TEST(fair_queue, anonymous_clients_are_one_account) {
    queue_of_items q(10);
    for (int n = 0; n < 4; ++n) q.push(payer::anonymous(), 10);
    q.push(payer_of(1), 10);
    q.take();
    EXPECT_EQ(q.take()->who, payer_of(1));
}

TEST(fair_queue, system_work_goes_first) {
    queue_of_items q(10);
    q.push(payer_of(1), 1);
    q.push(payer::system(), 1000);
    q.push(payer_of(2), 1);
    q.push(payer::system(), 1000);
    EXPECT_EQ(q.take_all(), "!!ab");
}

TEST(fair_queue, an_account_that_is_not_eligible_does_not_block_others) {
    queue_of_items q(10);
    q.push(payer_of(1), 10);
    q.push(payer_of(2), 10);
    const auto not_the_first = [](payer who) { return who != payer_of(1); };
    ASSERT_NE(q.queue.next(not_the_first), nullptr);
    EXPECT_EQ(q.queue.take().who, payer_of(2));
    EXPECT_EQ(q.queue.next(not_the_first), nullptr);
    EXPECT_EQ(q.take()->who, payer_of(1));
}

TEST(fair_queue, an_account_that_was_passed_over_accumulates_no_credit) {
    queue_of_items q(10);
    const auto not_the_first = [](payer who) { return who != payer_of(1); };
    for (int n = 0; n < 100; ++n) q.push(payer_of(1), 10);
    for (int n = 0; n < 100; ++n) {
        q.push(payer_of(2), 10);
        if (n < 50) {
            ASSERT_NE(q.queue.next(not_the_first), nullptr);
            q.queue.take();
        }
    }
    int ahead = 0;
    for (int n = 0; n < 20; ++n) ahead += q.take()->who == payer_of(1) ? 1 : -1;
    EXPECT_LE(std::abs(ahead), 2);
}

// One random run of a queue, and the guarantee that it must satisfy.
class fairness {
  public:
    fairness(std::size_t quantum, std::size_t weight_max)
        : quantum_(quantum), weight_max_(weight_max), queue_(quantum) {}

    void push(std::int64_t who, std::size_t weight) {
        queue_.push(payer_of(who), weight);
        auto& of = waiting_[who];
        if (of.empty()) since(who);
        of.push_back({next_number_++, weight});
    }

    void take() {
        item* const got = queue_.take();
        RC_ASSERT((got == nullptr) == waiting_.empty());
        if (!got) return;
        const std::int64_t who = got->who.id();
        auto& of = waiting_.at(who);
        RC_ASSERT(of.front().number == got->number);  // first in, first out within an account
        of.pop_front();
        for (auto& [pair, lead] : leads_) {
            if (pair.first == who) lead += static_cast<std::int64_t>(got->weight);
            if (pair.second == who) lead -= static_cast<std::int64_t>(got->weight);
            // The bound of the paper, for any time in which both accounts had waiting items.
            RC_ASSERT(std::abs(lead) <= static_cast<std::int64_t>(quantum_ + 2 * weight_max_));
        }
        if (of.empty()) gone(who);
    }

    bool is_empty() const { return waiting_.empty(); }

  private:
    struct expected {
        int number;
        std::size_t weight;
    };

    void since(std::int64_t who) {
        for (const auto& [other, of] : waiting_) {
            if (other != who) leads_[{std::min(who, other), std::max(who, other)}] = 0;
        }
    }
    void gone(std::int64_t who) {
        waiting_.erase(who);
        std::erase_if(
            leads_, [who](const auto& l) { return l.first.first == who || l.first.second == who; });
    }

    std::size_t quantum_;
    std::size_t weight_max_;
    queue_of_items queue_;
    std::map<std::int64_t, std::deque<expected>> waiting_;
    // The lead of the first account of a pair, since both have had waiting items.
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> leads_;
    int next_number_ = 0;
};

RC_GTEST_PROP(fair_queue, no_account_overtakes_a_waiting_one, ()) {
    const auto quantum = *rc::gen::inRange<std::size_t>(1, 100);
    const auto weight_max = *rc::gen::inRange<std::size_t>(1, 1000);
    fairness run(quantum, weight_max);
    const auto steps = *rc::gen::inRange(1, 400);
    for (int n = 0; n < steps; ++n) {
        if (*rc::gen::inRange(0, 5) < 3) {
            run.push(*rc::gen::inRange<std::int64_t>(1, 6),
                     *rc::gen::inRange<std::size_t>(1, weight_max + 1));
        } else {
            run.take();
        }
    }
    while (!run.is_empty()) run.take();
    run.take();  // the queue is empty
}

}  // namespace
}  // namespace callsign
