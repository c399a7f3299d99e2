// Store contract: task history, and accounts converted from opaque to managed.

#include "store_contract.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/numbers.hpp>
#include <callsign/rules/rows/purges.hpp>
#include <callsign/rules/rows/sealed.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/tokens.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <random>

namespace callsign {
namespace {

using namespace testing;

TEST_P(store_contract, a_task_is_found_as_it_stood) {
    const auto account = make_account();
    write([&](write_tx& tx) { make_task(tx, account, 1); });
    std::map<std::int64_t, std::optional<attributes>> stood;  // nullopt: purged
    stood[1] = tasks::find(*store_->begin_read(), account, uuid_of(1))->attributes;
    // Small and large changes, attributes that are added and removed, a purge and a second
    // creation.
    std::mt19937 draw(1);
    for (std::int64_t seq = 3; seq < 400; seq += 1 + draw() % 3) {
        auto now = stood.rbegin()->second.value_or(attributes{});
        for (auto changes = draw() % 4; changes > 0; --changes) {
            const std::string name = "name_" + std::to_string(draw() % 12);
            if (draw() % 3 == 0) {
                now.erase(name);
            } else {
                now[name] =
                    std::string(draw() % (draw() % 8 == 0 ? 9000 : 40), 'x') + std::to_string(seq);
            }
        }
        const bool purged = draw() % 20 == 0;
        if (purged) now.clear();
        stood[seq] = purged ? std::nullopt : std::optional(now);
        write([&](write_tx& tx) { change(tx, account, 1, now, purged, seq); });
    }
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    EXPECT_EQ(accounts::history_from(*tx, account), 0);
    EXPECT_FALSE(history::find_as_of(*tx, account, uuid_of(1), 0));
    EXPECT_FALSE(history::find_as_of(*tx, account, uuid_of(2), 400));
    for (std::int64_t seq = 1; seq < 420; ++seq) {
        const auto& [made, expected] = *std::prev(stood.upper_bound(seq));
        const auto found = history::find_as_of(*tx, account, uuid_of(1), seq);
        ASSERT_TRUE(found) << seq;
        EXPECT_EQ(found->last_seq, made) << seq;
        EXPECT_EQ(found->purged, !expected) << seq;
        EXPECT_EQ(found->attributes, expected.value_or(attributes{})) << seq;
        EXPECT_EQ(found->numbered->number, 1);
    }
}

TEST_P(store_contract, what_a_purged_task_was_can_be_removed) {
    const auto account = make_account(), other = make_account("other", "OTH");
    const auto text = [](int n) { return attributes{{"description", std::to_string(n)}}; };
    const operation said{operation_kind::update, uuid_of(1), "description", "text", t0};
    operation scrubbed = said;
    scrub(scrubbed);
    const task_id id = write([&](write_tx& tx) {
        for (const account_id to : {account, other}) {
            make_task(tx, to, 1);
            for (int seq = 2; seq <= 4; ++seq) {
                versions::append(tx, to, uuid_of(2000 + seq), t0, {said});
                change(tx, to, 1, seq == 4 ? attributes{} : text(seq), seq == 4, seq);
            }
            for (const int through : {1, 4, 2}) purges::put(tx, {to, uuid_of(1), through});
        }
        purges::put(tx, {account, uuid_of(2), 1});
        return tasks::find(tx, account, uuid_of(1))->id;
    });
    const auto purges = [&](account_id after, std::int64_t limit) {
        std::vector<std::pair<account_id, std::int64_t>> all;
        for (const purge& p : purges::of_next(*store_->begin_read(), after, limit)) {
            all.emplace_back(p.account, p.through);
        }
        return all;
    };
    using rows = decltype(purges({}, 0));
    if (GetParam().durable) reopen();
    EXPECT_EQ(purges({}, 10), (rows{{account, 4}, {account, 1}}));
    EXPECT_EQ(purges({}, 1), (rows{{account, 4}}));
    EXPECT_EQ(purges(account, 10), (rows{{other, 4}}));
    write([&](write_tx& tx) {
        purges::remove(tx, {account, uuid_of(1), 3});  // a later purge stays
        purges::remove(tx, {account, uuid_of(2), 1});
        purges::remove(tx, {account, uuid_of(3), 1});
    });
    EXPECT_EQ(purges({}, 10), (rows{{account, 4}}));

    const auto stored = [&](account_id of) {
        return accounts::find(*store_->begin_read(), of)->stored_bytes;
    };
    const auto before = stored(account);
    const auto scrub = [&](std::size_t work) {
        return write([&](write_tx& tx) {
            versions::scrub(tx, account, uuid_of(2003), {scrubbed});
            return history::scrub(tx, id, 4, work);
        });
    };
    EXPECT_FALSE(scrub(1));
    EXPECT_FALSE(scrub(1));
    EXPECT_TRUE(scrub(1));
    EXPECT_TRUE(scrub(0));
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    EXPECT_LT(stored(account), before);
    EXPECT_EQ(stored(other), before);
    for (int seq = 1; seq <= 4; ++seq) {
        const auto found = history::find_as_of(*tx, account, uuid_of(1), seq);
        ASSERT_TRUE(found) << seq;
        EXPECT_TRUE(found->purged) << seq;
        EXPECT_TRUE(found->attributes.empty()) << seq;
        EXPECT_EQ(history::find_as_of(*tx, other, uuid_of(1), seq)->purged, seq == 4);
        for (const account_id of : {account, other}) {
            const auto v = versions::some(*tx, of, seq - 1, 1).front();
            EXPECT_EQ(v.seq, seq);
            if (seq == 1) continue;
            const bool is_gone = of == account && seq == 3;
            EXPECT_EQ(v.operations, (std::vector{is_gone ? scrubbed : said}));
        }
    }
}

TEST_P(store_contract, history_expires_from_its_beginning) {
    const auto one = make_account(), two = make_account("two", "TWO");
    write([&](write_tx& tx) {
        make_task(tx, one, 1);
        make_task(tx, two, 1);
    });
    const auto at = [](int second) { return t0 + std::chrono::seconds{second}; };
    const auto text = [](int n) { return attributes{{"description", std::to_string(n)}}; };
    // States of account one end at seconds 2, 4, 6 and 8; the only one of account two at 5.
    for (int n = 2; n <= 8; n += 2) {
        write([&](write_tx& tx) { change(tx, one, 1, text(n), false, n, at(n)); });
        if (n == 4) write([&](write_tx& tx) { change(tx, two, 1, text(5), false, 5, at(5)); });
    }
    const auto forget = [&](time_point before, std::int64_t limit) {
        return write([&](write_tx& tx) { return history::forget(tx, before, limit); });
    };
    const auto begins = [&](account_id account) {
        return accounts::history_from(*store_->begin_read(), account);
    };
    EXPECT_FALSE(forget(at(2), 10));
    EXPECT_EQ(begins(one), 0);
    EXPECT_TRUE(forget(at(6), 2));
    EXPECT_EQ(begins(one), 2);
    EXPECT_EQ(begins(two), 0);
    if (GetParam().durable) reopen();
    EXPECT_FALSE(forget(at(6), 2));
    EXPECT_EQ(begins(one), 2);
    EXPECT_EQ(begins(two), 1);
    EXPECT_FALSE(forget(at(6), 2));
    const auto tx = store_->begin_read();
    EXPECT_FALSE(history::find_as_of(*tx, one, uuid_of(1), 3));
    EXPECT_EQ(history::find_as_of(*tx, one, uuid_of(1), 5)->attributes, text(4));
    EXPECT_EQ(history::find_as_of(*tx, one, uuid_of(1), 7)->attributes, text(6));
    EXPECT_EQ(history::find_as_of(*tx, two, uuid_of(1), 5)->attributes, text(5));
}

TEST_P(store_contract, a_dropped_transaction_leaves_no_history) {
    const auto account = make_account();
    write([&](write_tx& tx) { make_task(tx, account, 1); });
    {
        const auto tx = store_->begin_write();
        change(*tx, account, 1, {{"a", "b"}}, false, 2);
    }
    write([&](write_tx& tx) { change(tx, account, 1, {{"c", "d"}}, false, 3); });
    const auto tx = store_->begin_read();
    EXPECT_EQ(history::find_as_of(*tx, account, uuid_of(1), 2)->last_seq, 1);
    EXPECT_EQ(history::find_as_of(*tx, account, uuid_of(1), 3)->attributes,
              (attributes{{"c", "d"}}));
}

// The purge of a task and its second creation start states like any other change.
TEST_P(store_contract, a_purged_task_is_found_as_it_stood) {
    const auto account = make_account(), other = make_account("other", "OTH");
    const attributes first{{"a", "1"}}, second{{"b", "2"}};
    write([&](write_tx& tx) {
        make_task(tx, account, 1);
        make_task(tx, other, 1);
        change(tx, account, 1, first, false, 2);
        change(tx, account, 1, {}, true, 3);
        change(tx, account, 1, second, false, 6);
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    const auto as_of = [&](std::int64_t seq) {
        return *history::find_as_of(*tx, account, uuid_of(1), seq);
    };
    EXPECT_EQ(as_of(2).attributes, first);
    EXPECT_FALSE(as_of(2).purged);
    for (const std::int64_t seq : {3, 4, 5}) {
        EXPECT_TRUE(as_of(seq).purged) << seq;
        EXPECT_TRUE(as_of(seq).attributes.empty()) << seq;
        EXPECT_EQ(as_of(seq).last_seq, 3) << seq;
    }
    EXPECT_EQ(as_of(6).attributes, second);
    EXPECT_EQ(as_of(7).last_seq, 6);
    // Each account has its own history.
    EXPECT_EQ(history::find_as_of(*tx, other, uuid_of(1), 3)->last_seq, 1);
}

// Write transactions see the history as read transactions do, including their own writes.
TEST_P(store_contract, history_is_seen_where_it_is_written) {
    const auto account = make_account();
    write([&](write_tx& tx) {
        make_task(tx, account, 1);
        change(tx, account, 1, {{"a", "1"}}, false, 2);
        EXPECT_EQ(history::find_as_of(tx, account, uuid_of(1), 1)->last_seq, 1);
        EXPECT_EQ(history::find_as_of(tx, account, uuid_of(1), 2)->attributes.at("a"), "1");
        EXPECT_FALSE(history::forget(tx, t0 + milliseconds{1}, 10));
        EXPECT_EQ(accounts::history_from(tx, account), 1);
        EXPECT_FALSE(history::find_as_of(tx, account, uuid_of(1), 1));
        EXPECT_TRUE(history::find_as_of(tx, account, uuid_of(1), 2));
    });
    {
        const auto dropped = store_->begin_write();
        change(*dropped, account, 1, {{"a", "2"}}, false, 3);
        history::forget(*dropped, t0 + milliseconds{1}, 10);
        EXPECT_EQ(accounts::history_from(*dropped, account), 2);
    }
    const auto tx = store_->begin_read();
    EXPECT_EQ(accounts::history_from(*tx, account), 1);
    EXPECT_EQ(history::find_as_of(*tx, account, uuid_of(1), 9)->last_seq, 2);
}

// Steps of any size remove the same history in the end: all that is old enough, and no more.
TEST_P(store_contract, history_expires_in_steps_as_in_one) {
    const auto account = make_account();
    write([&](write_tx& tx) { make_task(tx, account, 1); });
    const auto at = [](int n) { return t0 + milliseconds{n}; };
    for (int n = 2; n <= 20; ++n) {
        write([&](write_tx& tx) {
            change(tx, account, 1, {{"n", std::to_string(n)}}, false, n, at(n));
        });
    }
    std::int64_t from = 0;
    for (int steps = 0;; ++steps) {
        ASSERT_LT(steps, 20);
        const bool more = write([&](write_tx& tx) { return history::forget(tx, at(15), 2); });
        const auto now = accounts::history_from(*store_->begin_read(), account);
        EXPECT_LE(now, from + 2);
        from = now;
        if (!more) break;
    }
    // The state of version 13 ended at 14.
    EXPECT_EQ(from, 13);
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    EXPECT_EQ(accounts::history_from(*tx, account), 13);
    EXPECT_FALSE(history::find_as_of(*tx, account, uuid_of(1), 13));
    for (int n = 14; n <= 20; ++n) {
        EXPECT_EQ(history::find_as_of(*tx, account, uuid_of(1), n)->attributes.at("n"),
                  std::to_string(n));
    }
}

TEST_P(store_contract, a_version_is_found_by_its_seq) {
    const auto one = make_account("one"), two = make_account("two");
    write([&](write_tx& tx) {
        versions::append(tx, one, uuid_of(1), t0, {});
        versions::append(tx, two, uuid_of(2), t0, {});
        versions::append(tx, one, uuid_of(3), t0, {});
        EXPECT_EQ(versions::find_id(tx, one, 2), uuid_of(3));
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    EXPECT_EQ(versions::find_id(*tx, one, 1), uuid_of(1));
    EXPECT_EQ(versions::find_id(*tx, one, 2), uuid_of(3));
    EXPECT_EQ(versions::find_id(*tx, two, 1), uuid_of(2));
    EXPECT_FALSE(versions::find_id(*tx, two, 2));
    EXPECT_FALSE(versions::find_id(*tx, one, 0));
    EXPECT_FALSE(versions::find_id(*tx, account_id{two.value + 1}, 1));
}

TEST_P(store_contract, what_is_asked_while_numbers_are_walked_is_answered) {
    const auto account = make_account();
    const auto series = all_series::default_of(*store_->begin_read(), account)->id;
    write([&](write_tx& tx) {
        for (int n = 1; n <= 5; ++n) make_task(tx, account, n);
    });
    const auto tx = store_->begin_read();
    std::vector<int> seen;
    tasks::visit_numbered(*tx, {series, "", 1, false, true}, [&](task&& t) {
        const int n = static_cast<int>(t.numbered->number);
        seen.push_back(n);
        EXPECT_EQ(tasks::find(*tx, series, "", n)->uuid, t.uuid);
        EXPECT_EQ(versions::some(*tx, account, n - 1, 1).front().operations.front().uuid, t.uuid);
        EXPECT_TRUE(history::find_as_of(*tx, account, t.uuid, 5));
        return true;
    });
    EXPECT_EQ(seen, (std::vector<int>{2, 3, 4, 5}));
    const number_walk all{series, ""};
    EXPECT_THROW(tasks::visit_numbered(*tx, all, [](task&&) -> bool { throw 1; }), int);
    int after = 0;
    tasks::visit_numbered(*tx, all, [&](task&&) { return ++after < 3; });
    EXPECT_EQ(after, 3);
    tasks::visit_numbered(*tx, {series, "2026"}, [](task&&) -> bool { throw 1; });
}

TEST_P(store_contract, a_project_goes_from_one_series_to_another) {
    const auto account = make_account();
    const auto ids = write([&](write_tx& tx) {
        return std::pair(all_series::put(tx, account, "ONE", "ops", false, t0),
                         all_series::put(tx, account, "TWO", "", false, t0));
    });
    write([&](write_tx& tx) {
        series one = *all_series::find(tx, account, "ONE"),
               two = *all_series::find(tx, account, "TWO");
        EXPECT_EQ(all_series::find_for_project(tx, account, "ops")->id, ids.first);
        one.project.clear();
        one.archived = true;
        all_series::update(tx, one, t0);
        EXPECT_FALSE(all_series::find_for_project(tx, account, "ops"));
        two.project = "ops";
        all_series::update(tx, two, t0);
        EXPECT_EQ(all_series::find_for_project(tx, account, "ops")->id, ids.second);
        // Switches between current and former prefixes.
        for (const char* prefix : {"RUN", "TWO", "RUN", "NOW"}) {
            two.prefix = prefix;
            all_series::update(tx, two, t0);
        }
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    EXPECT_EQ(all_series::find_for_project(*tx, account, "ops")->id, ids.second);
    for (const char* prefix : {"TWO", "RUN", "NOW"}) {
        EXPECT_EQ(all_series::find(*tx, account, prefix)->id, ids.second) << prefix;
        EXPECT_EQ(all_series::find(*tx, account, prefix)->prefix, "NOW") << prefix;
    }
    EXPECT_TRUE(all_series::find(*tx, account, "ONE")->archived);
    EXPECT_EQ(all_series::of(*tx, account).size(), 3u);
}

// Skipped numbers belong to no task, whether they are before the first number or between two.
TEST_P(store_contract, skipped_numbers_are_not_found) {
    const auto account = make_account();
    const auto series = all_series::default_of(*store_->begin_read(), account)->id;
    write([&](write_tx& tx) {
        numbers::skip(tx, series, "", 2);
        make_task(tx, account, 1);  // 3
        numbers::skip(tx, series, "", 4);
        numbers::skip(tx, series, "", 6);
        make_task(tx, account, 2);  // 7
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    std::vector<std::int64_t> numbers;
    for (const task& t : tasks::numbered(*tx, series, "", 0, read_tx::no_limit)) {
        numbers.push_back(t.numbered->number);
    }
    EXPECT_EQ(numbers, (std::vector<std::int64_t>{3, 7}));
    EXPECT_FALSE(tasks::find(*tx, series, "", 5));
    std::int64_t skipped = 0;
    for (const numbers_skipped& gap : numbers::skipped(*tx, series)) {
        skipped += gap.last - gap.first + 1;
    }
    EXPECT_EQ(skipped, 5);
    EXPECT_EQ(numbers::given(*tx, series).front().last_number, 7);
}

// ---- an opaque account becomes managed ----

TEST_P(store_contract, the_first_of_a_sealed_chain_is_found) {
    const auto [a, b] = write([](write_tx& tx) {
        const auto first = put_opaque(tx, "a", client_a);
        const auto second = put_opaque(tx, "b", client_b);
        EXPECT_FALSE(sealed::find_first(tx, first));
        // The first version may have any parent.
        sealed::append(tx, first, uuid_of(1), uuid_of(50), t0, "one");
        sealed::append(tx, first, uuid_of(2), uuid_of(1), t0, "two");
        return std::pair(first, second);
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    const auto found = sealed::find_first(*tx, a);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->id, uuid_of(1));
    EXPECT_EQ(found->parent, uuid_of(50));
    EXPECT_EQ(found->segment, "one");
    EXPECT_FALSE(sealed::find_first(*tx, b));
}

TEST_P(store_contract, a_sealed_chain_gives_way_to_its_history) {
    const operation made{operation_kind::create, uuid_of(70), {}, {}, {}};
    const std::vector<version> history{
        {1, uuid_of(1), uuid_of(50), t0, {made}},
        {2, uuid_of(2), uuid_of(1), t0 + milliseconds{5}, {}},
    };
    const auto manage = [&](write_tx& tx, account_id id) {
        for (const version& v : history) versions::take_over(tx, id, v);
        accounts::become_managed(tx, id, {2, uuid_of(2)});
        for (const version& v : history) sealed::remove(tx, id, v.parent);
        snapshots::remove(tx, id);
        devices::assign_key(tx, devices::find(tx, client_a)->id, "laptop", "sealed key");
    };
    const auto [id, other] = write([](write_tx& tx) {
        const auto sealed = put_opaque(tx, "a", client_a);
        const auto beside = put_opaque(tx, "b", client_b);
        for (const account_id each : {sealed, beside}) {
            sealed::append(tx, each, uuid_of(1), uuid_of(50), t0, "one");
            sealed::append(tx, each, uuid_of(2), uuid_of(1), t0, "two");
            snapshots::put(tx, each, {uuid_of(2), 2, 2, t0}, t0, "snapshot");
        }
        return std::pair(sealed, beside);
    });
    {
        const auto dropped = store_->begin_write();
        manage(*dropped, id);
    }
    EXPECT_EQ(accounts::find(*store_->begin_read(), id)->mode, account_mode::opaque);
    EXPECT_EQ(sealed::find_child(*store_->begin_read(), id, uuid_of(1))->segment, "two");
    write([&](write_tx& tx) {
        manage(tx, id);
        EXPECT_EQ(accounts::head_of(tx, id).version, uuid_of(2));
        EXPECT_EQ(versions::append(tx, id, uuid_of(3), t0 + milliseconds{9}, {}), 3);
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    EXPECT_EQ(accounts::find(*tx, id)->mode, account_mode::managed);
    EXPECT_EQ(accounts::head_of(*tx, id).seq, 3);
    EXPECT_EQ(accounts::head_of(*tx, id).sealed_seq, 2);
    // The history of versions before the conversion is not retained.
    EXPECT_EQ(accounts::history_from(*tx, id), 2);
    const auto chain = versions::some(*tx, id, 0, 10);
    ASSERT_EQ(chain.size(), 3u);
    EXPECT_EQ(chain[0].parent, uuid_of(50));
    EXPECT_EQ(chain[0].operations, std::vector<operation>{made});
    EXPECT_EQ(chain[1].created_at, t0 + milliseconds{5});
    EXPECT_EQ(chain[2].parent, uuid_of(2));
    EXPECT_EQ(versions::find_seq(*tx, id, uuid_of(1)), 1);
    EXPECT_FALSE(sealed::find_child(*tx, id, uuid_of(50)));
    EXPECT_FALSE(sealed::find_first(*tx, id));
    EXPECT_FALSE(snapshots::find_mark(*tx, id));
    EXPECT_EQ(snapshots::size_of(*tx, id), 0u);
    const auto device = devices::find(*tx, client_a);
    EXPECT_EQ(device->name, "laptop");
    EXPECT_EQ(device->sealed_key, "sealed key");
    EXPECT_EQ(device->mode, account_mode::managed);
    // The other account is unchanged.
    EXPECT_EQ(accounts::find(*tx, other)->mode, account_mode::opaque);
    EXPECT_EQ(sealed::find_child(*tx, other, uuid_of(1))->segment, "two");
    EXPECT_EQ(snapshots::find(*tx, other)->bytes, "snapshot");
    EXPECT_EQ(accounts::head_of(*tx, other).sealed_seq, 0);
}

TEST_P(store_contract, a_token_is_found_by_its_id) {
    const auto account = make_account();
    write([&](write_tx& tx) {
        const auto id = tokens::put(tx, account, "laptop", token_scope::read, sha256("t"), t0);
        const auto root =
            tokens::put(tx, std::nullopt, "root", token_scope::admin, sha256("r"), t0);
        EXPECT_EQ(tokens::find(tx, id)->name, "laptop");
        EXPECT_EQ(tokens::find(tx, id)->account, account);
        EXPECT_EQ(tokens::find(tx, root)->account, std::nullopt);
        tokens::revoke(tx, id, t0 + milliseconds{3});
        EXPECT_EQ(tokens::find(tx, id)->revoked_at, t0 + milliseconds{3});
        EXPECT_FALSE(tokens::find(tx, token_id{root.value + 1}));
    });
}

}  // namespace
}  // namespace callsign
