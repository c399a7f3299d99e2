// The rows of an account are removed while the store is in use; the store is verified after each
// step.

#include "support/check.hpp"
#include "support/counted_ids.hpp"
#include "support/given_ids.hpp"
#include "support/temp_dir.hpp"
#include "t0.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/numbers.hpp>
#include <callsign/rules/rows/purges.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/webhooks.hpp>
#include <callsign/rules/rules.hpp>
#include <callsign/store/sqlite.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace callsign::testing {
namespace {

class removal : public ::testing::Test {
  protected:
    template <class Command>
    typename Command::answer run(const Command& c) {
        const auto tx = store_->begin_write();
        now_ += milliseconds{1};
        auto answer = rules::apply(*tx, c, rules::moment{now_, ids_});
        tx->commit();
        return answer;
    }
    account_id make(const std::string& name) {
        const auto id = std::get<account>(run(create_account{name, "SYN", "t", sha256(name)})).id;
        import_tasks some{id, {}};
        for (std::uint8_t n = 1; n <= 30; ++n) {
            some.tasks.push_back({uuid{{n, 1}}, {{"description", name}}});
        }
        run(some);
        // More history than one step removes.
        for (std::uint8_t n = 1; n <= 30; ++n) {
            edit_task edit{id, uuid{{n, 1}}};
            edit.changes = {{"p", "v"}};
            run(edit);
        }
        return id;
    }
    void reopen() {
        store_.reset();
        store_ = open_sqlite({.data_dir = dir_.path(), .buffered_entries_max = 8});
    }

    // A row in nearly every table, and a new opaque account.
    void furnish(account_id id, std::uint8_t n) {
        run(create_device{
            .account = id, .name = "d", .client_id = uuid{{n, 3}}, .sealed_key = "k"});
        run(add_sealed_version{uuid{{n, 4}}, {}, "sealed", true, {}});
        const auto tx = store_->begin_write();
        webhook w;
        w.account = id;
        w.uuid = uuid{{n, 5}};
        w.sealed_secret = "s";
        w.created_at = now_;
        webhooks::put_delivery(*tx, webhooks::put(*tx, w), {.id = "1", .at = now_});
        purges::put(*tx, {id, uuid{{1, 1}}, 1});
        tx->commit();
    }
    void remove(const std::string& name) {
        run(delete_account{name});
        now_ += std::chrono::hours{1};
        remove_deleted c{milliseconds{1}, 20};
        do {
            c.from = run(c).next;
        } while (c.from);
    }
    // Reads the ids while the store is closed, and opens it again.
    std::map<std::string, std::vector<std::int64_t>> all_ids() {
        store_.reset();
        SQLite::Database rows = rows_of(dir_.path());
        auto all = ids_in(rows);
        reopen();
        return all;
    }

    // The number of rows per table.
    std::map<std::string, std::int64_t> row_counts() {
        SQLite::Database rows = rows_of(dir_.path());
        std::map<std::string, std::int64_t> all;
        SQLite::Statement tables(rows, "SELECT name FROM sqlite_master WHERE type = 'table'");
        while (tables.executeStep()) {
            const std::string name = tables.getColumn(0);
            all[name] = rows.execAndGet("SELECT count(*) FROM " + name).getInt64();
        }
        return all;
    }

