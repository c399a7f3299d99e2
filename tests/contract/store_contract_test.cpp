// What every store must do, written once and run on each. A store's own ways (files, locks,
// indexes) are tested beside it in tests/unit/store.

#include "store_contract.hpp"

#include <callsign/rules/read.hpp>
#include <callsign/rules/rules.hpp>
#include <callsign/store/memory.hpp>
#include <callsign/store/sqlite.hpp>

#include <algorithm>
#include <future>
#include <gtest/gtest.h>
#include <map>
#include <random>

namespace callsign {
namespace {

using namespace testing;

TEST_P(store_contract, an_empty_store_has_nothing) {
    const auto tx = store_->begin_read();
    EXPECT_TRUE(tx->accounts().empty());
    EXPECT_FALSE(tx->find_account("home"));
    EXPECT_TRUE(tx->slots(slot_id{}, 10, std::nullopt, std::nullopt).empty());
    EXPECT_EQ(store_->last_moment(), time_point{});
}

TEST_P(store_contract, what_is_committed_is_found_again) {
    const auto account = make_account();
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    const auto found = tx->find_account("home");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->id, account);
    EXPECT_EQ(found->default_prefix, "TASK");
    EXPECT_EQ(found->created_at, t0);
    EXPECT_EQ(found->last_seq, 0);
    EXPECT_EQ(tx->find_account(account)->name, "home");
    EXPECT_EQ(store_->last_moment(), t0);
}

TEST_P(store_contract, a_dropped_transaction_leaves_no_trace) {
    const auto account = make_account();
    account_id other;
    {
        const auto tx = store_->begin_write();
        tx->put_slot(new_slot(account, "lost", 1));
        tx->take_number(tx->default_series(account)->id, "");
        make_task(*tx, account, 2);
        other = tx->put_account("other", t0);
        tx->put_series(other, "TASK", "", true, t0);
        tx->put_series(account, "OPS", "", false, t0);
        // Asked for, so that it may be remembered.
        EXPECT_TRUE(tx->default_series(other));
        EXPECT_TRUE(tx->find_series(account, "OPS"));
    }
    EXPECT_EQ(store_->counts().pending, 0);
    write([&](write_tx& tx) {
        EXPECT_FALSE(tx.find_slot(account, "lost"));
        EXPECT_FALSE(tx.find_account("other"));
        EXPECT_FALSE(tx.default_series(other));
        EXPECT_FALSE(tx.find_series(account, "OPS"));
        EXPECT_FALSE(tx.find_task(account, uuid_of(2)));
        EXPECT_EQ(tx.take_number(tx.default_series(account)->id, ""), 1);
        EXPECT_EQ(tx.append_version(account, uuid_of(3), t0, {}), 1);
    });
}

TEST_P(store_contract, a_transaction_sees_its_own_writes) {
    const auto account = make_account();
    const auto tx = store_->begin_write();
    const auto id = tx->put_slot(new_slot(account, "k", 1));
    ASSERT_TRUE(tx->find_slot(account, "k"));
    EXPECT_EQ(tx->find_slot(account, "k")->id, id);
    make_task(*tx, account, 1);
    EXPECT_EQ(tx->find_account(account)->last_seq, 1);
    EXPECT_TRUE(tx->find_task(account, uuid_of(1)));
    EXPECT_EQ(tx->versions(account, 0, 10).size(), 1u);
    tx->commit();
}

TEST_P(store_contract, a_reader_sees_one_committed_state) {
    const auto account = make_account();
    const auto before = store_->begin_read();
    EXPECT_EQ(before->slots(slot_id{}, 10, {}, {}).size(), 0u);
    {
        const auto tx = store_->begin_write();
        tx->put_slot(new_slot(account, "k", 1));
        const auto during = store_->begin_read();
        EXPECT_EQ(during->slots(slot_id{}, 10, {}, {}).size(), 0u);
        tx->commit();
    }
    EXPECT_EQ(before->slots(slot_id{}, 10, {}, {}).size(), 0u);
    auto elsewhere = std::async(std::launch::async, [&] {
        return store_->begin_read()->slots(slot_id{}, 10, {}, {}).size();
    });
    EXPECT_EQ(elsewhere.get(), 1u);
}

TEST_P(store_contract, slots_go_from_pending_to_an_end_and_never_back) {
    const auto account = make_account();
    const auto id = write([&](write_tx& tx) { return tx.put_slot(new_slot(account, "k", 1)); });
    write([&](write_tx& tx) { tx.count_attempt(id); });
    EXPECT_EQ(store_->counts().pending, 1);
    write([&](write_tx& tx) {
        const auto found = tx.find_slot(id);
        EXPECT_EQ(found->state, slot_state::pending);
        EXPECT_EQ(found->attempts, 2);
        EXPECT_EQ(found->uuid, uuid_of(1));
        EXPECT_EQ(found->fingerprint, sha256("content 1"));
        EXPECT_FALSE(found->settled_at);
        const auto task = make_task(tx, account, 1);
        EXPECT_TRUE(tx.commit_slot(id, task, true, t0 + milliseconds{9}));
        EXPECT_FALSE(tx.commit_slot(id, task, true, t0 + milliseconds{9}));
        EXPECT_FALSE(tx.fail_slot(id, failure_reason::window_passed, t0 + milliseconds{9}));
    });
    if (GetParam().durable) reopen();
    EXPECT_EQ(store_->counts().pending, 0);
    EXPECT_EQ(store_->counts().committed, 1);
    write([&](write_tx& tx) {
        const auto found = tx.find_slot(account, "k");
        EXPECT_EQ(found->state, slot_state::committed);
        EXPECT_EQ(found->settled_at, t0 + milliseconds{9});
        const auto given = tx.find_receipt(*found);
        ASSERT_TRUE(given);
        EXPECT_EQ(key_of(*given), "TASK-1");
        EXPECT_EQ(given->seq, 1);
        EXPECT_TRUE(given->created);
    });
}

TEST_P(store_contract, a_failed_slot_says_why_and_when) {
    const auto account = make_account();
    const auto id = write([&](write_tx& tx) { return tx.put_slot(new_slot(account, "k", 1)); });
    write([&](write_tx& tx) {
        EXPECT_TRUE(tx.fail_slot(id, failure_reason::window_passed, t0 + milliseconds{5}));
        EXPECT_FALSE(tx.commit_slot(id, task_id{1}, true, t0));
    });
    const auto found = store_->begin_read()->slots(slot_id{}, 10, slot_state::failed, {});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].reason, failure_reason::window_passed);
    EXPECT_EQ(found[0].settled_at, t0 + milliseconds{5});
    EXPECT_FALSE(found[0].task);
    EXPECT_EQ(store_->counts().failed, 1);
}

TEST_P(store_contract, keys_are_found_among_many_and_belong_to_their_account) {
    const auto one = make_account("one", "ONE");
    const auto two = make_account("two", "TWO");
    for (int batch = 0; batch < 40; ++batch) {
        write([&](write_tx& tx) {
            for (int i = 0; i < 5; ++i) {
                const int n = batch * 5 + i;
                tx.put_slot(new_slot(n % 2 ? one : two, "key-" + std::to_string(n), n));
            }
        });
        if (batch % 13 == 12 && GetParam().durable) reopen();
    }
    write([&](write_tx& tx) {
        for (int n = 0; n < 200; ++n) {
            const std::string key = "key-" + std::to_string(n);
            const auto found = tx.find_slot(n % 2 ? one : two, key);
            ASSERT_TRUE(found) << key;
            EXPECT_EQ(found->uuid, uuid_of(n));
            EXPECT_FALSE(tx.find_slot(n % 2 ? two : one, key));
        }
        EXPECT_FALSE(tx.find_slot(one, "key-200"));
    });
    const auto tx = store_->begin_read();
    for (int n = 0; n < 200; ++n) {
        const std::string key = "key-" + std::to_string(n);
        const auto found = tx->find_slot(n % 2 ? one : two, key);
        ASSERT_TRUE(found) << key;
        EXPECT_EQ(found->uuid, uuid_of(n));
        EXPECT_FALSE(tx->find_slot(n % 2 ? two : one, key));
    }
    EXPECT_FALSE(tx->find_slot(one, "key-200"));
}

// However far the writer has come since it began.
TEST_P(store_contract, a_reader_finds_the_keys_of_its_own_snapshot) {
    const auto account = make_account();
    int last = 0;
    const auto put_some = [&] {
        write([&](write_tx& tx) {
            for (const int end = last + 3; last < end; ++last) {
                tx.put_slot(new_slot(account, "key-" + std::to_string(last), last));
            }
        });
    };
    for (int round = 0; round < 24; ++round) {
        put_some();
        const auto tx = store_->begin_read();
        // A snapshot of SQLite's begins with its first read.
        const int seen = static_cast<int>(tx->slots(slot_id{}, 1000, {}, {}).size());
        ASSERT_EQ(seen, last);
        for (int more = 0; more < round % 5; ++more) put_some();
        for (int n = 0; n < last; ++n) {
            const auto found = tx->find_slot(account, "key-" + std::to_string(n));
            ASSERT_EQ(found.has_value(), n < seen) << n << " of " << seen;
        }
    }
}

