// Series, their prefixes and the numbers they give: what every store must do.

#include "store_contract.hpp"

#include <callsign/rules/rows/accounts.hpp>

#include <gtest/gtest.h>

namespace callsign {
namespace {

using namespace testing;

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
    EXPECT_EQ(accounts::shown(*tx, *accounts::find(*tx, account)).default_prefix, "NEW");
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

}  // namespace
}  // namespace callsign
