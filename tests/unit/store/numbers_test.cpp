// Numbers come from a counter; the index in the file also prevents duplicates.

#include "support/temp_dir.hpp"
#include "t0.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/numbers.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/store/sqlite.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

namespace callsign {
namespace {

struct numbers : ::testing::Test {
    std::unique_ptr<store> open(std::size_t entries_max = 100) {
        sqlite_options options;
        options.data_dir = dir.path();
        options.readers = 3;
        options.buffered_entries_max = entries_max;
        return open_sqlite(options);
    }
    // Tasks 1..3; those with an even number are closed.
    void fill() {
        const auto store = open();
        const auto tx = store->begin_write();
        account = accounts::put(*tx, "home", t0);
        const auto series = all_series::put(*tx, account, "SYN", "", true, t0);
        for (std::uint64_t n = 1; n <= 3; ++n) {
            task t;
            t.account = account;
            t.uuid = make_uuid_v7(t0, 1, n);
            t.created_at = t0;
            t.attributes = {{"status", n % 2 == 0 ? "completed" : "pending"}};
            t.numbered = receipt{
                t.uuid, "SYN", "", callsign::numbers::take(*tx, series, ""), 1, t.created_at, true};
            tasks::put(*tx, t, series);
        }
        tx->commit();
    }
    std::vector<std::int64_t> open_ones(read_tx& tx) const {
        std::vector<std::int64_t> all;
        tasks::visit_numbered(tx, {all_series::default_of(tx, account)->id, "", 0, false, true},
                              [&](task&& t) {
                                  all.push_back(t.numbered->number);
                                  return true;
                              });
        return all;
    }
    void change(const char* sql) {
        SQLite::Database((dir.path() / "callsign.sqlite3").string(), SQLite::OPEN_READWRITE, 0,
                         "callsign")
            .exec(sql);
    }
    // Returns nullopt if the corrupt counter is rejected.
    std::optional<std::int64_t> next() {
        const auto store = open();
        const auto tx = store->begin_write();
        try {
            return callsign::numbers::take(*tx, all_series::default_of(*tx, account)->id, "");
        } catch (const store_failure& failure) {
            EXPECT_EQ(failure.reason(), store_failure::kind::damaged) << failure.what();
            return std::nullopt;
        }
    }

    testing::temp_dir dir;
    account_id account;
};

TEST_F(numbers, continue_after_the_last_one) {
    fill();
    EXPECT_EQ(next(), 4);
}

TEST_F(numbers, of_a_counter_that_is_behind_are_not_assigned) {
    fill();
    change("UPDATE counters SET last_number = 2");  // task 3 is open
    EXPECT_EQ(next(), std::nullopt);
    // task 2 is closed
    change("UPDATE counters SET last_number = 1; DELETE FROM tasks WHERE number = 3");
    EXPECT_EQ(next(), std::nullopt);
    change("UPDATE counters SET last_number = 2");
    EXPECT_EQ(next(), 3);
}

// The open tasks of each snapshot.
TEST_F(numbers, of_open_tasks_are_those_of_the_snapshot) {
    fill();
    auto store = open();
    using list = std::vector<std::int64_t>;
    const auto turn = [&](std::uint64_t n, const char* status) {
        const auto tx = store->begin_write();
        const task before = *tasks::find(*tx, account, make_uuid_v7(t0, 1, n));
        tasks::update(*tx, before, {{"status", status}}, false, 2, t0);
        tx->commit();
    };
    const auto before = store->begin_read();
    EXPECT_TRUE(accounts::find(*before, account));  // begins its snapshot
    turn(1, "completed");
    turn(2, "pending");
    const auto between = store->begin_read();
    EXPECT_EQ(open_ones(*between), (list{2, 3}));
    turn(2, "completed");
    turn(3, "deleted");
    EXPECT_EQ(open_ones(*before), (list{1, 3}));
    EXPECT_EQ(open_ones(*between), (list{2, 3}));
    EXPECT_EQ(open_ones(*store->begin_read()), list{});
    turn(1, "pending");
    EXPECT_EQ(open_ones(*store->begin_read()), list{1});
}

// A task that was numbered unseen is listed once it is visible, whether its entry is buffered or
// not.
TEST_F(numbers, of_open_tasks_appear_when_they_become_visible) {
    fill();
    for (const std::size_t entries_max : {100u, 1u}) {
        auto store = open(entries_max);
        const auto change = [&](const auto& what) {
            const auto tx = store->begin_write();
            what(*tx);
            tx->commit();
        };
        const auto before = open_ones(*store->begin_read());
        std::vector<std::int64_t> unseen, wanted = before;
        std::vector<task_id> ids;
        for (std::uint64_t n = 0; n < 8; ++n) {
            change([&](write_tx& tx) {
                const series_id series = all_series::default_of(tx, account)->id;
                task t;
                t.account = account;
                t.uuid = make_uuid_v7(t0, entries_max + 1, n);
                t.created_at = t0;
                t.purged = true;
                unseen.push_back(callsign::numbers::take(tx, series, ""));
                t.numbered = receipt{t.uuid, "SYN", "", unseen.back(), 0, t.created_at, true};
                ids.push_back(tasks::put(tx, t, series));
            });
        }
        EXPECT_EQ(open_ones(*store->begin_read()), before);
        for (std::size_t n = 0; n < ids.size(); ++n) {
            wanted.push_back(unseen[n]);
            change([&](write_tx& tx) { tasks::reveal(tx, ids[n], {{"status", "pending"}}, 2, 2); });
            EXPECT_EQ(open_ones(*store->begin_read()), wanted) << entries_max;
        }
        store = nullptr;
        store = open(entries_max);
        EXPECT_EQ(open_ones(*store->begin_read()), wanted) << entries_max;
    }
}

}  // namespace
}  // namespace callsign