TEST_P(store_contract, slots_are_listed_in_pages) {
    const auto one = make_account("one", "ONE");
    const auto two = make_account("two", "TWO");
    write([&](write_tx& tx) {
        for (int n = 0; n < 10; ++n) {
            const auto id = tx.put_slot(new_slot(n < 5 ? one : two, "k" + std::to_string(n), n));
            if (n % 2) tx.fail_slot(id, failure_reason::window_passed, t0);
        }
    });
    const auto tx = store_->begin_read();
    const auto first = tx->slots(slot_id{}, 3, slot_state::pending, {});
    ASSERT_EQ(first.size(), 3u);
    const auto rest = tx->slots(first.back().id, 10, slot_state::pending, {});
    EXPECT_EQ(rest.size(), 2u);
    EXPECT_LT(first.back().id, rest.front().id);
    EXPECT_EQ(tx->slots(slot_id{}, 10, {}, one).size(), 5u);
    EXPECT_EQ(tx->slots(slot_id{}, 10, slot_state::failed, two).size(), 3u);
    EXPECT_EQ(tx->slots(slot_id{}, 10, slot_state::committed, {}).size(), 0u);
}

TEST_P(store_contract, a_forgotten_key_is_free_and_its_slot_id_is_not) {
    const auto account = make_account();
    slot_id last{};
    for (int n = 0; n < 12; ++n) {
        const auto id = write([&](write_tx& tx) {
            const auto made = tx.put_slot(new_slot(account, "k", n));
            tx.fail_slot(made, failure_reason::window_passed, t0);
            return made;
        });
        EXPECT_LT(last, id);
        last = id;
        write([&](write_tx& tx) { tx.forget_slot(id); });
        if (GetParam().durable) reopen();
        write([&](write_tx& tx) { EXPECT_FALSE(tx.find_slot(account, "k")); });
        EXPECT_FALSE(store_->begin_read()->find_slot(account, "k"));
    }
    EXPECT_EQ(store_->counts().failed, 0);
}

// What a batch ends by: what its commands came to, and not how many they are.
TEST_P(store_contract, work_is_what_was_read_and_written) {
    const auto account = make_account();
    constexpr std::size_t bytes = 100'000;
    write([&](write_tx& tx) {
        make_task(tx, account, 1);
        EXPECT_LT(tx.work_done(), bytes / 10);
    });
    write([&](write_tx& tx) {
        const auto before = tx.find_task(account, uuid_of(1));
        std::size_t done = tx.work_done();
        const auto took = [&] { return tx.work_done() - std::exchange(done, tx.work_done()); };
        attributes large = before->attributes;
        large["note"] = std::string(bytes, 'x');
        tx.update_task(*before, large, false, before->last_seq, t0);
        EXPECT_GE(took(), bytes);
        tx.find_task(account, uuid_of(1));
        EXPECT_GE(took(), bytes);
        tx.find_task_head(account, uuid_of(1));
        EXPECT_LT(took(), bytes / 10);
        const operation o{operation_kind::update, uuid_of(1), "note", std::string(bytes, 'y'), t0};
        tx.append_version(account, uuid_of(900), t0, std::span(&o, 1));
        EXPECT_GE(took(), bytes);
    });
    write([&](write_tx& tx) { EXPECT_LT(tx.work_done(), bytes / 10); });
}

TEST_P(store_contract, numbers_are_consecutive_in_each_series_and_period) {
    const auto account = make_account();
    const auto other =
        write([&](write_tx& tx) { return tx.put_series(account, "OPS", "ops", false, t0); });
    const auto series = store_->begin_read()->default_series(account)->id;
    for (std::int64_t n = 1; n <= 6; ++n) {
        write([&](write_tx& tx) {
            EXPECT_EQ(tx.take_number(series, ""), 2 * n - 1);
            EXPECT_EQ(tx.take_number(series, ""), 2 * n);
            EXPECT_EQ(tx.take_number(other, ""), n);
            EXPECT_EQ(tx.take_number(series, "2026"), n);
        });
        if (GetParam().durable && n == 3) reopen();
    }
    const auto last = store_->begin_read()->default_series(account);
    EXPECT_EQ(last->period, "2026");
    EXPECT_EQ(last->last_number, 6);
    write([&](write_tx& tx) { EXPECT_EQ(tx.last_number(series, ""), 12); });
}

TEST_P(store_contract, tasks_are_found_by_uuid_and_by_number) {
    const auto one = make_account("one", "ONE");
    const auto two = make_account("two", "TWO");
    write([&](write_tx& tx) {
        for (int n = 1; n <= 4; ++n) make_task(tx, one, n);
        make_task(tx, two, 1);  // the same uuid in another account is another task
    });
    const auto tx = store_->begin_read();
    const auto series = tx->default_series(one);
    const auto third = tx->find_task(series->id, "", 3);
    ASSERT_TRUE(third);
    EXPECT_EQ(third->uuid, uuid_of(3));
    EXPECT_EQ(third->current_prefix, "ONE");
    EXPECT_EQ(third->attributes.at("description"), "task 3");
    EXPECT_EQ(third->attributes.at("tag_x"), "");
    EXPECT_EQ(third->last_seq, 3);
    EXPECT_EQ(tx->find_task(one, uuid_of(3))->id, third->id);
    EXPECT_EQ(key_of(*tx->find_task(two, uuid_of(1))->numbered), "TWO-1");
    for (const auto& head :
         {tx->find_task_head(one, uuid_of(3)), tx->find_task_head(series->id, "", 3)}) {
        ASSERT_TRUE(head);
        EXPECT_EQ(head->id, third->id);
        EXPECT_EQ(head->uuid, third->uuid);
        EXPECT_EQ(head->current_prefix, third->current_prefix);
        EXPECT_EQ(head->numbered, third->numbered);
        EXPECT_EQ(head->last_seq, third->last_seq);
        EXPECT_EQ(head->purged, third->purged);
        EXPECT_TRUE(head->attributes.empty());
    }
    EXPECT_FALSE(tx->find_task_head(series->id, "", 5));
    EXPECT_FALSE(tx->find_task_head(two, uuid_of(3)));
    EXPECT_FALSE(tx->find_task(series->id, "", 5));
    EXPECT_FALSE(tx->find_task(series->id, "2026", 3));
    EXPECT_FALSE(tx->find_task(two, uuid_of(3)));
    for (const auto& from : tx->series_of(one)) {
        for (const std::string& period : tx->periods_of(from.id)) {
            const auto all = tx->numbered_tasks(from.id, period, 0, 10);
            ASSERT_FALSE(all.empty());
            for (std::size_t n = 0; n < all.size(); ++n) {
                EXPECT_EQ(all[n].account, one);
                EXPECT_EQ(all[n].numbered->number, static_cast<std::int64_t>(n) + 1);
            }
            EXPECT_EQ(tx->numbered_tasks(from.id, period, 1, 10).size(), all.size() - 1);
            EXPECT_EQ(tx->numbered_tasks(from.id, period, 0, 1).size(), 1u);
        }
    }
}

