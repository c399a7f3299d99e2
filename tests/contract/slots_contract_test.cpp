// Store contract: slots and their keys, and the creation rules on every store.

#include "store_contract.hpp"
#include "support/counted_ids.hpp"

#include <callsign/rules/rows/slots.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rules.hpp>

#include <gtest/gtest.h>

namespace callsign {
namespace {

using namespace testing;

TEST_P(store_contract, slots_go_from_pending_to_an_end_and_never_back) {
    const auto account = make_account();
    const auto id = write([&](write_tx& tx) { return slots::put(tx, new_slot(account, "k", 1)); });
    write([&](write_tx& tx) { slots::count_attempt(tx, id); });
    EXPECT_EQ(store_->totals()->slots.pending, 1);
    write([&](write_tx& tx) {
        const auto found = slots::find(tx, id);
        EXPECT_EQ(found->state, slot_state::pending);
        EXPECT_EQ(found->attempts, 2);
        EXPECT_EQ(found->uuid, uuid_of(1));
        EXPECT_EQ(found->fingerprint, sha256("content 1"));
        EXPECT_FALSE(found->settled_at);
        const auto task = make_task(tx, account, 1);
        EXPECT_TRUE(slots::commit(tx, id, task, true, t0 + milliseconds{9}));
        EXPECT_FALSE(slots::commit(tx, id, task, true, t0 + milliseconds{9}));
        EXPECT_FALSE(slots::fail(tx, id, failure_reason::window_passed, t0 + milliseconds{9}));
    });
    if (GetParam().durable) reopen();
    EXPECT_EQ(store_->totals()->slots.pending, 0);
    EXPECT_EQ(store_->totals()->slots.committed, 1);
    write([&](write_tx& tx) {
        const auto found = slots::find(tx, account, "k");
        EXPECT_EQ(found->state, slot_state::committed);
        EXPECT_EQ(found->settled_at, t0 + milliseconds{9});
        const auto given = tasks::receipt_of(tx, *found);
        ASSERT_TRUE(given);
        EXPECT_EQ(key_of(*given), "TASK-1");
        EXPECT_EQ(given->seq, 1);
        EXPECT_TRUE(given->created);
    });
}

TEST_P(store_contract, a_failed_slot_says_why_and_when) {
    const auto account = make_account();
    const auto id = write([&](write_tx& tx) { return slots::put(tx, new_slot(account, "k", 1)); });
    write([&](write_tx& tx) {
        EXPECT_TRUE(slots::fail(tx, id, failure_reason::window_passed, t0 + milliseconds{5}));
        EXPECT_FALSE(slots::commit(tx, id, task_id{1}, true, t0));
    });
    const auto found = slots::some(*store_->begin_read(), slot_id{}, 10, slot_state::failed, {});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].reason, failure_reason::window_passed);
    EXPECT_EQ(found[0].settled_at, t0 + milliseconds{5});
    EXPECT_EQ(store_->totals()->last_moment, t0 + milliseconds{5});
    EXPECT_FALSE(found[0].task);
    EXPECT_EQ(store_->totals()->slots.failed, 1);
}

TEST_P(store_contract, keys_are_found_among_many_and_belong_to_their_account) {
    const auto one = make_account("one", "ONE");
    const auto two = make_account("two", "TWO");
    for (int batch = 0; batch < 40; ++batch) {
        write([&](write_tx& tx) {
            for (int i = 0; i < 5; ++i) {
                const int n = batch * 5 + i;
                slots::put(tx, new_slot(n % 2 ? one : two, "key-" + std::to_string(n), n));
            }
        });
        if (batch % 13 == 12 && GetParam().durable) reopen();
    }
    write([&](write_tx& tx) {
        for (int n = 0; n < 200; ++n) {
            const std::string key = "key-" + std::to_string(n);
            const auto found = slots::find(tx, n % 2 ? one : two, key);
            ASSERT_TRUE(found) << key;
            EXPECT_EQ(found->uuid, uuid_of(n));
            EXPECT_FALSE(slots::find(tx, n % 2 ? two : one, key));
        }
        EXPECT_FALSE(slots::find(tx, one, "key-200"));
    });
    const auto tx = store_->begin_read();
    for (int n = 0; n < 200; ++n) {
        const std::string key = "key-" + std::to_string(n);
        const auto found = slots::find(*tx, n % 2 ? one : two, key);
        ASSERT_TRUE(found) << key;
        EXPECT_EQ(found->uuid, uuid_of(n));
        EXPECT_FALSE(slots::find(*tx, n % 2 ? two : one, key));
    }
    EXPECT_FALSE(slots::find(*tx, one, "key-200"));
}