    temp_dir dir_;
    std::unique_ptr<store> store_ = open_sqlite({.data_dir = dir_.path()});
    counted_ids ids_;
    time_point now_ = t0;
};

// Deleted rows are overwritten through the WAL: a step of 500 rows of 1 MiB would exceed its
// maximum several times.
TEST_F(removal, removes_large_rows_in_more_steps) {
    const auto gone = make("gone");
    constexpr int large_tasks = 12;
    for (std::uint8_t n = 1; n <= large_tasks; ++n) {
        edit_task edit{gone, uuid{{n, 1}}};
        edit.changes = {{"p", std::string(std::size_t{2} << 20, 'x')}};
        run(edit);
    }
    run(delete_account{gone});
    now_ += std::chrono::hours{1};
    remove_deleted c{milliseconds{1}, 20};
    std::map<int, int> steps;  // per table
    do {
        c.from = run(c).next;
        if (c.from) ++steps[c.from->at.table];
    } while (c.from);
    // Two rows have 4 MiB; the tasks and the versions have such rows.
    EXPECT_EQ(std::ranges::count_if(steps, [](auto& s) { return s.second >= large_tasks / 2; }), 2);
}

TEST_F(removal, removes_large_segments_in_more_steps) {
    constexpr int segments = 8;
    const uuid client{{9, 4}};
    uuid parent{};
    for (int n = 0; n < segments; ++n) {
        parent = std::get<add_sealed_version::added>(
                     run(add_sealed_version{
                         client, parent, std::string(std::size_t{2} << 20, 's'), true, {}}))
                     .version;
    }
    const auto vault = devices::find(*store_->begin_read(), client)->account;
    run(delete_account{vault});
    now_ += std::chrono::hours{1};
    remove_deleted c{milliseconds{1}, 20};
    int steps = 0;
    do {
        c.from = run(c).next;
        ++steps;
    } while (c.from);
    EXPECT_GE(steps, segments / 2);
}

// In every table that may have many rows.
TEST_F(removal, removes_at_most_the_limit_of_rows_in_a_step) {
    constexpr int many = 40, limit = 7;
    const auto gone = make("gone");
    create_series gaps{gone, "GAP0"};
    gaps.project = "gap";
    gaps.allows_gaps = true;
    run(gaps);
    for (int n = 1; n <= many; ++n) {
        const std::string name = std::to_string(n);
        const auto byte = static_cast<std::uint8_t>(n);
        run(create_token{.account = gone, .name = name, .token_hash = sha256(name)});
        run(create_device{gone, name, uuid{{byte, 3}}, "k"});
        edit_series later{gone, "GAP" + std::to_string(n - 1)};
        later.prefix = "GAP" + name;
        later.next = 2 * n;
        run(later);
        import_tasks one{gone};
        one.tasks.push_back({uuid{{byte, 9}}, {{"description", name}, {"project", "gap"}}});
        run(one);
        const auto tx = store_->begin_write();
        purges::put(*tx, {gone, uuid{{byte, 1}}, 1});
        tx->commit();
    }
    run(delete_account{gone});
    now_ += std::chrono::hours{1};
    remove_deleted c{milliseconds{1}, limit};
    auto before = row_counts();
    for (const char* const table : {"tokens", "devices", "prefixes", "purges", "skipped_numbers"}) {
        EXPECT_GE(before[table], many - 1) << table;
    }
    do {
        c.from = run(c).next;
        auto after = row_counts();
        for (const auto& [table, rows] : before) {
            EXPECT_LE(rows - after[table], limit) << table;
        }
        before = std::move(after);
    } while (c.from);
    EXPECT_EQ(before["accounts"], 0);
    EXPECT_TRUE(report_on(dir_.path()).ok());
}

TEST_F(removal, leaves_a_sound_store_after_each_step) {
    const auto other = make("other"), gone = make("gone"), third = make("third");
    run(delete_account{gone});
    now_ += std::chrono::hours{1};
    remove_deleted c{milliseconds{1}, 6};
    int steps = 0;
    std::int64_t removed = 0;
    do {
        const auto step = run(c);
        removed += step.removed;
        c.from = step.next;
        if (++steps % 5 == 0) reopen();
        const auto report = report_on(dir_.path());
        ASSERT_TRUE(report.ok()) << steps << ": " << report.faults.front().text;
    } while (c.from);
    EXPECT_EQ(removed, 1);
    EXPECT_GT(steps, 25);
    EXPECT_EQ(store_->totals()->accounts, 2);
    EXPECT_EQ(store_->totals()->open_tasks, 60);
    // No data of the removed account is left in memory.
    const auto again = make("gone");
    EXPECT_EQ(callsign::numbers::with_last(*store_->begin_read(),
                                           *all_series::default_of(*store_->begin_read(), again))
                  .last_number,
              30);
    for (const account_id id : {other, third}) {
        EXPECT_EQ(tasks::find(*store_->begin_read(), id, uuid{{30, 1}})->numbered->number, 30);
    }
    EXPECT_TRUE(report_on(dir_.path()).ok());
}

// An account created between any two steps is not affected by the removed rows.
TEST_F(removal, an_account_created_in_between_begins_empty) {
    make("other");
    int made = 0;
    bool is_between = true;
    // The number of steps at first: with growing ids the steps increase.
    std::optional<int> places;
    for (int at = 1; is_between && at <= places.value_or(at); ++at) {
        is_between = false;
        // Its rows are the last of each table.
        run(delete_account{make("gone")});
        now_ += std::chrono::hours{1};
        remove_deleted c{milliseconds{1}, 11};
        int steps = 0;
        do {
            c.from = run(c).next;
            if (++steps != at || !c.from) continue;
            is_between = true;
            const std::string name = "made " + std::to_string(++made);
            const auto id =
                std::get<account>(run(create_account{name, "NEW", "t", sha256(name)})).id;
            create_series later{id, "N"};
            later.next = 5;
            ASSERT_TRUE(std::holds_alternative<series>(run(later)));
            import_tasks one{id, {}};
            one.tasks.push_back({uuid{{1, 2}}, {{"description", name}}});
            run(one);
            const auto tx = store_->begin_read();
            EXPECT_EQ(tasks::find(*tx, id, uuid{{1, 2}})->numbered->number, 1) << name;
            EXPECT_EQ(
                callsign::numbers::with_last(*tx, *all_series::find(*tx, id, "N")).last_number, 4)
                << name;
        } while (c.from);
        if (!places) places = steps;
        const auto report = report_on(dir_.path());
        ASSERT_TRUE(report.ok()) << at << ": " << report.faults.front().text;
    }
    EXPECT_GT(made, 10);
}

// In any table, for any account, and after restarts.
TEST_F(removal, no_id_is_assigned_again) {
    furnish(make("stays"), 1);
    std::map<std::string, std::int64_t> highest;
    for (std::uint8_t n = 2; n < 5; ++n) {
        const auto id = make("gone");
        furnish(id, n);
        const auto sealed = devices::find(*store_->begin_read(), uuid{{n, 4}})->account;
        const std::string name = accounts::find(*store_->begin_read(), sealed)->name;
        for (const auto& [table, ids] : all_ids()) {
            std::int64_t last = highest[table];
            for (const std::int64_t row : ids) last = std::max(last, row);
            EXPECT_TRUE(last > highest[table] || ids.empty()) << table << " got no row";
            highest[table] = last;
        }
        remove("gone");
        remove(name);
        run(forget_actions{milliseconds{1}, 100});
        const auto left = all_ids();
        const auto next = make("next");
        furnish(next, static_cast<std::uint8_t>(n + 100));
        for (const auto& [table, ids] : all_ids()) {
            const std::set<std::int64_t> before(left.at(table).begin(), left.at(table).end());
            for (const std::int64_t row : ids) {
                EXPECT_TRUE(before.contains(row) || row > highest[table]) << table << ' ' << row;
            }
        }
        remove("next");
        EXPECT_TRUE(report_on(dir_.path()).ok());
    }
}

// The position of a removal is not stored: after a crash it begins again.
TEST_F(removal, is_completed_after_a_crash) {
    const auto gone = make("gone");
    run(delete_account{gone});
    now_ += std::chrono::hours{1};
    const remove_deleted c{milliseconds{1}, 7};
    for (int n = 0; n < 3; ++n) EXPECT_EQ(run(c).removed, 0);
    reopen();
    remove_deleted all = c;
    std::int64_t removed = 0;
    do {
        const auto step = run(all);
        removed += step.removed;
        all.from = step.next;
    } while (all.from);
    EXPECT_EQ(removed, 1);
    EXPECT_TRUE(report_on(dir_.path()).ok());
}

}  // namespace
}  // namespace callsign::testing