TEST_P(store_contract, numbers_are_walked_up_and_down_over_all_or_open_tasks) {
    const auto account = make_account();
    const auto series = store_->begin_read()->default_series(account)->id;
    write([&](write_tx& tx) {
        for (int n = 1; n <= 6; ++n) make_task(tx, account, n);
        change(tx, account, 2, {{"status", "completed"}}, false, 7);
        change(tx, account, 3, {{"status", "deleted"}}, false, 8);
        change(tx, account, 4, {}, true, 9);
        change(tx, account, 5, {{"status", "recurring"}}, false, 10);
        change(tx, account, 6, {{"status", "completed"}}, false, 11);
        change(tx, account, 6, {{"status", "pending"}}, false, 12);
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    const auto walk = [&](std::int64_t from, bool down, bool open, std::size_t most = 100) {
        std::vector<std::int64_t> numbers;
        tx->visit_numbered({series, "", from, down, open}, [&](task&& t) {
            numbers.push_back(t.numbered->number);
            return numbers.size() < most;
        });
        return numbers;
    };
    using numbers = std::vector<std::int64_t>;
    EXPECT_EQ(walk(0, false, false), (numbers{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(walk(0, false, true), (numbers{1, 5, 6}));
    EXPECT_EQ(walk(1, false, true), (numbers{5, 6}));
    EXPECT_EQ(walk(read_tx::no_limit, true, false), (numbers{6, 5, 4, 3, 2, 1}));
    EXPECT_EQ(walk(6, true, true), (numbers{5, 1}));
    EXPECT_EQ(walk(0, false, false, 2), (numbers{1, 2}));
    EXPECT_EQ(walk(read_tx::no_limit, true, true, 1), numbers{6});
}

TEST_P(store_contract, authors_are_kept_and_have_names) {
    const auto account = make_account();
    token_id token;
    device_id phone;
    write([&](write_tx& tx) {
        token = tx.put_token(account, "pipeline", token_scope::write, sha256("t"), t0);
        phone = tx.put_device(
            {.client_id = uuid_of(90), .account = account, .name = "phone", .sealed_key = "k"});
        tx.append_version(account, uuid_of(1), t0, {}, token);
        tx.append_version(account, uuid_of(2), t0, {}, phone);
        tx.append_version(account, uuid_of(3), t0, {});
        task t;
        t.account = account;
        t.uuid = uuid_of(7);
        t.created_at = t0;
        t.author = phone;
        tx.put_task(t, tx.default_series(account)->id);
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    const auto all = tx->versions(account, 0, 10);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].author, author{token});
    EXPECT_EQ(all[1].author, author{phone});
    EXPECT_EQ(all[2].author, author{});
    EXPECT_EQ(tx->find_task(account, uuid_of(7))->author, author{phone});
    EXPECT_EQ(tx->name_of(token), "pipeline");
    EXPECT_EQ(tx->name_of(phone), "phone");
    EXPECT_EQ(tx->name_of(author{}), "");
    EXPECT_EQ(tx->name_of(token_id{999}), "");
}

TEST_P(store_contract, a_series_is_changed_and_keeps_its_old_prefixes) {
    const auto account = make_account();
    series changed = *store_->begin_read()->default_series(account);
    write([&](write_tx& tx) {
        EXPECT_EQ(tx.find_series(account, "TASK")->prefix, "TASK");  // and remembered from here on
        EXPECT_EQ(tx.default_series(account)->prefix, "TASK");
        changed.prefix = "NEW";
        changed.project = "ops";
        changed.reset = reset_policy::monthly;
        changed.time_zone = "Europe/Berlin";
        changed.archived = changed.allows_gaps = true;
        tx.update_series(changed, t0);
        EXPECT_EQ(tx.find_series(account, "TASK")->prefix, "NEW");
        EXPECT_EQ(tx.default_series(account)->prefix, "NEW");
        EXPECT_EQ(tx.count_former_prefixes(account), 1);
        tx.put_series(account, "MORE", "", false, t0);
        EXPECT_EQ(tx.count_former_prefixes(account), 1);
    });
    {
        const auto dropped = store_->begin_write();
        series other = changed;
        other.prefix = "LOST";
        dropped->update_series(other, t0);
    }
    if (GetParam().durable) reopen();
    write([&](write_tx& tx) {
        EXPECT_EQ(tx.find_series(account, "NEW")->id, changed.id);
        EXPECT_FALSE(tx.find_series(account, "LOST"));
    });
    const auto tx = store_->begin_read();
    const auto found = tx->find_series(account, "TASK");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->prefix, "NEW");
    EXPECT_EQ(found->reset, reset_policy::monthly);
    EXPECT_EQ(found->time_zone, "Europe/Berlin");
    EXPECT_TRUE(found->archived && found->allows_gaps && found->is_default);
    EXPECT_EQ(tx->find_series_for_project(account, "ops")->id, changed.id);
    EXPECT_EQ(tx->find_account(account)->default_prefix, "NEW");
}

TEST_P(store_contract, numbers_are_counted_by_period_and_may_be_skipped) {
    const auto account = make_account();
    const auto series = store_->begin_read()->default_series(account)->id;
    write([&](write_tx& tx) {
        EXPECT_EQ(tx.last_period(series), "");
        EXPECT_EQ(tx.last_number(series, "20261120"), 0);
        tx.skip_numbers(series, "20261120", 4);
        EXPECT_EQ(tx.take_number(series, "20261120"), 5);
        EXPECT_EQ(tx.last_period(series), "20261120");
        EXPECT_EQ(tx.take_number(series, "20261121"), 1);
        tx.skip_numbers(series, "20261121", 3);
        EXPECT_EQ(tx.last_period(series), "20261121");
        EXPECT_EQ(tx.last_number(series, "20261121"), 3);
    });
    {
        const auto dropped = store_->begin_write();
        dropped->skip_numbers(series, "20261122", 9);
        EXPECT_EQ(dropped->last_period(series), "20261122");
    }
    write([&](write_tx& tx) { EXPECT_EQ(tx.last_period(series), "20261121"); });
    if (GetParam().durable) reopen();
    write([&](write_tx& tx) {
        EXPECT_EQ(tx.last_period(series), "20261121");
        EXPECT_EQ(tx.last_number(series, "20261122"), 0);
        EXPECT_EQ(tx.last_period(series), "20261121") << "to ask makes none";
    });
    const auto tx = store_->begin_read();
    const auto found = tx->default_series(account);
    EXPECT_EQ(found->period, "20261121");
    EXPECT_EQ(found->last_number, 3);
    EXPECT_EQ(tx->skipped_numbers_of(series),
              (std::vector<numbers_skipped>{{"20261120", 1, 4}, {"20261121", 2, 3}}));
}

TEST_P(store_contract, a_skipped_number_can_be_somebodys_after_all) {
    const auto account = make_account();
    const series_id series = store_->begin_read()->default_series(account)->id;
    const auto reclaim = [&](std::int64_t number) {
        write([&](write_tx& tx) {
            ASSERT_TRUE(tx.is_skipped(series, "", number)) << number;
            tx.reclaim_number(series, "", number);
            EXPECT_FALSE(tx.is_skipped(series, "", number)) << number;
        });
        if (GetParam().durable) reopen();
        return store_->begin_read()->skipped_numbers_of(series);
    };
    using all = std::vector<numbers_skipped>;
    write([&](write_tx& tx) {
        EXPECT_FALSE(tx.is_skipped(series, "", 1));
        tx.take_number(series, "");
        tx.skip_numbers(series, "", 9);
        tx.take_number(series, "");
        for (const std::int64_t other : {0, 1, 10, 11}) {
            EXPECT_FALSE(tx.is_skipped(series, "", other)) << other;
        }
        EXPECT_FALSE(tx.is_skipped(series, "20261120", 5));
    });
    EXPECT_EQ(reclaim(5), (all{{"", 2, 4}, {"", 6, 9}}));
    EXPECT_EQ(reclaim(2), (all{{"", 3, 4}, {"", 6, 9}}));
    EXPECT_EQ(reclaim(9), (all{{"", 3, 4}, {"", 6, 8}}));
    EXPECT_EQ(reclaim(3), (all{{"", 4, 4}, {"", 6, 8}}));
    EXPECT_EQ(reclaim(4), (all{{"", 6, 8}}));
    write([&](write_tx& tx) { EXPECT_EQ(tx.take_number(series, ""), 11); });
}

TEST_P(store_contract, a_task_without_a_number_can_be_given_one_once) {
    const auto account = make_account();
    const auto id = write([&](write_tx& tx) {
        task t;
        t.account = account;
        t.uuid = uuid_of(1);
        t.created_at = t0;
        t.attributes = {{"description", "came another way"}};
        return tx.put_task(t, tx.default_series(account)->id);
    });
    EXPECT_FALSE(store_->begin_read()->find_task(account, uuid_of(1))->numbered);
    write([&](write_tx& tx) {
        const auto series = tx.default_series(account);
        receipt r{uuid_of(1), "TASK", "", tx.take_number(series->id, ""), 0, t0, true};
        r.seq = tx.append_version(account, uuid_of(2), t0, {});
        tx.number_task(id, series->id, r);
    });
    const auto tx = store_->begin_read();
    const auto found = tx->find_task(tx->default_series(account)->id, "", 1);
    ASSERT_TRUE(found && found->numbered);
    EXPECT_EQ(key_of(*found->numbered), "TASK-1");
    EXPECT_EQ(found->last_seq, 1);
}

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
            EXPECT_EQ(tx.append_version(account, uuid_of(n), t0, all), n);
        });
        if (GetParam().durable) reopen();
    }
    const auto tx = store_->begin_read();
    const auto chain = tx->versions(account, 0, 100);
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
    EXPECT_EQ(tx->versions(account, 3, 1).front().seq, 4);
}

TEST_P(store_contract, an_edit_keeps_its_time_to_the_nanosecond) {
    const auto account = make_account();
    const precise_time at = t0 + std::chrono::nanoseconds{943'615'792};
    const std::chrono::nanoseconds one{1};
    std::vector<operation> all;
    for (const precise_time each : {at, at, at + one, precise_time{t0}, precise_time{-one}}) {
        all.push_back({operation_kind::update, uuid_of(7), "due", std::nullopt, each});
    }
    write([&](write_tx& tx) { tx.append_version(account, uuid_of(1), t0, all); });
    if (GetParam().durable) reopen();
    EXPECT_EQ(store_->begin_read()->versions(account, 0, 1).front().operations, all);
}

TEST_P(store_contract, series_and_prefixes) {
    const auto one = make_account("one", "SYN");
    const auto two = make_account("two", "SYN");  // prefixes are an account's own
    write([&](write_tx& tx) { tx.put_series(one, "OPS", "ops", false, t0); });
    const auto tx = store_->begin_read();
    EXPECT_EQ(tx->series_of(one).size(), 2u);
    EXPECT_EQ(tx->find_series_for_project(one, "ops")->prefix, "OPS");
    EXPECT_FALSE(tx->find_series_for_project(one, ""));
    EXPECT_FALSE(tx->find_series_for_project(two, "ops"));
    EXPECT_NE(tx->find_series(one, "SYN")->id, tx->find_series(two, "SYN")->id);
    EXPECT_FALSE(tx->find_series(two, "OPS"));
    EXPECT_TRUE(tx->default_series(one)->is_default);
}

