// Store contract, run on each store: transactions, and accounts from creation to removal. The other
// files of this folder test what accounts contain. Implementation details of one store (files,
// locks, indexes) are tested in tests/unit/store.

#include "store_contract.hpp"

#include "support/postgres.hpp"
#include "support/virtual_clock.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/forks.hpp>
#include <callsign/rules/rows/numbers.hpp>
#include <callsign/rules/rows/removal.hpp>
#include <callsign/rules/rows/sealed.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/slots.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/tokens.hpp>
#include <callsign/rules/rows/versions.hpp>
#include <callsign/store/memory.hpp>
#include <callsign/store/sqlite.hpp>

#include <future>
#include <gtest/gtest.h>
#include <map>
#include <span>

namespace callsign {
namespace {

using namespace testing;

TEST_P(store_contract, an_empty_store_has_nothing) {
    const auto tx = store_->begin_read();
    EXPECT_TRUE(accounts::all(*tx).empty());
    EXPECT_FALSE(accounts::find(*tx, "home"));
    EXPECT_TRUE(slots::some(*tx, slot_id{}, 10, std::nullopt, std::nullopt).empty());
    EXPECT_EQ(store_->totals()->last_moment, time_point{});
}

TEST_P(store_contract, what_is_committed_is_found_again) {
    const auto account = make_account();
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    const auto found = accounts::find(*tx, "home");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->id, account);
    EXPECT_EQ(accounts::shown(*tx, *found).default_prefix, "TASK");
    EXPECT_EQ(found->created_at, t0);
    EXPECT_EQ(found->head.seq, 0);
    EXPECT_EQ(accounts::find(*tx, account)->name, "home");
    EXPECT_EQ(store_->totals()->last_moment, t0);
}

// The wall clock may have been set back.
TEST_P(store_contract, a_row_of_an_earlier_instant_does_not_turn_the_clock_back) {
    make_account();
    const time_point latest = t0 + milliseconds{5};
    write([&](write_tx& tx) {
        accounts::put(tx, "late", latest);
        accounts::put(tx, "early", t0);
    });
    EXPECT_EQ(store_->totals()->last_moment, latest);
    write([&](write_tx& tx) { accounts::put(tx, "earlier", t0 + milliseconds{1}); });
    EXPECT_EQ(store_->totals()->last_moment, latest);
}

TEST_P(store_contract, a_dropped_transaction_leaves_no_trace) {
    const auto account = make_account();
    account_id other;
    {
        const auto tx = store_->begin_write();
        slots::put(*tx, new_slot(account, "lost", 1));
        numbers::take(*tx, all_series::default_of(*tx, account)->id, "");
        make_task(*tx, account, 2);
        other = accounts::put(*tx, "other", t0);
        all_series::put(*tx, other, "TASK", "", true, t0);
        all_series::put(*tx, account, "OPS", "", false, t0);
        // Reads them, so that they may be cached.
        EXPECT_TRUE(all_series::default_of(*tx, other));
        EXPECT_TRUE(all_series::find(*tx, account, "OPS"));
    }
    EXPECT_EQ(store_->totals()->slots.pending, 0);
    write([&](write_tx& tx) {
        EXPECT_FALSE(slots::find(tx, account, "lost"));
        EXPECT_FALSE(accounts::find(tx, "other"));
        EXPECT_FALSE(all_series::default_of(tx, other));
        EXPECT_FALSE(all_series::find(tx, account, "OPS"));
        EXPECT_FALSE(tasks::find(tx, account, uuid_of(2)));
        EXPECT_EQ(numbers::take(tx, all_series::default_of(tx, account)->id, ""), 1);
        EXPECT_EQ(versions::append(tx, account, uuid_of(3), t0, {}), 1);
    });
}

TEST_P(store_contract, a_transaction_sees_its_own_writes) {
    const auto account = make_account();
    const auto tx = store_->begin_write();
    const auto id = slots::put(*tx, new_slot(account, "k", 1));
    ASSERT_TRUE(slots::find(*tx, account, "k"));
    EXPECT_EQ(slots::find(*tx, account, "k")->id, id);
    make_task(*tx, account, 1);
    EXPECT_EQ(accounts::find(*tx, account)->head.seq, 1);
    EXPECT_TRUE(tasks::find(*tx, account, uuid_of(1)));
    EXPECT_EQ(versions::some(*tx, account, 0, 10).size(), 1u);
    tx->commit();
}

TEST_P(store_contract, a_reader_sees_one_committed_state) {
    const auto account = make_account();
    const auto before = store_->begin_read();
    EXPECT_EQ(slots::some(*before, slot_id{}, 10, {}, {}).size(), 0u);
    {
        const auto tx = store_->begin_write();
        slots::put(*tx, new_slot(account, "k", 1));
        const auto during = store_->begin_read();
        EXPECT_EQ(slots::some(*during, slot_id{}, 10, {}, {}).size(), 0u);
        tx->commit();
    }
    EXPECT_EQ(slots::some(*before, slot_id{}, 10, {}, {}).size(), 0u);
    auto elsewhere = std::async(std::launch::async, [&] {
        return slots::some(*store_->begin_read(), slot_id{}, 10, {}, {}).size();
    });
    EXPECT_EQ(elsewhere.get(), 1u);
}

// Work counts rows read and written, not commands, and so ends a batch.
TEST_P(store_contract, work_is_what_was_read_and_written) {
    const auto account = make_account();
    constexpr std::size_t bytes = 100'000;
    write([&](write_tx& tx) {
        make_task(tx, account, 1);
        EXPECT_LT(tx.work_done(), bytes / 10);
    });
    write([&](write_tx& tx) {
        const auto before = tasks::find(tx, account, uuid_of(1));
        std::size_t done = tx.work_done();
        const auto took = [&] { return tx.work_done() - std::exchange(done, tx.work_done()); };
        attributes large = before->attributes;
        large["note"] = std::string(bytes, 'x');
        tasks::update(tx, *before, large, false, before->last_seq, t0);
        EXPECT_GE(took(), bytes);
        const operation o{operation_kind::update, uuid_of(1), "note", std::string(bytes, 'y'), t0};
        versions::append(tx, account, uuid_of(900), t0, {o});
        EXPECT_GE(took(), bytes);
    });
    write([&](write_tx& tx) {
        EXPECT_LT(tx.work_done(), bytes / 10);
        tasks::find_head(tx, account, uuid_of(1));
        EXPECT_LT(tx.work_done(), bytes / 10);
        tasks::find(tx, account, uuid_of(1));
        EXPECT_GE(tx.work_done(), bytes);
    });
}

TEST_P(store_contract, a_write_test_changes_nothing) {
    const auto account = make_account();
    const auto before = store_->totals()->slots;
    const auto moment = store_->totals()->last_moment;
    auto* const its = store_->embedded();
    for (int i = 0; its && i < 3; ++i) its->prove_writable();
    if (GetParam().durable) reopen();
    EXPECT_EQ(store_->totals()->slots.pending, before.pending);
    EXPECT_EQ(store_->totals()->last_moment, moment);
    const auto slot =
        write([&](write_tx& tx) { return slots::put(tx, new_slot(account, "k", 1)); });
    EXPECT_TRUE(write([&](write_tx& tx) { return slots::find(tx, slot); }));
}

TEST_P(store_contract, totals_are_exact_and_survive) {
    const auto expect = [&](store_totals wanted) {
        for (const bool again : {false, GetParam().durable}) {
            if (again) reopen();
            const store_totals now = *store_->totals();
            EXPECT_EQ(now.accounts, wanted.accounts);
            EXPECT_EQ(now.tasks, wanted.tasks);
            EXPECT_EQ(now.open_tasks, wanted.open_tasks);
            EXPECT_EQ(now.held_series, wanted.held_series);
        }
    };
    expect({});
    const auto account = make_account();
    make_account("other");
    expect({.accounts = 2});
    const auto made = [&](int n, attributes all, bool purged = false) {
        return write([&](write_tx& tx) {
            const auto series = all_series::default_of(tx, account);
            task t;
            t.account = account;
            t.uuid = uuid_of(n);
            t.created_at = t0;
            t.attributes = std::move(all);
            t.purged = purged;
            t.numbered = receipt{.uuid = t.uuid,
                                 .prefix = series->prefix,
                                 .period = {},
                                 .number = numbers::take(tx, series->id, ""),
                                 .created_at = t0};
            t.id = tasks::put(tx, t, series->id);
            return t;
        });
    };
    const task open = made(1, {{"description", "open"}});
    made(2, {{"description", "done"}, {"status", "completed"}});
    const task unseen = made(3, {}, true);
    expect({.accounts = 2, .tasks = 3, .open_tasks = 1});
    write([&](write_tx& tx) {
        tasks::update(tx, open, {{"description", "open"}, {"status", "deleted"}}, false, 1, t0);
    });
    expect({.accounts = 2, .tasks = 3, .open_tasks = 0});
    write([&](write_tx& tx) { tasks::reveal(tx, unseen.id, {{"description", "seen"}}, 1, 1); });
    expect({.accounts = 2, .tasks = 3, .open_tasks = 1});
    write([&](write_tx& tx) {
        auto series = *all_series::default_of(tx, account);
        series.held = true;
        all_series::update(tx, series, t0);
    });
    expect({.accounts = 2, .tasks = 3, .open_tasks = 1, .held_series = 1});
    {
        const auto tx = store_->begin_write();
        accounts::put(*tx, "lost", t0);
        auto series = *all_series::default_of(*tx, account);
        series.held = false;
        all_series::update(*tx, series, t0);
    }
    expect({.accounts = 2, .tasks = 3, .open_tasks = 1, .held_series = 1});
}

TEST_P(store_contract, accounts_are_listed_in_pages) {
    for (const char* name : {"a", "b", "c"}) make_account(name, "ABC");
    const auto tx = store_->begin_read();
    const auto all = accounts::all(*tx);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].name, "a");
    const auto rest = accounts::some(*tx, all[0].id, 10);
    ASSERT_EQ(rest.size(), 2u);
    EXPECT_EQ(rest[0].name, "b");
    EXPECT_EQ(accounts::shown(*tx, rest[0]).default_prefix, "ABC");
    EXPECT_EQ(accounts::some(*tx, all[0].id, 1).size(), 1u);
    EXPECT_TRUE(accounts::some(*tx, all[2].id, 10).empty());
}