// A reader's snapshot hides all that was written after its start.
TEST_P(store_contract, a_reader_finds_the_keys_of_its_own_snapshot) {
    const auto account = make_account();
    int last = 0;
    const auto put_some = [&] {
        write([&](write_tx& tx) {
            for (const int end = last + 3; last < end; ++last) {
                slots::put(tx, new_slot(account, "key-" + std::to_string(last), last));
            }
        });
    };
    for (int round = 0; round < 24; ++round) {
        put_some();
        const auto tx = store_->begin_read();
        // A snapshot of SQLite begins with its first read.
        const int seen = static_cast<int>(slots::some(*tx, slot_id{}, 1000, {}, {}).size());
        ASSERT_EQ(seen, last);
        for (int more = 0; more < round % 5; ++more) put_some();
        for (int n = 0; n < last; ++n) {
            const auto found = slots::find(*tx, account, "key-" + std::to_string(n));
            ASSERT_EQ(found.has_value(), n < seen) << n << " of " << seen;
        }
    }
}

TEST_P(store_contract, slots_are_listed_in_pages) {
    const auto one = make_account("one", "ONE");
    const auto two = make_account("two", "TWO");
    write([&](write_tx& tx) {
        for (int n = 0; n < 10; ++n) {
            const auto id = slots::put(tx, new_slot(n < 5 ? one : two, "k" + std::to_string(n), n));
            if (n % 2) slots::fail(tx, id, failure_reason::window_passed, t0);
        }
    });
    const auto tx = store_->begin_read();
    const auto first = slots::some(*tx, slot_id{}, 3, slot_state::pending, {});
    ASSERT_EQ(first.size(), 3u);
    const auto rest = slots::some(*tx, first.back().id, 10, slot_state::pending, {});
    EXPECT_EQ(rest.size(), 2u);
    EXPECT_LT(first.back().id, rest.front().id);
    EXPECT_EQ(slots::some(*tx, rest.front().id, 10, slot_state::pending, {}).size(), 1u);
    EXPECT_EQ(slots::some(*tx, slot_id{}, 10, {}, one).size(), 5u);
    EXPECT_EQ(slots::some(*tx, slot_id{}, 10, slot_state::failed, two).size(), 3u);
    EXPECT_EQ(slots::some(*tx, slot_id{}, 10, slot_state::committed, {}).size(), 0u);
}

TEST_P(store_contract, an_expired_key_is_free_and_its_slot_id_is_not) {
    const auto account = make_account();
    slot_id last{};
    for (int n = 0; n < 12; ++n) {
        const auto id = write([&](write_tx& tx) {
            const auto made = slots::put(tx, new_slot(account, "k", n));
            slots::fail(tx, made, failure_reason::window_passed, t0);
            return made;
        });
        EXPECT_LT(last, id);
        last = id;
        write([&](write_tx& tx) { slots::forget(tx, id); });
        if (GetParam().durable) reopen();
        write([&](write_tx& tx) { EXPECT_FALSE(slots::find(tx, account, "k")); });
        EXPECT_FALSE(slots::find(*store_->begin_read(), account, "k"));
    }
    EXPECT_EQ(store_->totals()->slots.failed, 0);
}

TEST_P(store_contract, slots_that_wait_for_a_uuid_are_found) {
    const auto id = make_account();
    write([&](write_tx& tx) {
        slot s;
        s.account = id;
        s.uuid = uuid_of(70);
        s.created_at = t0;
        s.key = "one";
        const slot_id one = slots::put(tx, s);
        s.key = "two";
        const slot_id two = slots::put(tx, s);
        s.key = "other";
        s.uuid = uuid_of(71);
        slots::put(tx, s);
        const auto waiting = slots::waiting_for(tx, id, uuid_of(70));
        ASSERT_EQ(waiting.size(), 2u);
        EXPECT_EQ(waiting[0].id, one);
        EXPECT_EQ(waiting[1].key, "two");
        slots::fail(tx, two, failure_reason::window_passed, t0);
        EXPECT_EQ(slots::waiting_for(tx, id, uuid_of(70)).size(), 1u);
        EXPECT_TRUE(slots::waiting_for(tx, account_id{id.value + 1}, uuid_of(70)).empty());
    });
}