TEST_P(store_contract, a_token_says_when_it_expires) {
    const auto account = make_account();
    write([&](write_tx& tx) {
        tx.put_token(account, "short", token_scope::read, sha256("short"), t0,
                     t0 + milliseconds{5});
        tx.put_token(account, "long", token_scope::read, sha256("long"), t0);
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    EXPECT_EQ(tx->find_principal(sha256("short"))->expires_at, t0 + milliseconds{5});
    EXPECT_EQ(tx->find_principal(sha256("long"))->expires_at, std::nullopt);
    EXPECT_EQ(tx->tokens_of(account)[0].expires_at, t0 + milliseconds{5});
}

TEST_P(store_contract, tokens_that_have_ended_are_forgotten_the_oldest_first) {
    const auto one = make_account("one");
    const auto two = make_account("two");
    std::vector<token_id> made;
    write([&](write_tx& tx) {
        for (int n = 0; n < 6; ++n) {
            const auto until = n % 2 ? std::optional(t0 + milliseconds{n}) : std::nullopt;
            made.push_back(tx.put_token(n == 5 ? two : one, "t", token_scope::read,
                                        sha256(std::to_string(n)), t0, until));
        }
        tx.revoke_token(made[4], t0);
    });
    EXPECT_EQ(write([&](write_tx& tx) { return tx.count_tokens(one); }), 5);
    const auto forget = [&](std::int64_t limit) {
        return write(
            [&](write_tx& tx) { return tx.forget_ended_tokens(one, t0 + milliseconds{3}, limit); });
    };
    EXPECT_EQ(forget(2), 2);
    if (GetParam().durable) reopen();
    EXPECT_FALSE(store_->begin_read()->find_principal(sha256("1")));
    EXPECT_FALSE(store_->begin_read()->find_principal(sha256("3")));
    EXPECT_TRUE(store_->begin_read()->find_principal(sha256("4")));
    EXPECT_EQ(forget(2), 1);
    EXPECT_EQ(forget(2), 0);
    write([&](write_tx& tx) {
        EXPECT_EQ(tx.count_tokens(one), 2);
        EXPECT_EQ(tx.count_tokens(two), 1);
        // Not the id of one that was there.
        EXPECT_GT(tx.put_token(one, "t", token_scope::read, sha256("1"), t0), made.back());
    });
}

TEST_P(store_contract, totals_are_exact_and_survive) {
    const auto expect = [&](store_totals wanted) {
        for (const bool again : {false, GetParam().durable}) {
            if (again) reopen();
            const store_totals now = store_->totals();
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
            const auto series = tx.default_series(account);
            task t;
            t.account = account;
            t.uuid = uuid_of(n);
            t.created_at = t0;
            t.attributes = std::move(all);
            t.purged = purged;
            t.numbered = receipt{.uuid = t.uuid,
                                 .prefix = series->prefix,
                                 .period = {},
                                 .number = tx.take_number(series->id, ""),
                                 .created_at = t0};
            t.id = tx.put_task(t, series->id);
            return t;
        });
    };
    const task open = made(1, {{"description", "open"}});
    made(2, {{"description", "done"}, {"status", "completed"}});
    const task unseen = made(3, {}, true);
    expect({.accounts = 2, .tasks = 3, .open_tasks = 1});
    write([&](write_tx& tx) {
        tx.update_task(open, {{"description", "open"}, {"status", "deleted"}}, false, 1, t0);
    });
    expect({.accounts = 2, .tasks = 3, .open_tasks = 0});
    write([&](write_tx& tx) { tx.reveal_task(unseen.id, {{"description", "seen"}}, 1, 1); });
    expect({.accounts = 2, .tasks = 3, .open_tasks = 1});
    write([&](write_tx& tx) {
        auto series = *tx.default_series(account);
        series.held = true;
        tx.update_series(series, t0);
    });
    expect({.accounts = 2, .tasks = 3, .open_tasks = 1, .held_series = 1});
    {
        const auto tx = store_->begin_write();
        tx->put_account("lost", t0);
        auto series = *tx->default_series(account);
        series.held = false;
        tx->update_series(series, t0);
    }
    expect({.accounts = 2, .tasks = 3, .open_tasks = 1, .held_series = 1});
}

TEST_P(store_contract, a_task_without_a_number_is_open_once_it_has_one) {
    const auto account = make_account();
    const auto id = write([&](write_tx& tx) {
        task t;
        t.account = account;
        t.uuid = uuid_of(1);
        t.created_at = t0;
        t.attributes = {{"description", "late"}};
        return tx.put_task(t, tx.default_series(account)->id);
    });
    EXPECT_EQ(store_->totals().tasks, 1);
    EXPECT_EQ(store_->totals().open_tasks, 0);
    write([&](write_tx& tx) {
        const auto series = tx.default_series(account);
        tx.number_task(id, series->id,
                       {.uuid = uuid_of(1),
                        .prefix = series->prefix,
                        .period = {},
                        .number = tx.take_number(series->id, ""),
                        .seq = 1,
                        .created_at = t0});
    });
    EXPECT_EQ(store_->totals().open_tasks, 1);
}

TEST_P(store_contract, a_proof_changes_nothing) {
    const auto account = make_account();
    const auto before = store_->counts();
    const auto moment = store_->last_moment();
    for (int i = 0; i < 3; ++i) store_->prove_writable();
    if (GetParam().durable) reopen();
    EXPECT_EQ(store_->counts().pending, before.pending);
    EXPECT_EQ(store_->last_moment(), moment);
    const auto slot = write([&](write_tx& tx) { return tx.put_slot(new_slot(account, "k", 1)); });
    EXPECT_TRUE(write([&](write_tx& tx) { return tx.find_slot(slot); }));
}

TEST_P(store_contract, tokens_open_until_they_are_revoked) {
    const auto account = make_account();
    const auto id = write([&](write_tx& tx) {
        tx.put_token(std::nullopt, "operator", token_scope::admin, sha256("root"), t0);
        return tx.put_token(account, "laptop", token_scope::write, sha256("secret"), t0);
    });
    EXPECT_EQ(store_->begin_read()->find_principal(sha256("secret"))->account, account);
    EXPECT_FALSE(store_->begin_read()->find_principal(sha256("root"))->account);
    EXPECT_FALSE(store_->begin_read()->find_principal(sha256("wrong")));
    write([&](write_tx& tx) { tx.revoke_token(id, t0 + milliseconds{1}); });
    const auto tx = store_->begin_read();
    const auto gone = tx->find_principal(sha256("secret"));
    EXPECT_TRUE(gone->revoked);
    EXPECT_EQ(gone->name, "laptop");
    EXPECT_EQ(gone->account_name, "home");
    const auto root = tx->find_principal(sha256("root"));
    EXPECT_FALSE(root->revoked);
    EXPECT_EQ(root->name, "operator");
    EXPECT_EQ(root->account_name, "");
    ASSERT_EQ(tx->tokens_of(account).size(), 1u);
    EXPECT_EQ(tx->tokens_of(account)[0].revoked_at, t0 + milliseconds{1});
    EXPECT_EQ(tx->tokens_of(std::nullopt).size(), 1u);
}

// The rules on every store: the same commands give the same answers.
class counted_ids final : public rules::id_source {
  public:
    uuid next(time_point) override { return uuid_of(++drawn_ + 5000); }

  private:
    int drawn_ = 0;
};

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

    // Another key for a uuid that is there already.
    const auto existing =
        std::get<receipted>(run(reserve{account, "k3", sha256("c"), made.receipt.uuid, ""}));
    EXPECT_FALSE(existing.receipt.created);
    EXPECT_EQ(existing.receipt.number, 1);
    EXPECT_TRUE(std::get<receipted>(run(reserve{account, "k3", sha256("c"), made.receipt.uuid, ""}))
                    .replayed);

    const auto stored = store_->begin_read()->find_task(account, made.receipt.uuid);
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

    // Again: nothing more to do. In steps of one: the same.
    const auto again = run(sweep);
    EXPECT_EQ(again.failed + again.committed, 0);
    sweep.limit = 1;
    EXPECT_TRUE(run(sweep).next);

    now += std::chrono::hours{24 * 8};
    const auto forgotten = run(forget_settled{slot_id{}, 100, std::chrono::hours{24 * 7}});
    EXPECT_EQ(forgotten.forgotten, 2);
    EXPECT_EQ(store_->counts().pending, 2);
    EXPECT_TRUE(store_->begin_read()->find_task(account, uuid_of(77)));
}

// ---- sealed chains ----

