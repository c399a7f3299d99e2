// Store contract: webhooks, and tasks that are numbered before they are visible.

#include "store_contract.hpp"

#include <callsign/rules/rows/numbers.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/webhooks.hpp>

#include <gtest/gtest.h>
#include <utility>

namespace callsign {
namespace {

using namespace testing;

webhook new_webhook(account_id account, int n) {
    return {.id = {},
            .account = account,
            .uuid = uuid_of(n),
            .url = "https://example.com/" + std::to_string(n),
            .filter = "tag=x&text=%20",
            .sealed_secret = std::string("\0\1", 2),
            .after = {7, 2},
            .mark = "0123456789ab",
            .created_at = t0 + milliseconds{n}};
}

TEST_P(store_contract, webhooks_are_kept_with_their_place) {
    const auto account = make_account();
    const auto other = make_account("other");
    const auto [first, second] = write([&](write_tx& tx) {
        const auto one = webhooks::put(tx, new_webhook(account, 1));
        webhooks::put(tx, new_webhook(other, 2));
        return std::pair(one, webhooks::put(tx, new_webhook(account, 3)));
    });
    EXPECT_LT(first, second);
    if (GetParam().durable) reopen();
    const auto shown = [&] { return *webhooks::find(*store_->begin_read(), account, uuid_of(1)); };
    const webhook made = shown();
    EXPECT_EQ(made.id, first);
    EXPECT_EQ(made.account, account);
    EXPECT_EQ(made.url, "https://example.com/1");
    EXPECT_EQ(made.filter, "tag=x&text=%20");
    EXPECT_EQ(made.sealed_secret, std::string("\0\1", 2));
    EXPECT_EQ(made.after, (feed_place{7, 2}));
    EXPECT_EQ(made.mark, "0123456789ab");
    EXPECT_FALSE(made.disabled);
    EXPECT_EQ(made.created_at, t0 + milliseconds{1});
    EXPECT_EQ(store_->totals()->last_moment, t0 + milliseconds{3});

    webhook moved = made;
    moved.after = {9};
    moved.mark = "ba9876543210";
    moved.disabled = webhook_end::unreadable;
    moved.failures = 4;
    moved.edits = 5;
    write([&](write_tx& tx) { webhooks::update(tx, moved); });
    if (GetParam().durable) reopen();
    EXPECT_EQ(shown().after, feed_place{9});
    EXPECT_EQ(shown().mark, "ba9876543210");
    EXPECT_EQ(shown().disabled, webhook_end::unreadable);
    EXPECT_EQ(shown().failures, 4);
    EXPECT_EQ(shown().edits, 5);
    EXPECT_EQ(shown().url, made.url);

    const auto tx = store_->begin_read();
    EXPECT_FALSE(webhooks::find(*tx, other, uuid_of(1)));
    EXPECT_FALSE(webhooks::find(*tx, account, uuid_of(4)));
    const auto own = webhooks::of(*tx, account);
    ASSERT_EQ(own.size(), 2u);
    EXPECT_EQ(own[1].id, second);
    const auto active = webhooks::active(*tx, {}, 10);
    ASSERT_EQ(active.size(), 2u);
    EXPECT_EQ(active[0].uuid, uuid_of(2));
    EXPECT_EQ(webhooks::active(*tx, {}, 1).size(), 1u);
    EXPECT_EQ(webhooks::active(*tx, active[0].id, 10).size(), 1u);
}

TEST_P(store_contract, the_latest_deliveries_of_each_webhook_are_kept) {
    const auto account = make_account();
    const auto [busy, quiet] = write([&](write_tx& tx) {
        return std::pair(webhooks::put(tx, new_webhook(account, 1)),
                         webhooks::put(tx, new_webhook(account, 2)));
    });
    const auto attempt = [](std::int64_t n) {
        return webhook_delivery{.id = std::to_string(n),
                                .at = t0 + milliseconds{n},
                                .changes = n,
                                .status = 503,
                                .error = "none",
                                .delivered = n % 2 == 0,
                                .took = milliseconds{n}};
    };
    write([&](write_tx& tx) { webhooks::put_delivery(tx, quiet, attempt(1)); });
    for (std::int64_t n = 1; n <= webhook_deliveries_kept + 3; ++n) {
        write([&](write_tx& tx) { webhooks::put_delivery(tx, busy, attempt(n)); });
    }
    if (GetParam().durable) reopen();
    {
        const auto tx = store_->begin_read();
        const auto all = webhooks::deliveries_of(*tx, busy);
        ASSERT_EQ(std::ssize(all), webhook_deliveries_kept);
        EXPECT_EQ(all.front().id, std::to_string(webhook_deliveries_kept + 3));
        EXPECT_EQ(all.back().id, "4");
        EXPECT_EQ(all.back().at, t0 + milliseconds{4});
        EXPECT_EQ(all.back().changes, 4);
        EXPECT_EQ(all.back().status, 503);
        EXPECT_EQ(all.back().error, "none");
        EXPECT_TRUE(all.back().delivered);
        EXPECT_EQ(all.back().took, milliseconds{4});
        EXPECT_EQ(webhooks::deliveries_of(*tx, quiet).size(), 1u);
    }
    write([&](write_tx& tx) { webhooks::remove(tx, busy); });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    EXPECT_FALSE(webhooks::find(*tx, account, uuid_of(1)));
    EXPECT_TRUE(webhooks::deliveries_of(*tx, busy).empty());
    EXPECT_EQ(webhooks::deliveries_of(*tx, quiet).size(), 1u);
}

TEST_P(store_contract, a_task_that_was_numbered_unseen_is_revealed) {
    const auto account = make_account();
    const auto id = write([&](write_tx& tx) {
        task t;
        t.account = account;
        t.uuid = uuid_of(1);
        t.created_at = t0;
        t.purged = true;
        const auto series = *all_series::default_of(tx, account);
        t.numbered = receipt{t.uuid, "TASK", "", numbers::take(tx, series.id, ""), 0, t0, true};
        return tasks::put(tx, t, series.id);
    });
    if (GetParam().durable) reopen();
    const auto find = [&] { return *tasks::find(*store_->begin_read(), account, uuid_of(1)); };
    EXPECT_TRUE(find().purged);
    EXPECT_EQ(find().numbered->number, 1);
    EXPECT_EQ(find().numbered->seq, 0);
    const auto open_ones = [&] {
        const auto tx = store_->begin_read();
        int count = 0;
        tasks::visit_numbered(*tx, {all_series::default_of(*tx, account)->id, "", 0, false, true},
                              [&](task&&) {
                                  ++count;
                                  return true;
                              });
        return count;
    };
    EXPECT_EQ(open_ones(), 0);
    write([&](write_tx& tx) { tasks::reveal(tx, id, {{"status", "pending"}}, 3, 4); });
    if (GetParam().durable) reopen();
    EXPECT_FALSE(find().purged);
    EXPECT_EQ(find().attributes, (attributes{{"status", "pending"}}));
    EXPECT_EQ(find().numbered->seq, 3);
    EXPECT_EQ(find().last_seq, 4);
    EXPECT_EQ(open_ones(), 1);
}

}  // namespace
}  // namespace callsign
