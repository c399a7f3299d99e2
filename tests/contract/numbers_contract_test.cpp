// Store contract: series, prefixes and numbers.

#include "store_contract.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/numbers.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <gtest/gtest.h>

namespace callsign {
namespace {

using namespace testing;

TEST_P(store_contract, numbers_are_consecutive_in_each_series_and_period) {
    const auto account = make_account();
    const auto other =
        write([&](write_tx& tx) { return all_series::put(tx, account, "OPS", "ops", false, t0); });
    const auto series = all_series::default_of(*store_->begin_read(), account)->id;
    for (std::int64_t n = 1; n <= 6; ++n) {
        write([&](write_tx& tx) {
            EXPECT_EQ(numbers::take(tx, series, ""), 2 * n - 1);
            EXPECT_EQ(numbers::take(tx, series, ""), 2 * n);
            EXPECT_EQ(numbers::take(tx, other, ""), n);
            EXPECT_EQ(numbers::take(tx, series, "2026"), n);
        });
        if (GetParam().durable && n == 3) reopen();
    }
    const auto last = numbers::with_last(*store_->begin_read(),
                                         *all_series::default_of(*store_->begin_read(), account));
    EXPECT_EQ(last.period, "2026");
    EXPECT_EQ(last.last_number, 6);
    write([&](write_tx& tx) { EXPECT_EQ(numbers::last(tx, series, ""), 12); });
}

TEST_P(store_contract, a_series_is_changed_and_keeps_its_old_prefixes) {
    const auto account = make_account();
    series changed = *all_series::default_of(*store_->begin_read(), account);
    write([&](write_tx& tx) {
        EXPECT_EQ(all_series::find(tx, account, "TASK")->prefix,
                  "TASK");  // cached from here on
        EXPECT_EQ(all_series::default_of(tx, account)->prefix, "TASK");
        changed.prefix = "NEW";
        changed.project = "ops";
        changed.reset = reset_policy::monthly;
        changed.time_zone = "Europe/Berlin";
        changed.archived = changed.allows_gaps = true;
        all_series::update(tx, changed, t0);
        EXPECT_EQ(all_series::find(tx, account, "TASK")->prefix, "NEW");
        EXPECT_EQ(all_series::default_of(tx, account)->prefix, "NEW");
        EXPECT_EQ(all_series::count_former_prefixes(tx, account), 1);
        all_series::put(tx, account, "MORE", "", false, t0);
        EXPECT_EQ(all_series::count_former_prefixes(tx, account), 1);
    });
    {
        const auto dropped = store_->begin_write();
        series other = changed;
        other.prefix = "LOST";
        all_series::update(*dropped, other, t0);
    }
    if (GetParam().durable) reopen();
    write([&](write_tx& tx) {
        EXPECT_EQ(all_series::find(tx, account, "NEW")->id, changed.id);
        EXPECT_FALSE(all_series::find(tx, account, "LOST"));
    });
    const auto tx = store_->begin_read();
    const auto found = all_series::find(*tx, account, "TASK");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->prefix, "NEW");
    EXPECT_EQ(found->reset, reset_policy::monthly);
    EXPECT_EQ(found->time_zone, "Europe/Berlin");
    EXPECT_TRUE(found->archived && found->allows_gaps && found->is_default);
    EXPECT_EQ(all_series::find_for_project(*tx, account, "ops")->id, changed.id);
    EXPECT_EQ(accounts::shown(*tx, *accounts::find(*tx, account)).default_prefix, "NEW");
}

TEST_P(store_contract, numbers_are_counted_by_period_and_may_be_skipped) {
    const auto account = make_account();
    const auto series = all_series::default_of(*store_->begin_read(), account)->id;
    write([&](write_tx& tx) {
        EXPECT_EQ(numbers::last_period(tx, series), "");
        EXPECT_EQ(numbers::last(tx, series, "20261120"), 0);
        numbers::skip(tx, series, "20261120", 4);
        EXPECT_EQ(numbers::take(tx, series, "20261120"), 5);
        EXPECT_EQ(numbers::last_period(tx, series), "20261120");
        EXPECT_EQ(numbers::take(tx, series, "20261121"), 1);
        numbers::skip(tx, series, "20261121", 3);
        EXPECT_EQ(numbers::last_period(tx, series), "20261121");
        EXPECT_EQ(numbers::last(tx, series, "20261121"), 3);
    });
    {
        const auto dropped = store_->begin_write();
        numbers::skip(*dropped, series, "20261122", 9);
        EXPECT_EQ(numbers::last_period(*dropped, series), "20261122");
    }
    write([&](write_tx& tx) { EXPECT_EQ(numbers::last_period(tx, series), "20261121"); });
    if (GetParam().durable) reopen();
    write([&](write_tx& tx) {
        EXPECT_EQ(numbers::last_period(tx, series), "20261121");
        EXPECT_EQ(numbers::last(tx, series, "20261122"), 0);
        EXPECT_EQ(numbers::last_period(tx, series), "20261121") << "a query creates no period";
    });
    const auto tx = store_->begin_read();
    const auto found = numbers::with_last(*tx, *all_series::default_of(*tx, account));
    EXPECT_EQ(found.period, "20261121");
    EXPECT_EQ(found.last_number, 3);
    EXPECT_EQ(numbers::skipped(*tx, series),
              (std::vector<numbers_skipped>{{"20261120", 1, 4}, {"20261121", 2, 3}}));
}

TEST_P(store_contract, a_skipped_number_can_be_assigned_later) {
    const auto account = make_account();
    const series_id series = all_series::default_of(*store_->begin_read(), account)->id;
    const auto reclaim = [&](std::int64_t number) {
        write([&](write_tx& tx) {
            ASSERT_TRUE(numbers::is_skipped(tx, series, "", number)) << number;
            numbers::reclaim(tx, series, "", number);
            EXPECT_FALSE(numbers::is_skipped(tx, series, "", number)) << number;
        });
        if (GetParam().durable) reopen();
        return numbers::skipped(*store_->begin_read(), series);
    };
    using all = std::vector<numbers_skipped>;
    write([&](write_tx& tx) {
        EXPECT_FALSE(numbers::is_skipped(tx, series, "", 1));
        numbers::take(tx, series, "");
        numbers::skip(tx, series, "", 9);
        numbers::take(tx, series, "");
        for (const std::int64_t other : {0, 1, 10, 11}) {
            EXPECT_FALSE(numbers::is_skipped(tx, series, "", other)) << other;
        }
        EXPECT_FALSE(numbers::is_skipped(tx, series, "20261120", 5));
    });
    EXPECT_EQ(reclaim(5), (all{{"", 2, 4}, {"", 6, 9}}));
    EXPECT_EQ(reclaim(2), (all{{"", 3, 4}, {"", 6, 9}}));
    EXPECT_EQ(reclaim(9), (all{{"", 3, 4}, {"", 6, 8}}));
    EXPECT_EQ(reclaim(3), (all{{"", 4, 4}, {"", 6, 8}}));
    EXPECT_EQ(reclaim(4), (all{{"", 6, 8}}));
    write([&](write_tx& tx) { EXPECT_EQ(numbers::take(tx, series, ""), 11); });
}

TEST_P(store_contract, a_task_without_a_number_gets_one_once) {
    const auto account = make_account();
    const auto id = write([&](write_tx& tx) {
        task t;
        t.account = account;
        t.uuid = uuid_of(1);
        t.created_at = t0;
        t.attributes = {{"description", "came another way"}};
        return tasks::put(tx, t, all_series::default_of(tx, account)->id);
    });
    EXPECT_FALSE(tasks::find(*store_->begin_read(), account, uuid_of(1))->numbered);
    write([&](write_tx& tx) {
        const auto series = all_series::default_of(tx, account);
        receipt r{uuid_of(1), "TASK", "", numbers::take(tx, series->id, ""), 0, t0, true};
        r.seq = versions::append(tx, account, uuid_of(2), t0, {});
        tasks::number(tx, id, series->id, r);
    });
    const auto tx = store_->begin_read();
    const auto found = tasks::find(*tx, all_series::default_of(*tx, account)->id, "", 1);
    ASSERT_TRUE(found && found->numbered);
    EXPECT_EQ(key_of(*found->numbered), "TASK-1");
    EXPECT_EQ(found->last_seq, 1);
}

TEST_P(store_contract, series_and_prefixes) {
    const auto one = make_account("one", "SYN");
    const auto two = make_account("two", "SYN");  // prefixes are unique per account only
    write([&](write_tx& tx) { all_series::put(tx, one, "OPS", "ops", false, t0); });
    const auto tx = store_->begin_read();
    EXPECT_EQ(all_series::of(*tx, one).size(), 2u);
    EXPECT_EQ(all_series::find_for_project(*tx, one, "ops")->prefix, "OPS");
    EXPECT_FALSE(all_series::find_for_project(*tx, one, ""));
    EXPECT_FALSE(all_series::find_for_project(*tx, two, "ops"));
    EXPECT_NE(all_series::find(*tx, one, "SYN")->id, all_series::find(*tx, two, "SYN")->id);
    EXPECT_FALSE(all_series::find(*tx, two, "OPS"));
    EXPECT_TRUE(all_series::default_of(*tx, one)->is_default);
}

TEST_P(store_contract, a_series_counts_its_assigned_numbers) {
    const auto account = make_account();
    const auto series = all_series::default_of(*store_->begin_read(), account)->id;
    write([&](write_tx& tx) {
        for (int n = 0; n < 3; ++n) numbers::take(tx, series, "2026");
        numbers::take(tx, series, "2025");
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    const auto given = numbers::given(*tx, series);
    ASSERT_EQ(given.size(), 2u);
    EXPECT_EQ(given[0].period, "2025");
    EXPECT_EQ(given[0].last_number, 1);
    EXPECT_EQ(given[1].period, "2026");
    EXPECT_EQ(given[1].last_number, 3);
    EXPECT_EQ(numbers::periods(*tx, series), (std::vector<std::string>{"2025", "2026"}));
    EXPECT_TRUE(numbers::given(*tx, series_id{series.value + 1}).empty());
}

TEST_P(store_contract, tasks_without_a_number_are_found_in_all_accounts) {
    const auto one = make_account("one");
    const auto two = make_account("two");
    write([&](write_tx& tx) {
        for (const account_id account : {one, two}) {
            make_task(tx, account, 1);
            task t;
            t.account = account;
            t.uuid = uuid_of(2);
            t.attributes = {{"a", "b"}};
            tasks::put(tx, t, all_series::default_of(tx, account)->id);
        }
    });
    const auto tx = store_->begin_read();
    const auto all = tasks::unnumbered(*tx, task_id{}, 10);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].account, one);
    EXPECT_EQ(all[0].uuid, uuid_of(2));
    EXPECT_EQ(all[0].attributes, (attributes{{"a", "b"}}));
    EXPECT_FALSE(all[0].numbered);
    EXPECT_EQ(all[1].account, two);
    EXPECT_EQ(tasks::unnumbered(*tx, task_id{}, 1).size(), 1u);
    EXPECT_EQ(tasks::unnumbered(*tx, all[0].id, 10).front().account, two);
}

TEST_P(store_contract, tasks_without_a_number_are_shown_by_series) {
    const auto account = make_account();
    series_id series;
    std::vector<task_id> ids;
    write([&](write_tx& tx) {
        series = all_series::default_of(tx, account)->id;
        all_series::put(tx, account, "OPS", {}, false, t0);
        make_task(tx, account, 9);
        for (int n = 1; n <= 4; ++n) {
            task t;
            t.account = account;
            t.uuid = uuid_of(n);
            t.attributes = {{"status", n == 2 ? "completed" : "pending"}};
            ids.push_back(
                tasks::put(tx, t, n == 3 ? all_series::find(tx, account, "OPS")->id : series));
        }
    });
    const auto shown = [&](std::int64_t from, bool down, bool open, std::size_t limit) {
        std::vector<std::int64_t> some;
        tasks::visit_unnumbered(*store_->begin_read(), {series, {}, from, down, open},
                                [&](task&& t) {
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
        receipt r{uuid_of(1), "TASK", "", numbers::take(tx, series, ""), 0, t0, true};
        r.seq = versions::append(tx, account, uuid_of(20), t0, {});
        tasks::number(tx, ids[0], series, r);
    });
    EXPECT_EQ(shown(0, false, false, 9), (all{ids[1].value, ids[3].value}));
}

TEST_P(store_contract, series_that_are_numbering_are_found_in_all_accounts) {
    std::vector<series_id> all;
    for (const char* name : {"one", "two", "three"}) {
        const auto account = make_account(name);
        write([&](write_tx& tx) {
            series s = *all_series::default_of(tx, account);
            all.push_back(s.id);
            s.numbering = std::string(name) != "two";
            all_series::update(tx, s, t0);
            EXPECT_EQ(all_series::default_of(tx, account)->numbering, s.numbering);
        });
    }
    const auto tx = store_->begin_read();
    EXPECT_EQ(all_series::next_numbering(*tx, {})->id, all[0]);
    EXPECT_EQ(all_series::next_numbering(*tx, all[0])->id, all[2]);
    EXPECT_FALSE(all_series::next_numbering(*tx, all[2]));
}

}  // namespace
}  // namespace callsign