TEST_P(store_contract, a_client_id_opens_its_account) {
    const auto id = write([](write_tx& tx) {
        const auto made = put_opaque(tx, "sealed", client_a);
        EXPECT_EQ(tx.find_device(client_a)->account, made);  // its own writes are seen
        return made;
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    const auto found = tx->find_device(client_a);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->account, id);
    EXPECT_EQ(found->created_at, t0);
    EXPECT_FALSE(tx->find_device(client_b));
    EXPECT_EQ(tx->find_account(id)->mode, account_mode::opaque);
    EXPECT_EQ(tx->head_of(id).seq, 0);
    EXPECT_TRUE(tx->head_of(id).version.is_nil());
}

TEST_P(store_contract, a_managed_account_is_what_it_was) {
    const auto id = make_account();
    EXPECT_EQ(store_->begin_read()->find_account(id)->mode, account_mode::managed);
}

TEST_P(store_contract, a_token_says_of_what_kind_its_account_is) {
    write([](write_tx& tx) {
        const auto id = put_opaque(tx, "sealed", client_a);
        tx.put_token(id, "t", token_scope::write, sha256("sealed"), t0);
        tx.put_token(std::nullopt, "t", token_scope::admin, sha256("operator"), t0);
    });
    const auto tx = store_->begin_read();
    EXPECT_EQ(tx->find_principal(sha256("sealed"))->mode, account_mode::opaque);
    EXPECT_EQ(tx->find_principal(sha256("operator"))->mode, account_mode::managed);
}

TEST_P(store_contract, sealed_versions_follow_each_other) {
    const auto id = write([](write_tx& tx) {
        const auto made = put_opaque(tx, "sealed", client_a);
        EXPECT_EQ(tx.append_sealed_version(made, uuid_of(1), uuid_of(50), t0, "one"), 1);
        EXPECT_EQ(tx.head_of(made).version, uuid_of(1));
        EXPECT_EQ(tx.find_child_place(made, uuid_of(50))->seq, 1);
        return made;
    });
    const std::string bytes("\0\xFF two", 6);
    write([&](write_tx& tx) {
        EXPECT_EQ(tx.append_sealed_version(id, uuid_of(2), uuid_of(1), t0 + milliseconds{5}, bytes),
                  2);
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    EXPECT_EQ(tx->head_of(id).seq, 2);
    EXPECT_EQ(tx->head_of(id).version, uuid_of(2));
    EXPECT_EQ(tx->find_account(id)->last_seq, 2);
    EXPECT_EQ(tx->find_sealed_child(id, uuid_of(50))->segment, "one");
    const auto second = tx->find_sealed_child(id, uuid_of(1));
    ASSERT_TRUE(second);
    EXPECT_EQ(second->seq, 2);
    EXPECT_EQ(second->id, uuid_of(2));
    EXPECT_EQ(second->parent, uuid_of(1));
    EXPECT_EQ(second->created_at, t0 + milliseconds{5});
    EXPECT_EQ(second->segment, bytes);
    EXPECT_EQ(tx->sealed_child_bytes(id, uuid_of(1)), bytes.size());
    EXPECT_EQ(tx->sealed_child_bytes(id, uuid_of(2)), 0u);
    EXPECT_EQ(tx->find_child_place(id, uuid_of(1))->version, uuid_of(2));
    EXPECT_FALSE(tx->find_sealed_child(id, uuid_of(2)));
    EXPECT_FALSE(tx->find_child_place(id, uuid_of(2)));
    EXPECT_EQ(store_->last_moment(), t0 + milliseconds{5});
}

TEST_P(store_contract, two_accounts_may_hold_the_same_versions) {
    write([](write_tx& tx) {
        const auto a = put_opaque(tx, "a", client_a);
        const auto b = put_opaque(tx, "b", client_b);
        tx.append_sealed_version(a, uuid_of(1), uuid{}, t0, "of a");
        tx.append_sealed_version(b, uuid_of(1), uuid{}, t0, "of b");
        EXPECT_EQ(tx.find_sealed_child(a, uuid{})->segment, "of a");
        EXPECT_EQ(tx.find_sealed_child(b, uuid{})->segment, "of b");
    });
}

// What a store counts is how it keeps them; that it counts, and nothing twice, is the same.
TEST_P(store_contract, an_account_s_bytes_are_those_of_its_versions_and_its_snapshot) {
    const auto stored = [&](account_id id) {
        return store_->begin_read()->find_account(id)->stored_bytes;
    };
    const auto managed = make_account("managed");
    const std::vector<operation> some{{operation_kind::create, uuid_of(1), {}, {}, {}}};
    const auto add = [&](const uuid& id) {
        return write([&](write_tx& tx) {
            const auto before = tx.stored_bytes(managed);
            tx.append_version(managed, id, t0, some);
            return tx.stored_bytes(managed) - before;
        });
    };
    const std::int64_t one = add(uuid_of(901));
    EXPECT_GT(one, 0);
    EXPECT_EQ(stored(managed), one);
    EXPECT_EQ(add(uuid_of(902)), one);
    EXPECT_EQ(stored(managed), 2 * one);
    {
        const auto tx = store_->begin_write();
        tx->append_version(managed, uuid_of(903), t0, some);
    }
    EXPECT_EQ(write([&](write_tx& tx) { return tx.stored_bytes(managed); }), 2 * one);

    const auto sealed = write([](write_tx& tx) {
        const auto id = tx.put_account("sealed", t0, account_mode::opaque);
        tx.append_sealed_version(id, uuid_of(1), {}, t0, "segment");
        tx.put_snapshot(id, {uuid_of(1), 1, 1, t0}, t0, "snapshot");
        return id;
    });
    EXPECT_EQ(stored(sealed), 15);
    write([&](write_tx& tx) { tx.put_snapshot(sealed, {uuid_of(1), 1, 1, t0}, t0, "less"); });
    EXPECT_EQ(stored(sealed), 11);
    write([&](write_tx& tx) {
        const version v{1, uuid_of(1), {}, t0, some};
        tx.take_over_version(sealed, v);
        EXPECT_EQ(tx.stored_bytes(sealed), one + 11);
        tx.drop_version(sealed, v);
        EXPECT_EQ(tx.stored_bytes(sealed), 11);
        tx.take_over_version(sealed, v);
        tx.become_managed(sealed, {1, uuid_of(1)});
        EXPECT_EQ(tx.stored_bytes(sealed), one + 11);
        EXPECT_EQ(tx.remove_sealed(sealed, {}), 7u);
        EXPECT_EQ(tx.remove_sealed(sealed, {}), 0u);
        tx.remove_snapshot(sealed);
    });
    EXPECT_EQ(stored(sealed), one);
    EXPECT_EQ(stored(managed), 2 * one);
}

TEST_P(store_contract, the_newest_snapshot_takes_the_place_of_the_one_before) {
    const auto id = write([](write_tx& tx) {
        const auto made = put_opaque(tx, "sealed", client_a);
        EXPECT_FALSE(tx.find_snapshot_mark(made));
        EXPECT_FALSE(tx.find_snapshot(made));
        EXPECT_EQ(tx.snapshot_bytes(made), 0u);
        tx.append_sealed_version(made, uuid_of(1), uuid{}, t0, "one");
        tx.put_snapshot(made, {uuid_of(1), 1, 1, t0}, t0, "old");
        EXPECT_EQ(tx.find_snapshot(made)->bytes, "old");
        return made;
    });
    const std::string bytes(100'000, 's');
    write([&](write_tx& tx) {
        tx.append_sealed_version(id, uuid_of(2), uuid_of(1), t0, "two");
        tx.put_snapshot(id, {uuid_of(2), 2, 7, t0 - milliseconds{9}}, t0, bytes);
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    const auto mark = tx->find_snapshot_mark(id);
    ASSERT_TRUE(mark);
    EXPECT_EQ(mark->version, uuid_of(2));
    EXPECT_EQ(mark->seq, 2);
    EXPECT_EQ(mark->taken_seq, 7);
    EXPECT_EQ(mark->taken_at, t0 - milliseconds{9});
    EXPECT_EQ(tx->find_snapshot(id)->bytes, bytes);
    EXPECT_EQ(tx->snapshot_bytes(id), bytes.size());
}

TEST_P(store_contract, a_dropped_transaction_leaves_no_trace_in_a_sealed_chain) {
    const auto id = write([](write_tx& tx) { return put_opaque(tx, "sealed", client_a); });
    {
        const auto tx = store_->begin_write();
        tx->append_sealed_version(id, uuid_of(1), uuid{}, t0, "lost");
        tx->put_snapshot(id, {uuid_of(1), 1, 1, t0}, t0, "lost");
        put_opaque(*tx, "other", client_b);
    }
    write([&](write_tx& tx) {
        EXPECT_EQ(tx.head_of(id).seq, 0);
        EXPECT_FALSE(tx.find_sealed_child(id, uuid{}));
        EXPECT_FALSE(tx.find_snapshot_mark(id));
        EXPECT_FALSE(tx.find_device(client_b));
        EXPECT_EQ(tx.append_sealed_version(id, uuid_of(2), uuid_of(9), t0, "kept"), 1);
    });
}

// ---- devices ----

TEST_P(store_contract, devices_have_names_and_keys_and_can_be_revoked) {
    const std::string key("\0sealed\xFF", 8);
    const auto id = make_account();
    const auto laptop = write([&](write_tx& tx) {
        const auto made = tx.put_device({.client_id = client_a,
                                         .account = id,
                                         .name = "laptop",
                                         .sealed_key = key,
                                         .created_at = t0});
        tx.put_device({.client_id = client_b, .account = id, .name = "phone", .sealed_key = "k"});
        EXPECT_EQ(tx.devices_of(id).size(), 2u);
        return made;
    });
    write([&](write_tx& tx) { tx.revoke_device(laptop, t0 + milliseconds{7}); });
    // The name is free again.
    write([&](write_tx& tx) {
        tx.put_device(
            {.client_id = uuid_of(903), .account = id, .name = "laptop", .sealed_key = "new"});
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    const auto all = tx->devices_of(id);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].id, laptop);
    EXPECT_EQ(all[0].name, "laptop");
    EXPECT_EQ(all[0].sealed_key, key);
    EXPECT_EQ(all[0].mode, account_mode::managed);
    EXPECT_EQ(all[0].created_at, t0);
    EXPECT_EQ(all[0].revoked_at, t0 + milliseconds{7});
    EXPECT_FALSE(all[1].revoked_at);
    EXPECT_EQ(tx->find_device(client_a)->revoked_at, t0 + milliseconds{7});
    EXPECT_EQ(tx->find_device(client_b)->name, "phone");
    EXPECT_FALSE(tx->find_device(uuid_of(904)));
}

// Of every table something, of two accounts; one goes, a few rows at a time.
TEST_P(store_contract, an_account_goes_with_all_its_rows) {
    const auto fill = [&](account_id id, const uuid& client, int first) {
        write([&](write_tx& tx) {
            const auto series = *tx.default_series(id);
            for (int n = first; n < first + 20; ++n) make_task(tx, id, n);
            change(tx, id, first, {{"p", "v"}}, false, 20, t0 + milliseconds{500});
            tx.skip_numbers(series.id, "", 30);
            tx.put_series(id, "MORE", "project", false, t0);
            tx.put_token(id, "t", token_scope::write, sha256(std::to_string(first)), t0);
            tx.put_device({.client_id = client, .account = id, .name = "a", .sealed_key = "k"});
            tx.put_fork_version(id, {uuid_of(5'000 + first), 1, t0, {2}, {}, {}}, {100, 10'000});
        });
    };
    const auto home = make_account(), other = make_account("other", "OTH");
    fill(home, client_a, 1);
    fill(other, client_b, 101);
    const auto sealed = write([](write_tx& tx) { return put_opaque(tx, "sealed", uuid_of(950)); });
    write([&](write_tx& tx) {
        tx.append_sealed_version(sealed, uuid_of(970), uuid{}, t0, "segment");
        tx.put_snapshot(sealed, {uuid_of(970), 1, 1, t0}, t0, "bytes");
    });
    const auto remove = [&](account_id id) {
        write([&](write_tx& tx) {
            account a = *tx.find_account(id);
            a.state = account_state::going;
            a.name = "(removed)";
            a.deleted_at = t0;
            tx.update_account(a);
        });
        int steps = 0;
        for (std::optional<removal_place> at = removal_place{}; at; ++steps) {
            at = write([&](write_tx& tx) { return tx.remove_some(id, *at, 7); });
            if (GetParam().durable) reopen();
        }
        return steps;
    };
    const int steps = remove(home);
    EXPECT_TRUE(steps > 20 || !GetParam().durable) << steps;
    remove(sealed);

    const auto tx = store_->begin_read();
    EXPECT_FALSE(tx->find_account(home) || tx->find_account("home"));
    EXPECT_EQ(tx->accounts().size(), 1u);
    EXPECT_FALSE(tx->find_device(client_a) || tx->find_device(uuid_of(950)));
    EXPECT_FALSE(tx->find_principal(sha256("1")));
    EXPECT_TRUE(tx->versions(home, 0, 100).empty());
    EXPECT_TRUE(tx->series_of(home).empty());
    EXPECT_FALSE(tx->find_sealed_child(sealed, uuid{}));
    for (int n = 1; n <= 20; ++n) EXPECT_FALSE(tx->find_task(home, uuid_of(n)));
    EXPECT_EQ(tx->versions(other, 0, 100).size(), 20u);
    EXPECT_TRUE(tx->find_principal(sha256("101")));
    EXPECT_EQ(tx->find_task(other, uuid_of(120))->numbered->number, 20);
    EXPECT_EQ(tx->find_task_as_of(other, uuid_of(101), 19)->attributes.at("description"),
              "task 101");
    EXPECT_EQ(tx->default_series(other)->last_number, 30);
    // What was remembered of it is not taken for another's.
    const auto again = make_account("home");
    write([&](write_tx& w) {
        EXPECT_EQ(w.default_series(again)->last_number, 0);
        EXPECT_EQ(w.take_number(w.default_series(again)->id, ""), 1);
    });
}

TEST_P(store_contract, a_device_is_expected_back_after_a_restore) {
    const auto account = make_account();
    const auto laptop = write([&](write_tx& tx) {
        tx.put_device({.client_id = client_b, .account = account, .name = "b", .sealed_key = "k"});
        return tx.put_device({.client_id = client_a,
                              .account = account,
                              .name = "a",
                              .sealed_key = "k",
                              .resync = resync{5, resync::state::seen}});
    });
    EXPECT_FALSE(store_->begin_read()->find_device(client_a)->resync) << "it is new";
    using state = resync::state;
    for (const state now : {state::expected, state::seen, state::returned}) {
        write([&](write_tx& tx) { tx.set_resync(laptop, {7, now}); });
        if (GetParam().durable) reopen();
        const auto tx = store_->begin_read();
        EXPECT_EQ(tx->find_device(client_a)->resync, (resync{7, now}));
        EXPECT_FALSE(tx->find_device(client_b)->resync);
    }
    write([&](write_tx& tx) { tx.revoke_device(laptop, t0); });
    EXPECT_EQ(store_->begin_read()->devices_of(account)[1].resync, (resync{7, state::returned}));
}

// A writer may remember whom it has asked for; each write of a device or its account is seen.
TEST_P(store_contract, a_device_is_as_it_was_last_written) {
    const auto home = make_account();
    const auto sealed = write([](write_tx& tx) { return put_opaque(tx, "sealed", uuid_of(950)); });
    const auto laptop = write([&](write_tx& tx) {
        tx.put_device({.client_id = client_b, .account = home, .name = "b", .sealed_key = "k"});
        return tx.put_device(
            {.client_id = client_a, .account = home, .name = "a", .sealed_key = "k"});
    });
    const auto told = [](read_tx& tx, const uuid& client) {
        const auto d = tx.find_device(client);
        if (!d) return std::string("none");
        return d->name + " " + d->sealed_key + " of " + d->account_name + ", " +
               std::to_string(static_cast<int>(d->mode)) +
               std::to_string(static_cast<int>(d->state)) + (d->revoked_at ? ", revoked" : "") +
               (d->resync ? ", from " + std::to_string(d->resync->from) : "");
    };
    // Asked for before and behind a change that is kept, and one that is not.
    const auto changes = [&](const uuid& client, const std::string& to, const auto& change) {
        SCOPED_TRACE(to);
        const auto was = told(*store_->begin_read(), client);
        {
            const auto tx = store_->begin_write();
            EXPECT_EQ(told(*tx, client), was);
            change(*tx);
            EXPECT_EQ(told(*tx, client), to);
        }
        write([&](write_tx& tx) {
            EXPECT_EQ(told(tx, client), was);
            change(tx);
            EXPECT_EQ(told(tx, client), to);
        });
        EXPECT_EQ(told(*store_->begin_write(), client), to);
        EXPECT_EQ(told(*store_->begin_read(), client), to);
    };
    const auto edited = [](write_tx& tx, account_id id, const auto& edit) {
        account a = *tx.find_account(id);
        edit(a);
        tx.update_account(a);
    };
    changes(client_a, "a other of home, 11", [&](write_tx& tx) {
        EXPECT_TRUE(
            tx.reseal({secret_kind::device_key, laptop.value, home, client_a, "k"}, "other"));
    });
    changes(client_a, "a other of home, 11, from 7", [&](write_tx& tx) {
        tx.set_resync(laptop, {7, resync::state::expected});
    });
    changes(client_a, "a other of house, 11, from 7",
            [&](write_tx& tx) { edited(tx, home, [](account& a) { a.name = "house"; }); });
    changes(client_a, "a other of house, 11, revoked, from 7",
            [&](write_tx& tx) { tx.revoke_device(laptop, t0); });
    changes(client_b, "b k of house, 12", [&](write_tx& tx) {
        edited(tx, home, [](account& a) { a.state = account_state::disabled; });
    });
    const auto way_in = store_->begin_read()->find_device(uuid_of(950))->id;
    changes(uuid_of(950), "  of sealed, 11",
            [&](write_tx& tx) { tx.become_managed(sealed, chain_head{}); });
    changes(uuid_of(950), "first key of sealed, 11",
            [&](write_tx& tx) { tx.give_key(way_in, "first", "key"); });
    changes(client_b, "b k of house, 14", [&](write_tx& tx) {
        edited(tx, home, [](account& a) {
            a.state = account_state::going;
            a.deleted_at = t0;
        });
    });
    changes(client_b, "none", [&](write_tx& tx) {
        for (std::optional<removal_place> at = removal_place{}; at;)
            at = tx.remove_some(home, *at, 100);
    });
}

TEST_P(store_contract, devices_come_and_go_by_the_rules) {
    const auto home = make_account();
    const auto other = make_account("other", "OTH");
    const auto sealed = write([](write_tx& tx) { return put_opaque(tx, "sealed", uuid_of(950)); });
    counted_ids ids;
    time_point now = t0;
    auto run = [&](const auto& c) {
        return write([&](write_tx& tx) {
            return rules::apply(tx, c, rules::moment{now += milliseconds{1}, ids});
        });
    };
    const auto wanted = [](account_id account, const char* name, int n) {
        return create_device{
            .account = account, .name = name, .client_id = uuid_of(n), .sealed_key = "key"};
    };
    const auto laptop = std::get<device>(run(wanted(home, "laptop", 951)));
    EXPECT_EQ(laptop.name, "laptop");
    EXPECT_EQ(laptop.account, home);
    EXPECT_EQ(laptop.client_id, uuid_of(951));
    EXPECT_EQ(laptop.sealed_key, "key");
    EXPECT_EQ(laptop.created_at, now);
    EXPECT_FALSE(laptop.revoked_at);

    // What is refused was refused before, and has written nothing.
    const auto refused = [&](const create_device& c) {
        const bool foretold = rules::read(*store_->begin_read(),
                                          foresee_create_device{c.account, c.name, c.client_id})
                                  .refusal.has_value();
        auto answer = run(c);
        const bool is_usual = c.active_max == create_device{}.active_max;
        if (is_usual) {
            EXPECT_EQ(foretold, !std::holds_alternative<device>(answer));
        }
        return answer;
    };
    EXPECT_TRUE(std::holds_alternative<name_taken>(refused(wanted(home, "laptop", 952))));
    EXPECT_TRUE(std::holds_alternative<client_id_taken>(refused(wanted(other, "phone", 951))));
    EXPECT_TRUE(std::holds_alternative<client_id_taken>(refused(wanted(home, "phone", 950))));
    EXPECT_TRUE(std::holds_alternative<account_is_opaque>(refused(wanted(sealed, "a", 952))));
    EXPECT_TRUE(std::holds_alternative<no_such_account>(refused(wanted(account_id{}, "a", 952))));
    EXPECT_TRUE(std::holds_alternative<device>(refused(wanted(other, "laptop", 953))));
    EXPECT_EQ(store_->begin_read()->devices_of(home).size(), 1u);

    create_device third = wanted(home, "third", 954);
    third.active_max = 1;
    EXPECT_TRUE(std::holds_alternative<create_device::too_many>(refused(third)));

    const auto first_time = std::get<device>(run(revoke_device{home, laptop.id}));
    EXPECT_EQ(first_time.revoked_at, now);
    const auto second_time = std::get<device>(run(revoke_device{home, laptop.id}));
    EXPECT_EQ(second_time.revoked_at, first_time.revoked_at);
    const auto nothing = [&](const revoke_device& c) {
        return std::holds_alternative<revoke_device::no_such_device>(run(c));
    };
    EXPECT_TRUE(nothing({other, laptop.id}));
    EXPECT_TRUE(nothing({home, device_id{1'000'000}}));
    // An opaque account's client id is its way in.
    const device_id way_in = store_->begin_read()->find_device(uuid_of(950))->id;
    EXPECT_TRUE(std::holds_alternative<account_is_opaque>(run(revoke_device{sealed, way_in})));
    EXPECT_FALSE(store_->begin_read()->find_device(uuid_of(950))->revoked_at);

    // A revoked one makes room and leaves its name, but keeps its client id.
    if (GetParam().durable) reopen();
    EXPECT_TRUE(std::holds_alternative<client_id_taken>(refused(wanted(home, "laptop", 951))));
    create_device again = wanted(home, "laptop", 955);
    again.active_max = 1;
    EXPECT_TRUE(std::holds_alternative<device>(refused(again)));
    EXPECT_EQ(store_->begin_read()->find_device(uuid_of(951))->revoked_at, first_time.revoked_at);
}

// ---- chains that devices come to ----

TEST_P(store_contract, a_version_is_found_by_its_id) {
    const auto id = make_account();
    write([&](write_tx& tx) {
        tx.append_version(id, uuid_of(1), t0, {});
        tx.append_version(id, uuid_of(2), t0, {});
        EXPECT_EQ(tx.find_version_seq(id, uuid_of(2)), 2);
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    EXPECT_EQ(tx->find_version_seq(id, uuid_of(1)), 1);
    EXPECT_FALSE(tx->find_version_seq(id, uuid_of(3)));
    EXPECT_FALSE(tx->find_version_seq(id, uuid{}));
    EXPECT_FALSE(tx->find_version_seq(account_id{id.value + 1}, uuid_of(1)));
}

constexpr fork_version_bounds keep_all{1000, 1'000'000};

fork_version beside(const uuid& id, std::int64_t own, time_point at = t0) {
    return {id, 0, at, {own}, {}, {}};
}

TEST_P(store_contract, side_versions_are_kept_for_a_while) {
    const auto id = make_account();
    fork_version full = beside(uuid_of(11), 2);
    full.own = {2, 4};
    full.dropped = {{1, 0}, {1, 1}, {1, 7}, {3, 0}};
    write([&](write_tx& tx) {
        for (int n = 1; n <= 4; ++n) tx.append_version(id, uuid_of(n), t0, {});
        tx.put_fork_version(id, full, keep_all);
        tx.put_fork_version(id, beside(uuid_of(12), 1, t0 + milliseconds{10}), keep_all);
    });
    if (GetParam().durable) reopen();
    const auto found = store_->begin_read()->find_fork_version(id, uuid_of(11));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->id, uuid_of(11));
    EXPECT_EQ(found->left_at, 0);
    EXPECT_EQ(found->created_at, t0);
    EXPECT_EQ(found->own, full.own);
    EXPECT_EQ(found->dropped, full.dropped);
    EXPECT_EQ(found->back, uuid_of(4));
    const auto other = store_->begin_read()->find_fork_version(id, uuid_of(12));
    EXPECT_EQ(other->dropped, std::vector<chain_position>{});
    EXPECT_EQ(other->back, uuid_of(1));
    EXPECT_FALSE(store_->begin_read()->find_fork_version(id, uuid_of(1)));
    EXPECT_FALSE(store_->begin_read()->find_fork_version(account_id{id.value + 1}, uuid_of(11)));
    write([&](write_tx& tx) {
        EXPECT_EQ(tx.forget_fork_versions(t0, 10), 0);
        EXPECT_EQ(tx.forget_fork_versions(t0 + milliseconds{10}, 10), 1);
        EXPECT_FALSE(tx.find_fork_version(id, uuid_of(11)));
        EXPECT_TRUE(tx.find_fork_version(id, uuid_of(12)));
        tx.put_fork_version(id, beside(uuid_of(13), 1), keep_all);
        EXPECT_EQ(tx.forget_fork_versions(t0 + milliseconds{20}, 1), 1);
        EXPECT_TRUE(tx.find_fork_version(id, uuid_of(13)));
        tx.forget_fork_version(id, uuid_of(13));
        EXPECT_FALSE(tx.find_fork_version(id, uuid_of(13)));
    });
}

// Of each account by itself: its oldest go, and the newest stays whatever it is.
TEST_P(store_contract, side_versions_stay_within_their_bounds) {
    const auto id = make_account();
    const auto other = make_account("other");
    const auto put = [&](account_id account, int n, const fork_version_bounds& keep,
                         std::size_t dropped = 0) {
        fork_version side = beside(uuid_of(100 + n), 2);
        for (std::size_t i = 0; i < dropped; ++i) side.dropped.push_back({1, i});
        write([&](write_tx& tx) { tx.put_fork_version(account, side, keep); });
        return static_cast<std::int64_t>(size_of(side));
    };
    const auto kept = [&](account_id account) {
        std::vector<int> all;
        for (int n = 0; n < 100; ++n) {
            if (store_->begin_read()->find_fork_version(account, uuid_of(100 + n)))
                all.push_back(n);
        }
        return all;
    };
    using numbers = std::vector<int>;
    write([&](write_tx& tx) {
        for (const account_id account : {id, other}) {
            tx.append_version(account, uuid_of(static_cast<int>(account.value)), t0, {});
            tx.append_version(account, uuid_of(50 + static_cast<int>(account.value)), t0, {});
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

TEST_P(store_contract, a_task_changes) {
    const auto id = make_account();
    write([&](write_tx& tx) {
        const auto seq = tx.append_version(id, uuid_of(1), t0, {});
        task t;
        t.account = id;
        t.uuid = uuid_of(70);
        t.last_seq = seq;
        t.attributes = {{"a", "b"}};
        const auto series = tx.default_series(id);
        tx.put_task(t, series->id);
        tx.update_task(*tx.find_task(id, uuid_of(70)), {{"c", "d"}, {"e", ""}}, false, 5, t0);
    });
    if (GetParam().durable) reopen();
    const auto changed = store_->begin_read()->find_task(id, uuid_of(70));
    EXPECT_EQ(changed->attributes, (attributes{{"c", "d"}, {"e", ""}}));
    EXPECT_EQ(changed->last_seq, 5);
    EXPECT_FALSE(changed->purged);
    write([&](write_tx& tx) { tx.update_task(*changed, {}, true, 6, t0); });
    EXPECT_TRUE(store_->begin_read()->find_task(id, uuid_of(70))->purged);
}

TEST_P(store_contract, slots_that_wait_for_a_uuid_are_found) {
    const auto id = make_account();
    write([&](write_tx& tx) {
        slot s;
        s.account = id;
        s.uuid = uuid_of(70);
        s.created_at = t0;
        s.key = "one";
        const slot_id one = tx.put_slot(s);
        s.key = "two";
        const slot_id two = tx.put_slot(s);
        s.key = "other";
        s.uuid = uuid_of(71);
        tx.put_slot(s);
        const auto waiting = tx.pending_slots_of(id, uuid_of(70));
        ASSERT_EQ(waiting.size(), 2u);
        EXPECT_EQ(waiting[0].id, one);
        EXPECT_EQ(waiting[1].key, "two");
        tx.fail_slot(two, failure_reason::window_passed, t0);
        EXPECT_EQ(tx.pending_slots_of(id, uuid_of(70)).size(), 1u);
        EXPECT_TRUE(tx.pending_slots_of(account_id{id.value + 1}, uuid_of(70)).empty());
    });
}

// ---- from end to end, for an auditor ----

TEST_P(store_contract, accounts_are_listed_in_pages) {
    for (const char* name : {"a", "b", "c"}) make_account(name, "ABC");
    const auto tx = store_->begin_read();
    const auto all = tx->accounts();
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].name, "a");
    const auto rest = tx->accounts(all[0].id, 10);
    ASSERT_EQ(rest.size(), 2u);
    EXPECT_EQ(rest[0].name, "b");
    EXPECT_EQ(rest[0].default_prefix, "ABC");
    EXPECT_EQ(tx->accounts(all[0].id, 1).size(), 1u);
    EXPECT_TRUE(tx->accounts(all[2].id, 10).empty());
}

TEST_P(store_contract, a_series_says_how_many_numbers_it_has_given) {
    const auto account = make_account();
    const auto series = store_->begin_read()->default_series(account)->id;
    write([&](write_tx& tx) {
        for (int n = 0; n < 3; ++n) tx.take_number(series, "2026");
        tx.take_number(series, "2025");
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    const auto given = tx->numbers_of(series);
    ASSERT_EQ(given.size(), 2u);
    EXPECT_EQ(given[0].period, "2025");
    EXPECT_EQ(given[0].last_number, 1);
    EXPECT_EQ(given[1].period, "2026");
    EXPECT_EQ(given[1].last_number, 3);
    EXPECT_EQ(tx->periods_of(series), (std::vector<std::string>{"2025", "2026"}));
    EXPECT_TRUE(tx->numbers_of(series_id{series.value + 1}).empty());
}

TEST_P(store_contract, tasks_without_a_number_are_found_whosever_they_are) {
    const auto one = make_account("one");
    const auto two = make_account("two");
    write([&](write_tx& tx) {
        for (const account_id account : {one, two}) {
            make_task(tx, account, 1);
            task t;
            t.account = account;
            t.uuid = uuid_of(2);
            t.attributes = {{"a", "b"}};
            tx.put_task(t, tx.default_series(account)->id);
        }
    });
    const auto tx = store_->begin_read();
    const auto all = tx->unnumbered_tasks(task_id{}, 10);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].account, one);
    EXPECT_EQ(all[0].uuid, uuid_of(2));
    EXPECT_EQ(all[0].attributes, (attributes{{"a", "b"}}));
    EXPECT_FALSE(all[0].numbered);
    EXPECT_EQ(all[1].account, two);
    EXPECT_EQ(tx->unnumbered_tasks(task_id{}, 1).size(), 1u);
    EXPECT_EQ(tx->unnumbered_tasks(all[0].id, 10).front().account, two);
}

TEST_P(store_contract, tasks_without_a_number_are_shown_by_series) {
    const auto account = make_account();
    series_id series;
    std::vector<task_id> ids;
    write([&](write_tx& tx) {
        series = tx.default_series(account)->id;
        tx.put_series(account, "OPS", {}, false, t0);
        make_task(tx, account, 9);
        for (int n = 1; n <= 4; ++n) {
            task t;
            t.account = account;
            t.uuid = uuid_of(n);
            t.attributes = {{"status", n == 2 ? "completed" : "pending"}};
            ids.push_back(tx.put_task(t, n == 3 ? tx.find_series(account, "OPS")->id : series));
        }
    });
    const auto shown = [&](std::int64_t from, bool down, bool open, std::size_t limit) {
        std::vector<std::int64_t> some;
        store_->begin_read()->visit_unnumbered({series, {}, from, down, open}, [&](task&& t) {
            EXPECT_EQ(t.current_prefix, "TASK");
            some.push_back(t.id.value);
            return some.size() < limit;
        });
        return some;
    };
    using all = std::vector<std::int64_t>;
    EXPECT_EQ(shown(0, false, false, 9), (all{ids[0].value, ids[1].value, ids[3].value}));
    EXPECT_EQ(shown(ids[0].value, false, false, 1), all{ids[1].value});
    EXPECT_EQ(shown(0, false, true, 9), (all{ids[0].value, ids[3].value}));
    EXPECT_EQ(shown(read_tx::no_limit, true, false, 9),
              (all{ids[3].value, ids[1].value, ids[0].value}));
    EXPECT_EQ(shown(ids[3].value, true, true, 9), all{ids[0].value});
    write([&](write_tx& tx) {
        receipt r{uuid_of(1), "TASK", "", tx.take_number(series, ""), 0, t0, true};
        r.seq = tx.append_version(account, uuid_of(20), t0, {});
        tx.number_task(ids[0], series, r);
    });
    EXPECT_EQ(shown(0, false, false, 9), (all{ids[1].value, ids[3].value}));
}

TEST_P(store_contract, series_that_are_numbering_are_found_whosever_they_are) {
    std::vector<series_id> all;
    for (const char* name : {"one", "two", "three"}) {
        const auto account = make_account(name);
        write([&](write_tx& tx) {
            series s = *tx.default_series(account);
            all.push_back(s.id);
            s.numbering = std::string(name) != "two";
            tx.update_series(s, t0);
            EXPECT_EQ(tx.default_series(account)->numbering, s.numbering);
        });
    }
    const auto tx = store_->begin_read();
    EXPECT_EQ(tx->next_numbering({})->id, all[0]);
    EXPECT_EQ(tx->next_numbering(all[0])->id, all[2]);
    EXPECT_FALSE(tx->next_numbering(all[2]));
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
    tx->visit_versions(one, 0, [&](const version& v) {
        seqs.push_back(v.seq);
        EXPECT_EQ(v.parent, std::exchange(parent, v.id));
        // Other things may be asked meanwhile.
        EXPECT_TRUE(tx->find_task(one, v.operations.front().uuid));
        EXPECT_EQ(tx->versions(one, v.seq - 1, 1).front().id, v.id);
    });
    EXPECT_EQ(seqs, (std::vector<std::int64_t>{1, 2, 3}));
    seqs.clear();
    tx->visit_versions(two, 2, [&](const version& v) { seqs.push_back(v.seq); });
    EXPECT_EQ(seqs, (std::vector<std::int64_t>{3}));
    EXPECT_THROW(tx->visit_versions(one, 0, [](const version&) { throw 1; }), int);
    int after = 0;
    tx->visit_versions(one, 0, [&](const version&) { ++after; });
    EXPECT_EQ(after, 3);
}

TEST_P(store_contract, side_versions_say_where_they_lead) {
    const auto one = make_account("one");
    const auto two = make_account("two");
    write([&](write_tx& tx) {
        for (const account_id account : {one, two}) {
            for (int n = 1; n <= 3; ++n) tx.append_version(account, uuid_of(n), t0, {});
        }
        tx.put_fork_version(two, beside(uuid_of(11), 3), keep_all);
        tx.put_fork_version(one, beside(uuid_of(11), 2), keep_all);
        tx.put_fork_version(one, beside(uuid_of(10), 1), keep_all);
    });
    const auto tx = store_->begin_read();
    const auto all = tx->fork_returns({}, 10);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].id, uuid_of(10));
    EXPECT_EQ(all[0].seq, 1);
    EXPECT_EQ(all[1].account, one);
    EXPECT_EQ(all[1].seq, 2);
    EXPECT_EQ(all[2].account, two);
    EXPECT_EQ(all[2].seq, 3);
    EXPECT_EQ(tx->fork_returns(all[0], 1).front().account, one);
    EXPECT_EQ(tx->fork_returns(all[1], 10).size(), 1u);
    EXPECT_TRUE(tx->fork_returns(all[2], 10).empty());
}

TEST_P(store_contract, the_links_of_sealed_chains_are_listed) {
    const auto [a, b] = write([](write_tx& tx) {
        const auto first = put_opaque(tx, "a", client_a);
        const auto second = put_opaque(tx, "b", client_b);
        for (int n = 1; n <= 3; ++n) {
            tx.append_sealed_version(first, uuid_of(n), uuid_of(n - 1), t0, "segment");
            tx.append_sealed_version(second, uuid_of(n), uuid_of(n - 1), t0, "segment");
        }
        return std::pair(first, second);
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    std::vector<sealed_link> of_b;
    std::int64_t place = 0, seen = 0;
    for (;;) {
        const auto some = tx->sealed_links(place, 2);
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

std::unique_ptr<store> open_memory(const temp_dir&) {
    return make_memory_store();
}

std::unique_ptr<store> open_small_sqlite(const temp_dir& dir) {
    // Bounds so small that every test crosses them.
    sqlite_options options;
    options.data_dir = dir.path();
    options.recent_keys_max = 4;
    options.buffered_entries_max = 4;
    options.key_filter_bytes_max = 1024;
    options.wal_pages_max = 16;
    options.moved_pages_max = 4;
    return open_sqlite(options);
}

INSTANTIATE_TEST_SUITE_P(stores, store_contract,
                         ::testing::Values(backend{"memory", false, open_memory},
                                           backend{"sqlite", true, open_small_sqlite}),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace callsign
