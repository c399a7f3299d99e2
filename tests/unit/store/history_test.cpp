// Task history needs no more disk space than the changes that were sent, and the operations that
// lead back to a state are no longer than the task, however small the changes are.

#include "support/check.hpp"
#include "support/temp_dir.hpp"
#include "t0.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/store/sqlite.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

namespace callsign {
namespace {

constexpr std::int64_t row_bytes = 64;  // the overhead of each row

struct history : ::testing::Test {
    std::unique_ptr<store> open() {
        sqlite_options options;
        options.data_dir = dir.path();
        return open_sqlite(options);
    }
    void make(attributes all) {
        const auto store = open();
        const auto tx = store->begin_write();
        account = accounts::put(*tx, "home", t0);
        const auto series = all_series::put(*tx, account, "SYN", "", true, t0);
        task t;
        t.account = account;
        t.uuid = id;
        t.created_at = t0;
        t.last_seq = 1;
        t.attributes = std::move(all);
        tasks::put(*tx, t, series);
        tx->commit();
    }
    // Applies this change repeatedly.
    template <class Change>
    void change(int times, Change change) {
        const auto store = open();
        for (int n = 0; n < times; ++n) {
            const auto tx = store->begin_write();
            const auto before = *tasks::find(*tx, account, id);
            auto now = before.attributes;
            change(now, n);
            tasks::update(*tx, before, now, false, before.last_seq + 1, t0);
            tx->commit();
        }
    }
    std::int64_t ask(const char* sql) {
        SQLite::Database db((dir.path() / "callsign.sqlite3").string(), SQLite::OPEN_READONLY, 0,
                            "callsign");
        return db.execAndGet(sql).getInt64();
    }
    std::int64_t bytes() { return ask("SELECT sum(length(attributes)) FROM task_history"); }
    std::int64_t longest_way() {
        return ask(
            "SELECT max(way) FROM (SELECT sum(bytes + 64) AS way FROM"
            " (SELECT kind, bytes, sum(kind <> 2) OVER (ORDER BY history_id) AS before"
            " FROM task_history) WHERE kind = 2 GROUP BY before)");
    }
    std::int64_t whole() { return ask("SELECT count(*) FROM task_history WHERE kind = 1"); }

    testing::temp_dir dir;
    account_id account;
    uuid id = make_uuid_v7(t0, 1, 1);
};

TEST_F(history, of_a_large_task_is_proportional_to_its_changes) {
    constexpr std::int64_t size = 100'000;
    make({{"description", std::string(size, 'x')}, {"n", ""}});
    change(3000, [](attributes& all, int n) { all["n"] = std::to_string(n); });
    // 3,000 small changes are about twice the size of the task.
    EXPECT_LE(longest_way(), size + 100);
    EXPECT_GE(whole(), 1);
    EXPECT_LE(whole(), 3000 * (row_bytes + 20) / size);
    EXPECT_LE(bytes(), 3000 * 20 + (whole() + 1) * size);
}

TEST_F(history, of_a_small_task_is_short) {
    make({{"a", "1"}});
    change(1000, [](attributes& all, int n) { all["a"] = std::to_string(n); });
    EXPECT_LE(longest_way(), 1024);
    EXPECT_GE(whole(), 1000 / (1024 / row_bytes));
    EXPECT_LE(bytes(), 1000 * 20);
}

// A large value is stored once for each time it was sent.
TEST_F(history, of_a_large_value_is_stored_once) {
    constexpr std::int64_t size = 100'000;
    make({{"large", std::string(size, 'x')}});
    change(100, [](attributes& all, int n) {
        if (n == 0) {
            all.erase("large");
        } else {
            all["small"] = std::to_string(n);
        }
    });
    EXPECT_LE(bytes(), size + 100 * 30);
}

TEST_F(history, that_is_corrupt_is_reported) {
    make({{"a", "1"}});
    change(5, [](attributes& all, int n) { all["a"] = std::to_string(n); });
    {
        SQLite::Database db((dir.path() / "callsign.sqlite3").string(), SQLite::OPEN_READWRITE, 0,
                            "callsign");
        db.exec("UPDATE task_history SET attributes = X'0AFF' WHERE history_id = 3");
        db.exec("UPDATE task_history SET attributes = X'120162' WHERE history_id = 1");
    }
    const auto store = open();
    const auto tx = store->begin_read();
    const auto why = [&](std::int64_t seq) -> std::string {
        try {
            callsign::history::find_as_of(*tx, account, id, seq);
        } catch (const store_failure& failure) {
            EXPECT_EQ(failure.reason(), store_failure::kind::damaged);
            return failure.what();
        }
        return {};
    };
    EXPECT_EQ(why(4), "");
    EXPECT_NE(why(3).find("task_history"), std::string::npos);
    // The change removes an attribute that the state after it does not have either.
    EXPECT_NE(why(1).find("task_history"), std::string::npos);
    std::string all;
    for (const auto& fault : testing::report_on(dir.path()).faults) all += fault.text + "\n";
    EXPECT_NE(all.find("task_history, row 3"), std::string::npos) << all;
}

}  // namespace
}  // namespace callsign
