// Store contract: remote accounts and their outbox.

#include "store_contract.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/effects.hpp>
#include <callsign/rules/rows/remotes.hpp>
#include <callsign/rules/rows/slots.hpp>

#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace callsign {
namespace {

using namespace testing;

remote_chain new_remote(account_id account) {
    return {.account = account,
            .url = "https://example.com/u",
            .client_id = uuid_of(900),
            .sealed_key = std::string("\0\1\2", 3)};
}

effect new_creation(account_id account, slot_id slot, int n) {
    effect e;
    e.account = account;
    e.slot = slot;
    e.task = uuid_of(n);
    e.prefix = "TASK";
    e.operations = {{operation_kind::create, uuid_of(n), {}, {}, {}},
                    {operation_kind::update, uuid_of(n), "description", "x",
                     precise_time(t0) + std::chrono::nanoseconds{123'456}}};
    e.author = token_id{7};
    e.created_at = t0 + milliseconds{n};
    return e;
}

std::vector<effect> effects_of(store& from, account_id account, effect_id after = {}) {
    std::vector<effect> all;
    const auto tx = from.begin_read();
    effects::visit(*tx, account, after, [&](effect&& e) {
        all.push_back(std::move(e));
        return true;
    });
    return all;
}

TEST_P(store_contract, a_remote_is_stored_with_its_progress) {
    const auto account = make_account();
    const auto other = make_account("other");
    write([&](write_tx& tx) {
        EXPECT_FALSE(accounts::is_remote(tx, account));
        remotes::put(tx, new_remote(account));
        EXPECT_TRUE(accounts::is_remote(tx, account));
        EXPECT_FALSE(accounts::is_remote(tx, other));
    });
    if (GetParam().durable) reopen();
    auto kept = *remotes::find(*store_->begin_read(), account);
    EXPECT_EQ(kept.url, "https://example.com/u");
    EXPECT_EQ(kept.client_id, uuid_of(900));
    EXPECT_EQ(kept.sealed_key, std::string("\0\1\2", 3));
    EXPECT_TRUE(kept.cursor.is_nil());
    EXPECT_TRUE(accounts::find(*store_->begin_read(), account)->is_remote);
    EXPECT_FALSE(accounts::find(*store_->begin_read(), other)->is_remote);
    kept.cursor = uuid_of(1);
    kept.before = uuid_of(2);
    kept.partial = uuid_of(3);
    kept.partial_operations = 17;
    kept.halted = remote_halt::history_incomplete;
    kept.url = "https://example.org/";
    write([&](write_tx& tx) { remotes::update(tx, kept); });
    const auto now = *remotes::find(*store_->begin_read(), account);
    EXPECT_EQ(now.cursor, uuid_of(1));
    EXPECT_EQ(now.before, uuid_of(2));
    EXPECT_EQ(now.partial, uuid_of(3));
    EXPECT_EQ(now.partial_operations, 17);
    EXPECT_EQ(now.halted, remote_halt::history_incomplete);
    EXPECT_EQ(now.url, "https://example.org/");
    EXPECT_FALSE(now.moving);
    EXPECT_FALSE(remotes::find(*store_->begin_read(), other));
    for (const moving_tasks& place :
         {moving_tasks{}, moving_tasks{task_place{series_id{3}, "2026", 7}, 5}}) {
        kept.moving = place;
        write([&](write_tx& tx) { remotes::update(tx, kept); });
        if (GetParam().durable) reopen();
        EXPECT_EQ(remotes::find(*store_->begin_read(), account)->moving, place);
    }
    write([&](write_tx& tx) {
        remotes::remove(tx, account);
        EXPECT_FALSE(accounts::is_remote(tx, account));
    });
    EXPECT_FALSE(accounts::find(*store_->begin_read(), account)->is_remote);
}

TEST_P(store_contract, remotes_come_in_pages) {
    std::vector<account_id> all;
    for (const char* name : {"one", "two", "three"}) {
        all.push_back(make_account(name));
        write([&](write_tx& tx) {
            auto r = new_remote(all.back());
            r.client_id = uuid_of(900 + static_cast<int>(all.size()));
            remotes::put(tx, r);
        });
    }
    const auto first = remotes::some(*store_->begin_read(), account_id{}, 2);
    ASSERT_EQ(first.size(), 2u);
    EXPECT_EQ(first[1].account, all[1]);
    const auto rest = remotes::some(*store_->begin_read(), all[1], 2);
    ASSERT_EQ(rest.size(), 1u);
    EXPECT_EQ(rest[0].account, all[2]);
}

// A dropped transaction leaves no trace, even if the account is cached.
TEST_P(store_contract, a_remote_that_was_not_committed_is_none) {
    const auto account = make_account();
    if (!GetParam().durable) return;  // the strict store reports a missing commit
    {
        const auto tx = store_->begin_write();
        remotes::put(*tx, new_remote(account));
        EXPECT_TRUE(accounts::is_remote(*tx, account));
    }
    write([&](write_tx& tx) { EXPECT_FALSE(accounts::is_remote(tx, account)); });
}

TEST_P(store_contract, a_slot_in_flight_is_neither_pending_nor_settled) {
    const auto account = make_account();
    const auto id = write([&](write_tx& tx) {
        remotes::put(tx, new_remote(account));
        const slot_id made = slots::put(tx, new_slot(account, "key", 1));
        EXPECT_TRUE(slots::begin_flight(tx, made));
        EXPECT_FALSE(slots::begin_flight(tx, made));
        effects::put(tx, new_creation(account, made, 1));
        return made;
    });
    if (GetParam().durable) reopen();
    EXPECT_EQ(store_->totals()->slots.pending, 0);
    EXPECT_EQ(store_->totals()->slots.in_flight, 1);
    {
        const auto tx = store_->begin_read();
        EXPECT_TRUE(slots::some(*tx, slot_id{}, 10, slot_state::pending, {}).empty());
        EXPECT_TRUE(slots::some(*tx, slot_id{}, 10, slot_state::pending, account).empty());
        for (const auto& owner : {std::optional<account_id>(), std::optional(account)}) {
            const auto flying = slots::some(*tx, slot_id{}, 10, slot_state::in_flight, owner);
            ASSERT_EQ(flying.size(), 1u);
            EXPECT_EQ(flying.front().state, slot_state::in_flight);
        }
        EXPECT_EQ(slots::some(*tx, slot_id{}, 10, {}, {}).size(), 1u);
    }
    write([&](write_tx& tx) {
        slots::count_attempt(tx, id);
        ASSERT_EQ(slots::waiting_for(tx, account, uuid_of(1)).size(), 1u);
        EXPECT_EQ(slots::find(tx, id)->attempts, 2);
        const task_id task = make_task(tx, account, 1);
        EXPECT_TRUE(slots::commit(tx, id, task, true, t0));
        EXPECT_FALSE(slots::fail(tx, id, failure_reason::not_delivered, t0));
        EXPECT_FALSE(slots::begin_flight(tx, id));
        effects::remove(tx, effects::find(tx, account, uuid_of(1), effect_kind::creation)->id);
    });
    EXPECT_EQ(store_->totals()->slots.in_flight, 0);
    EXPECT_EQ(store_->totals()->slots.committed, 1);
    EXPECT_EQ(slots::some(*store_->begin_read(), slot_id{}, 10, {}, {}).front().state,
              slot_state::committed);
}

TEST_P(store_contract, a_slot_in_flight_can_fail) {
    const auto account = make_account();
    write([&](write_tx& tx) {
        const slot_id id = slots::put(tx, new_slot(account, "key", 1));
        slots::begin_flight(tx, id);
        EXPECT_TRUE(slots::fail(tx, id, failure_reason::not_delivered, t0));
    });
    EXPECT_EQ(store_->totals()->slots.in_flight, 0);
    EXPECT_EQ(store_->totals()->slots.failed, 1);
    const auto failed = slots::some(*store_->begin_read(), slot_id{}, 1, slot_state::failed, {});
    ASSERT_EQ(failed.size(), 1u);
    EXPECT_EQ(failed.front().reason, failure_reason::not_delivered);
}

TEST_P(store_contract, effects_stay_in_order_until_they_are_done) {
    const auto account = make_account();
    const auto other = make_account("other");
    const auto [one, three] = write([&](write_tx& tx) {
        remotes::put(tx, new_remote(account));
        auto second = new_remote(other);
        second.client_id = uuid_of(901);
        remotes::put(tx, second);
        const auto first = effects::put(tx, new_creation(account, slot_id{1}, 1));
        effects::put(tx, new_creation(other, slot_id{2}, 2));
        effect key;
        key.account = account;
        key.kind = effect_kind::key;
        key.task = uuid_of(1);
        key.created_at = t0;
        return std::pair(first, effects::put(tx, key));
    });
    EXPECT_LT(one, three);
    if (GetParam().durable) reopen();
    auto all = effects_of(*store_, account);
    ASSERT_EQ(all.size(), 2u);
    const effect made = all.front();
    EXPECT_EQ(made.id, one);
    EXPECT_EQ(made.kind, effect_kind::creation);
    EXPECT_EQ(made.slot, slot_id{1});
    EXPECT_EQ(made.prefix, "TASK");
    EXPECT_EQ(made.operations, new_creation(account, slot_id{1}, 1).operations);
    EXPECT_EQ(made.author, author(token_id{7}));
    EXPECT_EQ(made.created_at, t0 + milliseconds{1});
    EXPECT_EQ(all.back().kind, effect_kind::key);
    EXPECT_FALSE(all.back().slot);
    EXPECT_EQ(effects_of(*store_, account, one).size(), 1u);
    {
        const auto tx = store_->begin_read();
        const auto tally = effects::tally(*tx, account);
        EXPECT_EQ(tally.creations, 1);
        EXPECT_EQ(tally.keys, 1);
        EXPECT_EQ(tally.oldest, t0);
        EXPECT_FALSE(effects::tally(*tx, account_id{99}).oldest);
        EXPECT_TRUE(effects::find(*tx, account, uuid_of(1), effect_kind::key));
        EXPECT_FALSE(effects::find(*tx, account, uuid_of(2), effect_kind::creation));
    }
    write([&](write_tx& tx) {
        effect sent = made;
        sent.attempts = 3;
        sent.parent = uuid_of(70);
        effects::update(tx, sent);
    });
    EXPECT_EQ(effects_of(*store_, account).front().attempts, 3);
    EXPECT_EQ(effects_of(*store_, account).front().parent, uuid_of(70));
    // IDs are never reused, not even the last one.
    write([&](write_tx& tx) { effects::remove(tx, three); });
    if (GetParam().durable) reopen();
    write([&](write_tx& tx) {
        EXPECT_GT(effects::put(tx, new_creation(account, slot_id{5}, 5)), three);
    });
}

TEST_P(store_contract, contests_of_keys_are_counted) {
    const auto account = make_account();
    write([&](write_tx& tx) {
        EXPECT_EQ(effects::find_contest(tx, account, uuid_of(1)).times, 0);
        effects::put_contest(tx, account, uuid_of(1), {2, t0});
        effects::put_contest(tx, account, uuid_of(1), {3, t0 + milliseconds{5}});
    });
    if (GetParam().durable) reopen();
    write([&](write_tx& tx) {
        const auto kept = effects::find_contest(tx, account, uuid_of(1));
        EXPECT_EQ(kept.times, 3);
        EXPECT_EQ(kept.last_at, t0 + milliseconds{5});
        EXPECT_EQ(effects::find_contest(tx, account, uuid_of(2)).times, 0);
    });
}

}  // namespace
}  // namespace callsign