TEST_P(store_contract, a_creation_and_its_retries) {
    const auto account = make_account();
    counted_ids ids;
    time_point now = t0;
    auto run = [&](const auto& c) {
        return write([&](write_tx& tx) {
            return rules::apply(tx, c, rules::moment{now += milliseconds{1}, ids});
        });
    };
    const reserve first{account, "key", sha256("a"), {}, ""};
    const auto reserved = std::get<reserve::reserved>(run(first));
    EXPECT_FALSE(reserved.resumed);
    EXPECT_TRUE(std::get<reserve::reserved>(run(first)).resumed);
    EXPECT_TRUE(
        std::holds_alternative<key_conflict>(run(reserve{account, "key", sha256("b"), {}, ""})));

    const fulfil second{reserved.slot, "", {{"description", "water the plants"}}};
    const auto made = std::get<receipted>(run(second));
    EXPECT_FALSE(made.replayed);
    EXPECT_EQ(key_of(made.receipt), "TASK-1");
    EXPECT_EQ(made.receipt.seq, 1);
    const auto again = std::get<receipted>(run(second));
    EXPECT_TRUE(again.replayed);
    EXPECT_EQ(again.receipt, made.receipt);
    EXPECT_EQ(std::get<receipted>(run(first)).receipt, made.receipt);
    EXPECT_TRUE(
        std::holds_alternative<unknown_series>(run(reserve{account, "k2", {}, {}, "NOPE"})));

    // Another key for an existing UUID.
    const auto existing =
        std::get<receipted>(run(reserve{account, "k3", sha256("c"), made.receipt.uuid, ""}));
    EXPECT_FALSE(existing.receipt.created);
    EXPECT_EQ(existing.receipt.number, 1);
    EXPECT_TRUE(std::get<receipted>(run(reserve{account, "k3", sha256("c"), made.receipt.uuid, ""}))
                    .replayed);

    const auto stored = tasks::find(*store_->begin_read(), account, made.receipt.uuid);
    ASSERT_TRUE(stored);
    EXPECT_EQ(stored->attributes.at("status"), "pending");
    EXPECT_EQ(stored->attributes.at("entry"), "1700000000");
}

TEST_P(store_contract, a_sweep_fails_what_is_old_and_idle_only) {
    const auto account = make_account();
    counted_ids ids;
    time_point now = t0;
    auto run = [&](const auto& c) {
        return write([&](write_tx& tx) { return rules::apply(tx, c, rules::moment{now, ids}); });
    };
    auto reserve_key = [&](const std::string& key, std::optional<uuid> id = {}) {
        return std::get<reserve::reserved>(run(reserve{account, key, sha256(key), id, ""})).slot;
    };
    const auto idle = reserve_key("idle");
    reserve_key("busy");
    const auto existing = reserve_key("existing", uuid_of(77));
    write([&](write_tx& tx) { make_task(tx, account, 77); });
    now += std::chrono::minutes{20};
    reserve_key("young");

    reconcile_pending sweep{slot_id{}, 100, std::chrono::minutes{10}, {{account, "busy"}}};
    const auto done = run(sweep);
    EXPECT_EQ(done.scanned, 4);
    EXPECT_EQ(done.failed, 1);
    EXPECT_EQ(done.committed, 1);
    EXPECT_FALSE(done.next);
    const auto late = run(fulfil{idle, "", {{"description", "x"}}});
    EXPECT_EQ(std::get<slot_failed>(late).reason, failure_reason::window_passed);
    const auto kept = std::get<receipted>(run(fulfil{existing, "", {}}));
    EXPECT_EQ(kept.receipt.uuid, uuid_of(77));
    EXPECT_FALSE(kept.receipt.created);

    // A repeated sweep changes nothing, also in steps of one.
    const auto again = run(sweep);
    EXPECT_EQ(again.failed + again.committed, 0);
    sweep.limit = 1;
    EXPECT_TRUE(run(sweep).next);

    now += std::chrono::hours{24 * 8};
    const auto forgotten = run(forget_settled{slot_id{}, 100, std::chrono::hours{24 * 7}});
    EXPECT_EQ(forgotten.forgotten, 2);
    EXPECT_EQ(store_->totals()->slots.pending, 2);
    EXPECT_TRUE(tasks::find(*store_->begin_read(), account, uuid_of(77)));
}

}  // namespace
}  // namespace callsign