// Rows in every table for two accounts; one account is removed, a few rows at a time.
TEST_P(store_contract, an_account_goes_with_all_its_rows) {
    const auto fill = [&](account_id id, const uuid& client, int first) {
        write([&](write_tx& tx) {
            const auto series = *all_series::default_of(tx, id);
            for (int n = first; n < first + 20; ++n) make_task(tx, id, n);
            change(tx, id, first, {{"p", "v"}}, false, 20, t0 + milliseconds{500});
            numbers::skip(tx, series.id, "", 30);
            all_series::put(tx, id, "MORE", "project", false, t0);
            tokens::put(tx, id, "t", token_scope::write, sha256(std::to_string(first)), t0);
            devices::put(tx, {.client_id = client, .account = id, .name = "a", .sealed_key = "k"});
            forks::put(tx, id, {{uuid_of(5'000 + first), 1, t0}, {{2}, {}}}, {100, 10'000});
        });
    };
    const auto home = make_account(), other = make_account("other", "OTH");
    fill(home, client_a, 1);
    fill(other, client_b, 101);
    const auto sealed = write([](write_tx& tx) { return put_opaque(tx, "sealed", uuid_of(950)); });
    write([&](write_tx& tx) {
        sealed::append(tx, sealed, uuid_of(970), uuid{}, t0, "segment");
        snapshots::put(tx, sealed, {uuid_of(970), 1, 1, t0}, t0, "bytes");
    });
    const auto remove = [&](account_id id) {
        write([&](write_tx& tx) {
            account a = *accounts::find(tx, id);
            a.state = account_state::removing;
            a.name = "(removed)";
            a.deleted_at = t0;
            accounts::update(tx, a);
        });
        int steps = 0;
        for (std::optional<removal_place> at = removal_place{}; at; ++steps) {
            at = write([&](write_tx& tx) { return remove_rows_of(tx, id, *at, 2); });
            if (GetParam().durable) reopen();
        }
        return steps;
    };
    const int steps = remove(home);
    EXPECT_TRUE(steps > 20 || !GetParam().durable) << steps;
    remove(sealed);

    const auto tx = store_->begin_read();
    EXPECT_FALSE(accounts::find(*tx, home) || accounts::find(*tx, "home"));
    EXPECT_EQ(accounts::all(*tx).size(), 1u);
    EXPECT_FALSE(devices::find(*tx, client_a) || devices::find(*tx, uuid_of(950)));
    EXPECT_FALSE(tokens::find_principal(*tx, sha256("1")));
    EXPECT_TRUE(versions::some(*tx, home, 0, 100).empty());
    EXPECT_TRUE(all_series::of(*tx, home).empty());
    EXPECT_FALSE(sealed::find_child(*tx, sealed, uuid{}));
    for (int n = 1; n <= 20; ++n) EXPECT_FALSE(tasks::find(*tx, home, uuid_of(n)));
    EXPECT_EQ(versions::some(*tx, other, 0, 100).size(), 20u);
    EXPECT_TRUE(tokens::find_principal(*tx, sha256("101")));
    EXPECT_EQ(tasks::find(*tx, other, uuid_of(120))->numbered->number, 20);
    EXPECT_EQ(history::find_as_of(*tx, other, uuid_of(101), 19)->attributes.at("description"),
              "task 101");
    EXPECT_EQ(numbers::with_last(*tx, *all_series::default_of(*tx, other)).last_number, 30);
    // Cached data of the removed account does not leak into a new one.
    const auto again = make_account("home");
    write([&](write_tx& w) {
        EXPECT_EQ(numbers::with_last(w, *all_series::default_of(w, again)).last_number, 0);
        EXPECT_EQ(numbers::take(w, all_series::default_of(w, again)->id, ""), 1);
    });
}

std::unique_ptr<store> open_memory(const temp_dir&) {
    return make_memory_store();
}

std::unique_ptr<store> open_small_sqlite(const temp_dir& dir) {
    // Limits so small that every test exceeds them.
    sqlite_options options;
    options.data_dir = dir.path();
    options.recent_keys_max = 4;
    options.buffered_entries_max = 4;
    options.key_filter_bytes_max = 1024;
    options.wal_pages_max = 16;
    options.moved_pages_max = 4;
    return open_sqlite(options);
}

std::unique_ptr<store> open_small_postgres(const temp_dir& dir) {
    static virtual_clock clock;
    static std::map<std::filesystem::path, std::size_t> schemas;
    const auto number = schemas.try_emplace(dir.path(), schemas.size()).first->second;
    const std::string schema = "contract_" + std::to_string(number);
    return open_postgres_now(schema, clock, {.url = {}, .server = {}, .pending_window = 2});
}

INSTANTIATE_TEST_SUITE_P(stores, store_contract,
                         ::testing::Values(backend{"memory", false, open_memory},
                                           backend{"sqlite", true, open_small_sqlite},
                                           backend{"postgres", true, open_small_postgres}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace callsign
