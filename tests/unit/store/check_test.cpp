// `callsign check` finds what is wrong: each test breaks a sound file in one way, with SQL, and
// names the invariant that must be reported.

#include "support/temp_dir.hpp"

#include <callsign/rules/rules.hpp>
#include <callsign/store/sqlite.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <gtest/gtest.h>

namespace callsign {
namespace {

class counted_ids final : public rules::id_source {
  public:
    uuid next(time_point now) override { return make_uuid_v7(now, ++drawn_, 7); }

  private:
    std::uint32_t drawn_ = 0;
};

// Two accounts, some tasks each, one slot pending and one failed, and runs of keys on disk.
void fill(const std::filesystem::path& dir) {
    sqlite_options options;
    options.data_dir = dir;
    options.recent_keys_max = 8;
    const auto store = open_sqlite(options);
    counted_ids ids;
    time_point now{milliseconds{1'700'000'000'000}};
    auto run = [&](const auto& c) {
        const auto tx = store->begin_write();
        auto answer = rules::apply(*tx, c, rules::moment{now += milliseconds{1}, ids});
        tx->commit();
        return answer;
    };
    for (const std::string name : {"one", "two"}) {
        const auto made = run(create_account{name, "SYN", "t", sha256(name)});
        const auto id = std::get<account>(made).id;
        for (int n = 0; n < 25; ++n) {
            const std::string key = "key-" + std::to_string(n);
            const auto reserved =
                std::get<reserve::reserved>(run(reserve{id, key, sha256(key), {}, ""}));
            if (n == 23) {
                run(reconcile_pending{slot_id{}, 10, now + std::chrono::hours{1}, {}});
            } else if (n < 23) {
                run(fulfil{reserved.slot, "", {{"description", "task"}}});
            }
        }
    }
}

// And an opaque one, with a chain that began elsewhere, and a snapshot.
void fill_sealed(const std::filesystem::path& dir) {
    sqlite_options options;
    options.data_dir = dir;
    const auto store = open_sqlite(options);
    counted_ids ids;
    const time_point now{milliseconds{1'700'000'100'000}};
    const uuid client = ids.next(time_point{});
    const auto tx = store->begin_write();
    const rules::moment at{now, ids};
    rules::apply(*tx, create_account{"sealed", "TASK", "t", sha256("sealed"), client}, at);
    uuid last = ids.next(time_point{});
    for (int n = 0; n < 8; ++n) {
        const add_sealed_version next{client, last, "segment", false, {}};
        last = std::get<add_sealed_version::added>(rules::apply(*tx, next, at)).version;
        if (n == 5) rules::apply(*tx, add_sealed_snapshot{client, last, "snapshot", {}}, at);
    }
    tx->commit();
}

struct damage {
    const char* name;
    const char* sql;
    const char* invariant;
};

void PrintTo(const damage& d, std::ostream* out) {
    *out << d.name;
}

class check : public ::testing::TestWithParam<damage> {};

check_report report_of(const std::filesystem::path& dir) {
    return check_sqlite(dir, [](std::string_view) {});
}

TEST(check_sound, a_sound_store_proves_its_promise) {
    testing::temp_dir dir;
    fill(dir.path());
    fill_sealed(dir.path());
    const auto report = report_of(dir.path());
    EXPECT_TRUE(report.ok()) << report.faults.front().text;
    const auto tasks = std::ranges::find(report.checked, "tasks", &check_report::count::what);
    ASSERT_NE(tasks, report.checked.end());
    EXPECT_EQ(tasks->rows, 46);
}

TEST(check_sound, nothing_to_read_is_an_error) {
    testing::temp_dir dir;
    EXPECT_THROW(report_of(dir.path()), std::runtime_error);
}

TEST(check_sound, an_older_schema_is_told_from_a_damaged_one) {
    testing::temp_dir dir;
    fill(dir.path());
    SQLite::Database((dir.path() / "callsign.sqlite3").string(), SQLite::OPEN_READWRITE)
        .exec("PRAGMA user_version = 1");
    EXPECT_THROW(report_of(dir.path()), std::runtime_error);
}

TEST_P(check, finds_the_damage) {
    testing::temp_dir dir;
    fill(dir.path());
    fill_sealed(dir.path());
    {
        SQLite::Database db((dir.path() / "callsign.sqlite3").string(), SQLite::OPEN_READWRITE);
        db.exec("PRAGMA ignore_check_constraints = ON");
        ASSERT_GT(db.exec(GetParam().sql), 0) << "nothing was damaged";
    }
    const auto report = report_of(dir.path());
    ASSERT_FALSE(report.ok());
    EXPECT_TRUE(std::ranges::any_of(
        report.faults, [](const auto& f) { return f.invariant == GetParam().invariant; }))
        << report.faults.front().invariant << ": " << report.faults.front().text;
}

INSTANTIATE_TEST_SUITE_P(
    damages, check,
    ::testing::Values(
        damage{"number_skipped", "UPDATE tasks SET number = 99 WHERE task_id = 5", "I1"},
        damage{"task_lost", "DELETE FROM tasks WHERE task_id = 5", "I1"},
        damage{"counter_ahead", "UPDATE counters SET last_number = last_number + 1", "I1"},
        damage{"counter_behind", "UPDATE counters SET last_number = last_number - 1", "I1"},
        damage{"foreign_series", "UPDATE tasks SET series_id = 2 WHERE task_id = 3", "I1"},
        damage{"foreign_prefix", "UPDATE tasks SET prefix = 'ABC' WHERE task_id = 3", "I1"},
        damage{"number_missing",
               "UPDATE tasks SET number = NULL, counter_id = NULL, seq = NULL WHERE task_id = 4",
               "I2"},
        damage{"version_missing", "DELETE FROM versions WHERE seq = 7 AND account_id = 1", "I2"},
        damage{"key_twice", "UPDATE slots SET key = 'key-1' WHERE slot_id = 3", "I3"},
        damage{"slot_of_another_task", "UPDATE slots SET task_id = 9 WHERE slot_id = 3", "I3"},
        damage{"two_slots_made_one_task",
               "UPDATE slots SET task_id = 1, uuid = (SELECT uuid FROM slots WHERE slot_id = 1)"
               " WHERE slot_id = 3",
               "I3"},
        damage{"key_changed_behind_the_index", "UPDATE slots SET key = 'another' WHERE slot_id = 3",
               "I3"},
        damage{"run_lost", "DELETE FROM key_pages", "I3"},
        damage{"pending_holds_a_task", "UPDATE slots SET task_id = 1 WHERE state = 1", "I4"},
        damage{"failed_without_reason", "UPDATE slots SET reason = 0 WHERE state = 3", "I4"},
        damage{"totals_wrong", "UPDATE totals SET pending = pending + 1", "I4"},
        damage{"hole_in_the_chain", "DELETE FROM versions WHERE seq = 7 AND account_id = 1", "I6"},
        damage{"fork", "UPDATE versions SET parent_id = randomblob(16) WHERE seq = 7", "I6"},
        damage{"head_moved", "UPDATE accounts SET last_version = randomblob(16)", "I6"},
        damage{"sealed_hole", "DELETE FROM sealed_versions WHERE seq = 4", "I6"},
        damage{"sealed_last_lost", "DELETE FROM sealed_versions WHERE seq = 8", "I6"},
        damage{"sealed_parent_lost",
               "UPDATE sealed_versions SET parent_id = randomblob(16) WHERE seq = 4", "I6"},
        damage{"sealed_version_renamed",
               "UPDATE sealed_versions SET version_id = randomblob(16) WHERE seq = 8", "I6"},
        damage{"sealed_ring",
               "UPDATE sealed_versions SET parent_id = (SELECT version_id FROM sealed_versions"
               " WHERE seq = 8) WHERE seq = 1; UPDATE sealed_versions SET version_id ="
               " (SELECT version_id FROM sealed_versions WHERE seq = 3) WHERE seq = 8",
               "I6"},
        damage{"sealed_twice",
               "INSERT INTO sealed_versions SELECT 99, account_id, seq, version_id,"
               " randomblob(16), created_at, segment FROM sealed_versions WHERE seq = 4",
               "I6"},
        damage{"sealed_in_a_managed_account", "UPDATE accounts SET mode = 1 WHERE mode = 2", "I6"},
        damage{"snapshot_of_nothing", "UPDATE sealed_snapshots SET version_id = randomblob(16)",
               "I6"},
        damage{"snapshot_misplaced", "UPDATE sealed_snapshots SET seq = seq - 1", "I6"},
        damage{"client_lost", "DELETE FROM devices", "I8"},
        damage{"a_version_that_made_another", "UPDATE tasks SET seq = 1 WHERE task_id = 5", "I2"},
        damage{"a_task_that_is_gone", "UPDATE tasks SET purged = 1 WHERE task_id = 5", "I6"},
        damage{"other_attributes", "UPDATE tasks SET attributes = x'' WHERE task_id = 5", "I6"},
        damage{"a_side_version_to_nowhere",
               "INSERT INTO side_versions VALUES (1, 1, randomblob(16), 0, 1000, 0, x'', 0, 0)",
               "I6"},
        damage{"a_device_without_a_key",
               "INSERT INTO devices (account_id, client_id, created_at, name)"
               " VALUES (1, randomblob(16), 0, 'a')",
               "I8"}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace callsign
