// Store contract: chains of versions, plain and sealed.

#include "store_contract.hpp"

#include <callsign/ports/tables/accounts.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/forks.hpp>
#include <callsign/rules/rows/sealed.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <algorithm>
#include <gtest/gtest.h>

namespace callsign {
namespace {

using namespace testing;

TEST_P(store_contract, the_chain_is_one_line) {
    const auto account = make_account();
    for (int n = 1; n <= 5; ++n) {
        write([&](write_tx& tx) {
            const operation set{operation_kind::update, uuid_of(7), "status",
                                "done " + std::to_string(n), t0 + milliseconds{n}};
            const operation unset{operation_kind::update, uuid_of(7), "due", std::nullopt,
                                  t0 + milliseconds{n}};
            const operation other{operation_kind::remove, uuid_of(8), {}, {}, {}};
            const std::vector<operation> all{set, unset, other};
            EXPECT_EQ(versions::append(tx, account, uuid_of(n), t0, all), n);
        });
        if (GetParam().durable) reopen();
    }
    const auto tx = store_->begin_read();
    const auto chain = versions::some(*tx, account, 0, 100);
    ASSERT_EQ(chain.size(), 5u);
    uuid parent{};
    for (int n = 1; n <= 5; ++n) {
        const auto& v = chain[static_cast<std::size_t>(n - 1)];
        EXPECT_EQ(v.seq, n);
        EXPECT_EQ(v.id, uuid_of(n));
        EXPECT_EQ(v.parent, parent);
        parent = v.id;
        ASSERT_EQ(v.operations.size(), 3u);
        EXPECT_EQ(v.operations[0].value, "done " + std::to_string(n));
        EXPECT_EQ(v.operations[0].at, t0 + milliseconds{n});
        EXPECT_EQ(v.operations[1].property, "due");
        EXPECT_FALSE(v.operations[1].value);
        EXPECT_EQ(v.operations[2].kind, operation_kind::remove);
        EXPECT_EQ(v.operations[2].uuid, uuid_of(8));
    }
    EXPECT_EQ(versions::some(*tx, account, 3, 1).front().seq, 4);
}

TEST_P(store_contract, an_edit_keeps_its_time_to_the_nanosecond) {
    const auto account = make_account();
    const precise_time at = t0 + std::chrono::nanoseconds{943'615'792};
    const std::chrono::nanoseconds one{1};
    std::vector<operation> all;
    for (const precise_time each : {at, at, at + one, precise_time{t0}, precise_time{-one}}) {
        all.push_back({operation_kind::update, uuid_of(7), "due", std::nullopt, each});
    }
    write([&](write_tx& tx) { versions::append(tx, account, uuid_of(1), t0, all); });
    if (GetParam().durable) reopen();
    EXPECT_EQ(versions::some(*store_->begin_read(), account, 0, 1).front().operations, all);
}

// ---- chains with devices ----

TEST_P(store_contract, a_version_is_found_by_its_id) {
    const auto id = make_account();
    write([&](write_tx& tx) {
        versions::append(tx, id, uuid_of(1), t0, {});
        versions::append(tx, id, uuid_of(2), t0, {});
        EXPECT_EQ(versions::find_seq(tx, id, uuid_of(2)), 2);
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    EXPECT_EQ(versions::find_seq(*tx, id, uuid_of(1)), 1);
    EXPECT_FALSE(versions::find_seq(*tx, id, uuid_of(3)));
    EXPECT_FALSE(versions::find_seq(*tx, id, uuid{}));
    EXPECT_FALSE(versions::find_seq(*tx, account_id{id.value + 1}, uuid_of(1)));
}

constexpr forks::bounds keep_all{1000, 1'000'000};

fork_version beside(const uuid& id, std::int64_t own, time_point at = t0) {
    return {{id, 0, at}, {{own}, {}}};
}

TEST_P(store_contract, fork_versions_are_kept_for_a_while) {
    const auto id = make_account();
    fork_version full = beside(uuid_of(11), 2);
    full.own = {2, 4};
    full.dropped = {{1, 0}, {1, 1}, {1, 7}, {3, 0}};
    write([&](write_tx& tx) {
        for (int n = 1; n <= 4; ++n) versions::append(tx, id, uuid_of(n), t0, {});
        forks::put(tx, id, full, keep_all);
        forks::put(tx, id, beside(uuid_of(12), 1, t0 + milliseconds{10}), keep_all);
    });
    if (GetParam().durable) reopen();
    const auto found = forks::find(*store_->begin_read(), id, uuid_of(11));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->id, uuid_of(11));
    EXPECT_EQ(found->left_at, 0);
    EXPECT_EQ(found->created_at, t0);
    EXPECT_EQ(found->own, full.own);
    EXPECT_EQ(found->dropped, full.dropped);
    EXPECT_EQ(found->back, uuid_of(4));
    const auto other = forks::find(*store_->begin_read(), id, uuid_of(12));
    EXPECT_EQ(other->dropped, std::vector<chain_position>{});
    EXPECT_EQ(other->back, uuid_of(1));
    EXPECT_FALSE(forks::find(*store_->begin_read(), id, uuid_of(1)));
    EXPECT_FALSE(forks::find(*store_->begin_read(), account_id{id.value + 1}, uuid_of(11)));
    write([&](write_tx& tx) {
        EXPECT_EQ(forks::forget_before(tx, t0, 10), 0);
        EXPECT_EQ(forks::forget_before(tx, t0 + milliseconds{10}, 10), 1);
        EXPECT_FALSE(forks::find(tx, id, uuid_of(11)));
        EXPECT_TRUE(forks::find(tx, id, uuid_of(12)));
        forks::put(tx, id, beside(uuid_of(13), 1), keep_all);
        EXPECT_EQ(forks::forget_before(tx, t0 + milliseconds{20}, 1), 1);
        EXPECT_TRUE(forks::find(tx, id, uuid_of(13)));
        forks::forget(tx, id, uuid_of(13));
        EXPECT_FALSE(forks::find(tx, id, uuid_of(13)));
    });
}

// Limits per account: the oldest fork versions are removed, and the newest always stays.
TEST_P(store_contract, fork_versions_stay_within_their_limits) {
    const auto id = make_account();
    const auto other = make_account("other");
    const auto put = [&](account_id account, int n, const forks::bounds& keep,
                         std::size_t dropped = 0) {
        fork_version side = beside(uuid_of(100 + n), 2);
        for (std::size_t i = 0; i < dropped; ++i) side.dropped.push_back({1, i});
        write([&](write_tx& tx) { forks::put(tx, account, side, keep); });
        return static_cast<std::int64_t>(size_of(side));
    };
    const auto kept = [&](account_id account) {
        std::vector<int> all;
        for (int n = 0; n < 100; ++n) {
            if (forks::find(*store_->begin_read(), account, uuid_of(100 + n))) all.push_back(n);
        }
        return all;
    };
    using numbers = std::vector<int>;
    write([&](write_tx& tx) {
        for (const account_id account : {id, other}) {
            versions::append(tx, account, uuid_of(static_cast<int>(account.value)), t0, {});
            versions::append(tx, account, uuid_of(50 + static_cast<int>(account.value)), t0, {});
        }
    });
    put(other, 99, keep_all);
    for (int n = 0; n < 5; ++n) put(id, n, {3, 1'000'000});
    EXPECT_EQ(kept(id), (numbers{2, 3, 4}));
    const std::int64_t each = put(id, 5, keep_all);
    EXPECT_EQ(kept(id), (numbers{2, 3, 4, 5}));
    put(id, 6, {100, 3 * each});
    EXPECT_EQ(kept(id), (numbers{4, 5, 6}));
    put(id, 7, {100, 3 * each - 1});
    EXPECT_EQ(kept(id), (numbers{6, 7}));
    if (GetParam().durable) reopen();
    put(id, 8, {100, 3 * each}, 1000);
    EXPECT_EQ(kept(id), (numbers{8}));
    put(id, 9, keep_all);
    EXPECT_EQ(kept(id), (numbers{8, 9}));
    EXPECT_EQ(kept(other), (numbers{99}));
}

TEST_P(store_contract, a_chain_is_shown_a_version_at_a_time) {
    const auto one = make_account("one");
    const auto two = make_account("two");
    write([&](write_tx& tx) {
        for (int n = 1; n <= 3; ++n) {
            make_task(tx, one, n);
            make_task(tx, two, n);
        }
    });
    const auto tx = store_->begin_read();
    std::vector<std::int64_t> seqs;
    uuid parent{};
    versions::visit(*tx, one, 0, [&](const version& v) {
        seqs.push_back(v.seq);
        EXPECT_EQ(v.parent, std::exchange(parent, v.id));
        // Other queries may run in between.
        EXPECT_TRUE(tasks::find(*tx, one, v.operations.front().uuid));
        EXPECT_EQ(versions::some(*tx, one, v.seq - 1, 1).front().id, v.id);
    });
    EXPECT_EQ(seqs, (std::vector<std::int64_t>{1, 2, 3}));
    seqs.clear();
    versions::visit(*tx, two, 2, [&](const version& v) { seqs.push_back(v.seq); });
    EXPECT_EQ(seqs, (std::vector<std::int64_t>{3}));
    EXPECT_THROW(versions::visit(*tx, one, 0, [](const version&) { throw 1; }), int);
    int after = 0;
    versions::visit(*tx, one, 0, [&](const version&) { ++after; });
    EXPECT_EQ(after, 3);
}

TEST_P(store_contract, fork_versions_say_where_they_lead) {
    const auto one = make_account("one");
    const auto two = make_account("two");
    write([&](write_tx& tx) {
        for (const account_id account : {one, two}) {
            for (int n = 1; n <= 3; ++n) versions::append(tx, account, uuid_of(n), t0, {});
        }
        forks::put(tx, two, beside(uuid_of(11), 3), keep_all);
        forks::put(tx, one, beside(uuid_of(11), 2), keep_all);
        forks::put(tx, one, beside(uuid_of(10), 1), keep_all);
    });
    const auto tx = store_->begin_read();
    const auto all = forks::returns(*tx, {}, 10);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].id, uuid_of(10));
    EXPECT_EQ(all[0].seq, 1);
    EXPECT_EQ(all[1].account, one);
    EXPECT_EQ(all[1].seq, 2);
    EXPECT_EQ(all[2].account, two);
    EXPECT_EQ(all[2].seq, 3);
    EXPECT_EQ(forks::returns(*tx, all[0], 1).front().account, one);
    EXPECT_EQ(forks::returns(*tx, all[1], 10).size(), 1u);
    EXPECT_TRUE(forks::returns(*tx, all[2], 10).empty());
}

// ---- sealed chains ----

TEST_P(store_contract, a_managed_account_is_what_it_was) {
    const auto id = make_account();
    EXPECT_EQ(accounts::find(*store_->begin_read(), id)->mode, account_mode::managed);
}

TEST_P(store_contract, sealed_versions_follow_each_other) {
    const auto id = write([](write_tx& tx) {
        const auto made = put_opaque(tx, "sealed", client_a);
        EXPECT_EQ(sealed::append(tx, made, uuid_of(1), uuid_of(50), t0, "one"), 1);
        EXPECT_EQ(accounts::head_of(tx, made).version, uuid_of(1));
        EXPECT_EQ(sealed::find_link(tx, made, uuid_of(50))->seq, 1);
        return made;
    });
    const std::string bytes("\0\xFF two", 6);
    write([&](write_tx& tx) {
        EXPECT_EQ(sealed::append(tx, id, uuid_of(2), uuid_of(1), t0 + milliseconds{5}, bytes), 2);
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    EXPECT_EQ(accounts::head_of(*tx, id).seq, 2);
    EXPECT_EQ(accounts::head_of(*tx, id).version, uuid_of(2));
    EXPECT_EQ(accounts::find(*tx, id)->head.seq, 2);
    EXPECT_EQ(sealed::find_child(*tx, id, uuid_of(50))->segment, "one");
    const auto second = sealed::find_child(*tx, id, uuid_of(1));
    ASSERT_TRUE(second);
    EXPECT_EQ(second->seq, 2);
    EXPECT_EQ(second->id, uuid_of(2));
    EXPECT_EQ(second->parent, uuid_of(1));
    EXPECT_EQ(second->created_at, t0 + milliseconds{5});
    EXPECT_EQ(second->segment, bytes);
    EXPECT_EQ(sealed::find_link(*tx, id, uuid_of(1))->bytes, bytes.size());
    EXPECT_EQ(sealed::find_link(*tx, id, uuid_of(1))->id, uuid_of(2));
    EXPECT_FALSE(sealed::find_child(*tx, id, uuid_of(2)));
    EXPECT_FALSE(sealed::find_link(*tx, id, uuid_of(2)));
    EXPECT_EQ(store_->totals()->last_moment, t0 + milliseconds{5});
}

TEST_P(store_contract, two_accounts_may_hold_the_same_versions) {
    write([](write_tx& tx) {
        const auto a = put_opaque(tx, "a", client_a);
        const auto b = put_opaque(tx, "b", client_b);
        sealed::append(tx, a, uuid_of(1), uuid{}, t0, "of a");
        sealed::append(tx, b, uuid_of(1), uuid{}, t0, "of b");
        EXPECT_EQ(sealed::find_child(tx, a, uuid{})->segment, "of a");
        EXPECT_EQ(sealed::find_child(tx, b, uuid{})->segment, "of b");
    });
}

// Stores may count bytes differently; they must count all of them, and nothing twice.
TEST_P(store_contract, an_account_s_bytes_are_those_of_its_versions_and_its_snapshot) {
    const auto stored = [&](account_id id) {
        return accounts::find(*store_->begin_read(), id)->stored_bytes;
    };
    const auto managed = make_account("managed");
    const std::vector<operation> some{{operation_kind::create, uuid_of(1), {}, {}, {}}};
    const auto add = [&](const uuid& id) {
        return write([&](write_tx& tx) {
            const auto before = tx.expect<accounts_by_id>(managed)->stored_bytes;
            versions::append(tx, managed, id, t0, some);
            return tx.expect<accounts_by_id>(managed)->stored_bytes - before;
        });
    };
    const std::int64_t one = add(uuid_of(901));
    EXPECT_GT(one, 0);
    EXPECT_EQ(stored(managed), one);
    EXPECT_EQ(add(uuid_of(902)), one);
    EXPECT_EQ(stored(managed), 2 * one);
    {
        const auto tx = store_->begin_write();
        versions::append(*tx, managed, uuid_of(903), t0, some);
    }
    EXPECT_EQ(write([&](write_tx& tx) { return tx.expect<accounts_by_id>(managed)->stored_bytes; }),
              2 * one);

    const auto sealed = write([](write_tx& tx) {
        const auto id = accounts::put(tx, "sealed", t0, account_mode::opaque);
        sealed::append(tx, id, uuid_of(1), {}, t0, "segment");
        snapshots::put(tx, id, {uuid_of(1), 1, 1, t0}, t0, "snapshot");
        return id;
    });
    EXPECT_EQ(stored(sealed), 15);
    write([&](write_tx& tx) { snapshots::put(tx, sealed, {uuid_of(1), 1, 1, t0}, t0, "less"); });
    EXPECT_EQ(stored(sealed), 11);
    write([&](write_tx& tx) {
        const version v{1, uuid_of(1), {}, t0, some};
        versions::take_over(tx, sealed, v);
        EXPECT_EQ(tx.expect<accounts_by_id>(sealed)->stored_bytes, one + 11);
        versions::drop(tx, sealed, v.id);
        EXPECT_EQ(tx.expect<accounts_by_id>(sealed)->stored_bytes, 11);
        versions::take_over(tx, sealed, v);
        accounts::become_managed(tx, sealed, {1, uuid_of(1)});
        EXPECT_EQ(tx.expect<accounts_by_id>(sealed)->stored_bytes, one + 11);
        EXPECT_EQ(sealed::remove(tx, sealed, {}), 7u);
        EXPECT_EQ(sealed::remove(tx, sealed, {}), 0u);
        snapshots::remove(tx, sealed);
    });
    EXPECT_EQ(stored(sealed), one);
    EXPECT_EQ(stored(managed), 2 * one);
}

TEST_P(store_contract, the_newest_snapshot_takes_the_place_of_the_one_before) {
    const auto id = write([](write_tx& tx) {
        const auto made = put_opaque(tx, "sealed", client_a);
        EXPECT_FALSE(snapshots::find_mark(tx, made));
        EXPECT_FALSE(snapshots::find(tx, made));
        EXPECT_EQ(snapshots::size_of(tx, made), 0u);
        sealed::append(tx, made, uuid_of(1), uuid{}, t0, "one");
        snapshots::put(tx, made, {uuid_of(1), 1, 1, t0}, t0, "old");
        EXPECT_EQ(snapshots::find(tx, made)->bytes, "old");
        return made;
    });
    const std::string bytes(100'000, 's');
    write([&](write_tx& tx) {
        sealed::append(tx, id, uuid_of(2), uuid_of(1), t0, "two");
        snapshots::put(tx, id, {uuid_of(2), 2, 7, t0 - milliseconds{9}}, t0, bytes);
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    const auto mark = snapshots::find_mark(*tx, id);
    ASSERT_TRUE(mark);
    EXPECT_EQ(mark->version, uuid_of(2));
    EXPECT_EQ(mark->seq, 2);
    EXPECT_EQ(mark->taken_seq, 7);
    EXPECT_EQ(mark->taken_at, t0 - milliseconds{9});
    EXPECT_EQ(snapshots::find(*tx, id)->bytes, bytes);
    EXPECT_EQ(snapshots::size_of(*tx, id), bytes.size());
}

TEST_P(store_contract, a_dropped_transaction_leaves_no_trace_in_a_sealed_chain) {
    const auto id = write([](write_tx& tx) { return put_opaque(tx, "sealed", client_a); });
    {
        const auto tx = store_->begin_write();
        sealed::append(*tx, id, uuid_of(1), uuid{}, t0, "lost");
        snapshots::put(*tx, id, {uuid_of(1), 1, 1, t0}, t0, "lost");
        put_opaque(*tx, "other", client_b);
    }
    write([&](write_tx& tx) {
        EXPECT_EQ(accounts::head_of(tx, id).seq, 0);
        EXPECT_FALSE(sealed::find_child(tx, id, uuid{}));
        EXPECT_FALSE(snapshots::find_mark(tx, id));
        EXPECT_FALSE(devices::find(tx, client_b));
        EXPECT_EQ(sealed::append(tx, id, uuid_of(2), uuid_of(9), t0, "kept"), 1);
    });
}

TEST_P(store_contract, the_links_of_sealed_chains_are_listed) {
    const auto [a, b] = write([](write_tx& tx) {
        const auto first = put_opaque(tx, "a", client_a);
        const auto second = put_opaque(tx, "b", client_b);
        for (int n = 1; n <= 3; ++n) {
            sealed::append(tx, first, uuid_of(n), uuid_of(n - 1), t0, "segment");
            sealed::append(tx, second, uuid_of(n), uuid_of(n - 1), t0, "segment");
        }
        return std::pair(first, second);
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    std::vector<sealed_link> of_b;
    std::int64_t place = 0, seen = 0;
    for (;;) {
        const auto some = sealed::links(*tx, place, 2);
        for (const sealed_link& link : some) {
            EXPECT_GT(link.place, place);
            place = link.place;
            ++seen;
            if (link.account == b) of_b.push_back(link);
        }
        if (some.size() < 2) break;
    }
    EXPECT_EQ(seen, 6);
    ASSERT_EQ(of_b.size(), 3u);
    std::ranges::sort(of_b, {}, &sealed_link::seq);
    for (int n = 1; n <= 3; ++n) {
        const auto& link = of_b[static_cast<std::size_t>(n - 1)];
        EXPECT_EQ(link.seq, n);
        EXPECT_EQ(link.id, uuid_of(n));
        EXPECT_EQ(link.parent, uuid_of(n - 1));
    }
}

}  // namespace
}  // namespace callsign
