// Store contract: rows by their keys, and a transaction's view of its own changes.

#include "store_contract.hpp"

#include <callsign/ports/tables/webhooks.hpp>

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <ranges>
#include <vector>

namespace callsign {
namespace {

using namespace testing;

webhook hook(std::int64_t id, std::int64_t account, int n) {
    return {.id = webhook_id{id},
            .account = account_id{account},
            .uuid = uuid_of(n),
            .url = "https://example.com/",
            .filter = {},
            .sealed_secret = "s",
            .mark = {},
            .created_at = t0};
}

delivery_row attempt(std::int64_t id, std::int64_t hook, std::string error = {}) {
    return {id, webhook_id{hook}, 1, {.id = "1", .at = t0, .error = std::move(error)}};
}

std::vector<std::int64_t> ids_in(read_tx& tx, const auto& range) {
    std::vector<std::int64_t> ids;
    for (const auto& each : tx.all(range)) ids.push_back(each->id);
    return ids;
}

TEST_P(store_contract, a_row_is_found_by_each_of_its_keys) {
    write([](write_tx& tx) {
        tx.put(hook(1, 7, 1));
        tx.put(hook(2, 7, 2));
        EXPECT_EQ(tx.get<webhooks_by_uuid>(uuid_of(2), account_id{7})->id.value, 2);
        EXPECT_FALSE(tx.get<webhooks_by_uuid>(uuid_of(2), account_id{8}));
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    EXPECT_EQ(tx->get<webhooks_by_id>(webhook_id{1})->uuid, uuid_of(1));
    EXPECT_EQ(tx->get<webhooks_by_uuid>(uuid_of(2), account_id{7})->id.value, 2);
    EXPECT_FALSE(tx->get<webhooks_by_uuid>(uuid_of(2), account_id{8}));
    EXPECT_FALSE(tx->get<webhooks_by_id>(webhook_id{3}));
    EXPECT_EQ(tx->all(range_of<webhooks_by_account>(account_id{7})).size(), 2u);
}

TEST_P(store_contract, what_a_transaction_erased_or_changed_it_does_not_see_by_any_key) {
    write([](write_tx& tx) {
        tx.put(hook(1, 7, 1));
        tx.put(hook(2, 7, 2));
    });
    {
        const auto tx = store_->begin_write();
        tx->erase(tx->get<webhooks_by_id>(webhook_id{1}));
        webhook failed = *tx->get<webhooks_by_id>(webhook_id{2});
        failed.failures = 5;
        tx->put(tx->get<webhooks_by_id>(webhook_id{2}), failed);
        EXPECT_FALSE(tx->get<webhooks_by_id>(webhook_id{1}));
        EXPECT_FALSE(tx->get<webhooks_by_uuid>(uuid_of(1), account_id{7}));
        EXPECT_EQ(tx->get<webhooks_by_uuid>(uuid_of(2), account_id{7})->failures, 5);
        const auto left = tx->all(range_of<webhooks_by_account>(account_id{7}));
        ASSERT_EQ(left.size(), 1u);
        EXPECT_EQ(left[0]->failures, 5);
        // Another row with the old keys.
        tx->put(hook(3, 7, 1));
        EXPECT_EQ(tx->get<webhooks_by_uuid>(uuid_of(1), account_id{7})->id.value, 3);
        tx->erase(tx->get<webhooks_by_id>(webhook_id{3}));
        EXPECT_FALSE(tx->get<webhooks_by_uuid>(uuid_of(1), account_id{7}));
    }
    // The transaction was dropped.
    const auto tx = store_->begin_read();
    EXPECT_EQ(tx->all(range_of<webhooks_by_account>(account_id{7})).size(), 2u);
    EXPECT_EQ(tx->get<webhooks_by_id>(webhook_id{2})->failures, 0);
}

TEST_P(store_contract, what_is_erased_and_put_in_one_transaction_leaves_its_old_keys) {
    write([](write_tx& tx) { tx.put(hook(1, 7, 1)); });
    write([](write_tx& tx) {
        tx.erase(tx.get<webhooks_by_id>(webhook_id{1}));
        tx.put(hook(2, 7, 1));
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    EXPECT_FALSE(tx->get<webhooks_by_id>(webhook_id{1}));
    EXPECT_EQ(tx->get<webhooks_by_uuid>(uuid_of(1), account_id{7})->id.value, 2);
}

// One row at most, and nothing is behind it: a scan that continued there would never end.
TEST_P(store_contract, a_range_may_be_a_whole_key) {
    write([](write_tx& tx) {
        for (int n = 1; n <= 3; ++n) tx.put(hook(n, 7, n));
    });
    write([](write_tx& tx) {
        tx.erase(tx.get<webhooks_by_id>(webhook_id{1}));
        tx.edit(tx.expect<webhooks_by_id>(webhook_id{2}), [](webhook& w) { w.failures = 5; });
        tx.put(hook(4, 7, 4));
        for (const std::int64_t limit : {1, 5}) {
            std::vector<std::int64_t> found;
            for (std::int64_t id = 1; id <= 4; ++id) {
                const auto rows = range_of<webhooks_by_id>(webhook_id{id}).limit(limit);
                for (const auto& each : tx.all(rows)) found.push_back(each->id.value);
            }
            EXPECT_EQ(found, (std::vector<std::int64_t>{2, 3, 4})) << "limit " << limit;
        }
    });
}

TEST_P(store_contract, large_rows_come_in_more_pages) {
    const std::string large(page_bytes_max / 2, 'x');
    write([&](write_tx& tx) {
        for (int n = 1; n <= 5; ++n) tx.put(attempt(n, 1, large));
    });
    const auto tx = store_->begin_read();
    const auto all = range_of<deliveries_by_webhook>(webhook_id{1});
    EXPECT_EQ(ids_in(*tx, all), (std::vector<std::int64_t>{1, 2, 3, 4, 5}));
    EXPECT_LE(tx->scan(all.get()).rows.size(), GetParam().durable ? 2u : 5u);
}

// A model of a table by one index: (webhook, id) and a value.
class model {
  public:
    using key = std::pair<std::int64_t, std::int64_t>;
    using rows = std::map<key, std::string>;

    explicit model(unsigned seed) : random_(seed) {}

    std::int64_t draw(std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(1, most)(random_);
    }
    void change_one(write_tx& tx) {
        const auto hook = draw(3), id = hook * 1000 + draw(400);
        const auto found = tx.get<deliveries_by_id>(id);
        const auto at = now_.find({hook, id});
        ASSERT_EQ(found != nullptr, at != now_.end());
        if (!found) {
            const std::string error = std::to_string(draw(1000));
            tx.put(attempt(id, hook, error));
            now_[{hook, id}] = error;
        } else {
            EXPECT_EQ(found->what.error, at->second);
            tx.erase(found);
            now_.erase(at);
        }
    }
    // Compares a range of the store with the model.
    void compare(read_tx& tx) {
        const auto hook = draw(3), after = hook * 1000 + draw(400), limit = draw(500);
        const bool down = draw(2) == 1, from_place = draw(3) > 1, is_limited = draw(2) == 1;
        auto range = range_of<deliveries_by_webhook>(webhook_id{hook}).descending(down);
        if (from_place) range.after(after);
        if (is_limited) range.limit(limit);
        std::vector<std::int64_t> expected;
        for (const auto& [k, error] : now_) {
            const bool is_behind = !from_place || (down ? k.second < after : k.second > after);
            if (k.first == hook && is_behind) expected.push_back(k.second);
        }
        if (down) std::ranges::reverse(expected);
        if (is_limited && std::ssize(expected) > limit) {
            expected.resize(static_cast<std::size_t>(limit));
        }
        EXPECT_EQ(ids_in(tx, range), expected);
    }
    const rows& now() const { return now_; }
    void set(rows to) { now_ = std::move(to); }

  private:
    std::mt19937 random_;
    rows now_;
};

TEST_P(store_contract, scans_show_what_is_committed_and_what_is_changed_in_one_order) {
    model m(1);
    for (int round = 0; round < 40; ++round) {
        const model::rows before = m.now();
        const auto tx = store_->begin_write();
        const auto changes = m.draw(300);
        for (std::int64_t n = 0; n < changes; ++n) {
            m.change_one(*tx);
            if (n % 20 == 0) m.compare(*tx);
        }
        m.compare(*tx);
        if (m.draw(4) > 1) {
            tx->commit();
        } else {
            m.set(before);
        }
        m.compare(*store_->begin_read());
    }
}

}  // namespace
}  // namespace callsign
