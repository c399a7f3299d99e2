// `callsign check` finds corruption: each test corrupts a sound file in one way, with SQL, and
// names the invariant that must be reported.

#include "support/check.hpp"

#include "support/counted_ids.hpp"
#include "support/incomplete.hpp"
#include "support/temp_dir.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/sealed.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/versions.hpp>
#include <callsign/rules/rules.hpp>
#include <callsign/store/sqlite.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <algorithm>
#include <gtest/gtest.h>
#include <set>

namespace callsign {
namespace {

using testing::report_on;

// Two accounts with some tasks each, one pending and one failed slot, and key runs on disk.
void fill(const std::filesystem::path& dir) {
    sqlite_options options;
    options.data_dir = dir;
    options.recent_keys_max = 8;
    options.buffered_entries_max = 8;
    const auto store = open_sqlite(options);
    testing::counted_ids ids;
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
                run(reconcile_pending{slot_id{}, 10, std::chrono::hours{-1}, {}});
            } else if (n < 23) {
                run(fulfil{reserved.slot, "", {{"description", "task"}}});
            }
        }
    }
}

// Adds an opaque account with an imported chain and a snapshot.
void fill_sealed(const std::filesystem::path& dir) {
    sqlite_options options;
    options.data_dir = dir;
    const auto store = open_sqlite(options);
    testing::counted_ids ids;
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
    const char* proof;  // the check that must find it
    const char* says = "";
};

void PrintTo(const damage& d, std::ostream* out) {
    *out << d.name;
}

class check : public ::testing::TestWithParam<damage> {};

TEST(check_sound, a_sound_store_passes_all_checks) {
    testing::temp_dir dir;
    fill(dir.path());
    fill_sealed(dir.path());
    const auto report = report_on(dir.path());
    EXPECT_TRUE(report.ok()) << report.faults.front().text;
    const auto tasks = std::ranges::find(report.checked, "tasks", &check_report::count::name);
    ASSERT_NE(tasks, report.checked.end());
    EXPECT_EQ(tasks->rows, 46);
}

TEST(check_sound, nothing_to_read_is_an_error) {
    testing::temp_dir dir;
    EXPECT_THROW(report_on(dir.path()), std::runtime_error);
}

TEST(check_sound, an_older_schema_is_distinguished_from_a_corrupt_one) {
    testing::temp_dir dir;
    fill(dir.path());
    SQLite::Database((dir.path() / "callsign.sqlite3").string(), SQLite::OPEN_READWRITE, 0,
                     "callsign")
        .exec("PRAGMA user_version = 0");
    EXPECT_THROW(report_on(dir.path()), std::runtime_error);
}

TEST_P(check, finds_the_corruption) {
    testing::temp_dir dir;
    fill(dir.path());
    fill_sealed(dir.path());
    {
        SQLite::Database db((dir.path() / "callsign.sqlite3").string(), SQLite::OPEN_READWRITE, 0,
                            "callsign");
        db.exec("PRAGMA ignore_check_constraints = ON");
        ASSERT_GT(db.exec(GetParam().sql), 0) << "the SQL changed nothing";
    }
    const auto report = report_on(dir.path());
    std::string said;
    for (const auto& f : report.faults) said += f.invariant + " " + f.text + "\n";
    EXPECT_TRUE(std::ranges::any_of(report.faults, [](const auto& f) {
        return f.invariant == GetParam().invariant &&
               f.text.starts_with(std::string(GetParam().proof) + ": ") &&
               f.text.find(GetParam().says) != f.text.npos;
    })) << said;
}

// An unreadable row may exist and be correct: only its unreadability is reported.
TEST(check_sound, unreadable_rows_are_not_reported_as_lost) {
    for (const char* sql : {"UPDATE tasks SET attributes = x'FF' WHERE task_id % 5 = 0",
                            "UPDATE versions SET operations = x'FF' WHERE seq % 5 = 0",
                            "UPDATE slots SET state = 7 WHERE state = 2 AND slot_id % 5 = 0"}) {
        SCOPED_TRACE(sql);
        testing::temp_dir dir;
        fill(dir.path());
        {
            SQLite::Database db((dir.path() / "callsign.sqlite3").string(), SQLite::OPEN_READWRITE,
                                0, "callsign");
            db.exec("PRAGMA ignore_check_constraints = ON");
            db.exec(sql);
        }
        const auto report = report_on(dir.path());
        EXPECT_FALSE(report.ok());
        for (const auto& f : report.faults) {
            if (f.text.find("state 7") != f.text.npos) continue;
            EXPECT_EQ(f.invariant, "file") << f.text;
        }
    }
}

// Only its clients know the parent of its first version.
TEST(check_sound, a_managed_account_may_begin_with_an_unknown_parent) {
    testing::temp_dir dir;
    {
        const auto store = open_sqlite({.data_dir = dir.path()});
        testing::counted_ids ids;
        const auto tx = store->begin_write();
        const auto at = time_point{milliseconds{1'700'000'000'000}};
        const auto id = accounts::put(*tx, "one", at, account_mode::opaque);
        all_series::put(*tx, id, "SYN", "", true, at);
        const auto client =
            devices::put(*tx, {.client_id = ids.next(at), .account = id, .created_at = at});
        version first{1, ids.next(at), ids.next(at), at, {}};
        sealed::append(*tx, id, first.id, first.parent, at, "sealed");
        versions::take_over(*tx, id, first);
        accounts::become_managed(*tx, id, {1, first.id});
        sealed::remove(*tx, id, first.parent);
        devices::assign_key(*tx, client, "laptop", "key");
        tx->commit();
    }
    const auto report = report_on(dir.path());
    EXPECT_TRUE(report.ok()) << report.faults.front().text;
}

namespace proofs {
constexpr const char* numbers = "the numbers of each series and period are exactly 1..n";
constexpr const char* counted =
    "every number belongs to a series of the task's account, under one of its prefixes";
constexpr const char* every_task = "every task has a number and the version that created it";
constexpr const char* one_slot = "a key has one slot";
constexpr const char* slot_task = "a committed slot's task exists, with the reserved UUID";
constexpr const char* one_maker = "a task was created by at most one slot";
constexpr const char* in_flight = "a slot is in flight while its creation is in the outbox";
constexpr const char* slot_state =
    "an uncommitted slot has no task, and a pending slot no end time";
constexpr const char* totals = "the totals match the slots";
constexpr const char* seqs = "each account's chain has seq 1..n without gaps";
constexpr const char* own_kind = "an account's versions are of its own kind";
constexpr const char* sealed_parents =
    "each sealed version's parent is the one before it, and the head is the last";
constexpr const char* sealed_once =
    "no sealed version is its own ancestor, and none is a parent twice";
constexpr const char* snapshots = "a snapshot is of a version of its account's chain";
constexpr const char* remotes = "an account is remote if and only if it has a remote chain";
constexpr const char* device_keys =
    "a device of a managed account has a key, and one of an opaque account has none";
constexpr const char* clients =
    "a client ID belongs to one account, and an opaque account has a client ID";
constexpr const char* parents =
    "each version's parent is the one before it, and the head is the last";
constexpr const char* sides =
    "a fork version leads back to its account's chain, and is not on it itself";
constexpr const char* makers =
    "a task's version is the one that created it, and the tasks that a version created exist";
constexpr const char* replay = "the tasks match the chain";
constexpr const char* keys = "every key finds its slot";
constexpr const char* listed = "pending_slots has every pending slot, and no other";
constexpr const char* counted_rows = "the totals match the rows";
constexpr const char* stored_bytes = "each account's stored bytes are correct";
constexpr const char* numbers_index = "task_numbers has an entry for every task, and no other";
constexpr const char* versions_index =
    "version_places has an entry for every version, and no other";
constexpr const char* owners = "every row's parent exists";
constexpr const char* file = "the file passes SQLite's integrity check";
constexpr const char* rows = "every row can be read";
constexpr const char* last_ids = "no row has an ID after the last assigned one";
}  // namespace proofs

constexpr damage damages[] = {
    {"number_skipped", "UPDATE tasks SET number = 99 WHERE task_id = 5", "I1", proofs::numbers},
    {"task_lost", "DELETE FROM tasks WHERE task_id = 5", "I1", proofs::numbers},
    {"counter_ahead", "UPDATE counters SET last_number = last_number + 1", "I1", proofs::numbers},
    {"counter_behind", "UPDATE counters SET last_number = last_number - 1", "I1", proofs::numbers},
    {"foreign_series", "UPDATE tasks SET series_id = 2 WHERE task_id = 3", "I1", proofs::counted},
    {"foreign_prefix", "UPDATE tasks SET prefix = 'ABC' WHERE task_id = 3", "I1", proofs::counted},
    {"number_missing",
     "UPDATE tasks SET number = NULL, counter_id = NULL, prefix = NULL, seq = NULL"
     " WHERE task_id = 4",
     "I2", proofs::every_task},
    {"number_missing_in_part", "UPDATE tasks SET number = NULL WHERE task_id = 4", "file",
     proofs::every_task, "damaged: tasks, row 4: an index has it, and cannot"},
    {"version_missing", "DELETE FROM versions WHERE seq = 7 AND account_id = 1", "I2",
     proofs::makers, "there is no such version"},
    {"last_version_missing",
     "DELETE FROM versions WHERE account_id = 1 AND seq = (SELECT last_seq FROM accounts WHERE"
     " account_id = 1)",
     "I2", proofs::makers, "there is no such version"},
    {"key_twice", "UPDATE slots SET key = 'key-1' WHERE slot_id = 3", "I3", proofs::one_slot},
    {"slot_of_another_task", "UPDATE slots SET task_id = 9 WHERE slot_id = 3", "I3",
     proofs::slot_task},
    {"two_slots_made_one_task",
     "UPDATE slots SET task_id = 1, uuid = (SELECT uuid FROM slots WHERE slot_id = 1)"
     " WHERE slot_id = 3",
     "I3", proofs::one_maker},
    {"key_changed_behind_the_index", "UPDATE slots SET key = 'another' WHERE slot_id = 3", "I3",
     proofs::keys},
    {"run_lost", "DELETE FROM key_pages", "I3", proofs::keys},
    {"pending_holds_a_task", "UPDATE slots SET task_id = 1 WHERE state = 1", "file",
     proofs::slot_state},
    {"in_flight_and_not_in_the_outbox",
     "UPDATE slots SET state = 4 WHERE slot_id ="
     " (SELECT min(slot_id) FROM slots WHERE state = 1);"
     "UPDATE totals SET in_flight = 1, pending = pending - 1",
     "I4", proofs::in_flight},
    {"failed_without_reason", "UPDATE slots SET reason = 0 WHERE state = 3", "I4",
     proofs::slot_state},
    {"expires_with_a_task", "UPDATE slots SET expires = 1 WHERE slot_id = 3", "I4",
     proofs::slot_state},
    {"last_task_id_lost", "UPDATE totals SET last_task = last_task - 1", "file", proofs::last_ids},
    {"last_account_id_lost", "UPDATE totals SET last_account = 0", "file", proofs::last_ids},
    {"totals_wrong", "UPDATE totals SET pending = pending + 1", "I4", proofs::totals},
    {"gap_in_the_chain", "DELETE FROM versions WHERE seq = 7 AND account_id = 1", "I6",
     proofs::seqs},
    {"fork", "UPDATE versions SET parent_id = randomblob(16) WHERE seq = 7", "I6", proofs::parents},
    {"head_moved", "UPDATE accounts SET last_version = randomblob(16)", "I6", proofs::parents},
    {"sealed_gap", "DELETE FROM sealed_versions WHERE seq = 4", "I6", proofs::seqs},
    {"sealed_last_lost", "DELETE FROM sealed_versions WHERE seq = 8", "I6", proofs::seqs},
    {"sealed_parent_lost", "UPDATE sealed_versions SET parent_id = randomblob(16) WHERE seq = 4",
     "I6", proofs::sealed_parents},
    {"sealed_version_renamed",
     "UPDATE sealed_versions SET version_id = randomblob(16) WHERE seq = 8", "I6",
     proofs::sealed_parents},
    {"sealed_ring",
     "UPDATE sealed_versions SET parent_id = (SELECT version_id FROM sealed_versions"
     " WHERE seq = 8) WHERE seq = 1; UPDATE sealed_versions SET version_id ="
     " (SELECT version_id FROM sealed_versions WHERE seq = 3) WHERE seq = 8",
     "I6", proofs::sealed_once},
    {"sealed_twice",
     "INSERT INTO sealed_versions SELECT 99, account_id, seq, version_id,"
     " randomblob(16), created_at, bytes, segment FROM sealed_versions WHERE seq = 4",
     "I6", proofs::sealed_once},
    {"sealed_in_a_managed_account", "UPDATE accounts SET mode = 1 WHERE mode = 2", "I6",
     proofs::own_kind},
    {"snapshot_of_nothing", "UPDATE sealed_snapshots SET version_id = randomblob(16)", "I6",
     proofs::snapshots},
    {"snapshot_misplaced", "UPDATE sealed_snapshots SET seq = seq - 1", "I6", proofs::snapshots},
    {"client_lost", "DELETE FROM devices", "I8", proofs::clients},
    {"a_version_that_made_another", "UPDATE tasks SET seq = 1 WHERE task_id = 5", "I2",
     proofs::makers},
    {"a_task_that_is_purged", "UPDATE tasks SET purged = 1 WHERE task_id = 5", "I6",
     proofs::replay},
    {"other_attributes", "UPDATE tasks SET attributes = x'' WHERE task_id = 5", "I6",
     proofs::replay},
    {"a_series_in_another_period", "UPDATE series SET last_period = '2026' WHERE series_id = 1",
     "I1", proofs::numbers, "its last period"},
    {"a_remote_account_without_a_chain", "UPDATE accounts SET elsewhere = 1 WHERE account_id = 1",
     "file", proofs::remotes},
    {"a_fork_version_to_a_missing_version",
     "INSERT INTO fork_versions VALUES (1, 1, 1, randomblob(16), 0, 1000, 0, x'0A02E807', 0)", "I6",
     proofs::sides},
    {"a_device_without_a_key",
     "INSERT INTO devices (account_id, client_id, created_at, name)"
     " VALUES (1, randomblob(16), 0, 'a')",
     "I8", proofs::device_keys},
    {"opaque_with_versions", "UPDATE accounts SET mode = 2 WHERE account_id = 1", "I6",
     proofs::own_kind, "an opaque account with versions"},
    {"sealed_head_moved", "UPDATE accounts SET last_version = randomblob(16) WHERE mode = 2", "I6",
     proofs::sealed_parents, "the head is not"},
    {"sealed_two_children",
     "DROP INDEX sealed_versions_by_parent; INSERT INTO sealed_versions SELECT 99, account_id,"
     " 99, randomblob(16), parent_id, created_at, bytes, segment FROM sealed_versions WHERE seq = "
     "4",
     "I6", proofs::sealed_once, "2 children"},
    {"a_device_of_a_missing_account", "UPDATE devices SET account_id = 99", "I8", proofs::clients,
     "account 99 does not exist"},
    {"the_last_task_and_its_number_lost",
     "DELETE FROM slots WHERE task_id = 23;"
     " UPDATE totals SET committed = committed - 1;"
     " UPDATE counters SET last_number = last_number - 1 WHERE counter_id ="
     " (SELECT counter_id FROM tasks WHERE task_id = 23);"
     " DELETE FROM tasks WHERE task_id = 23",
     "I1", proofs::makers, "which does not exist"},
    {"a_task_that_no_version_made", "UPDATE versions SET operations = x'' WHERE seq = 3", "I6",
     proofs::replay, "tasks, and"},
    {"a_slot_of_a_missing_account", "UPDATE slots SET account_id = 99 WHERE slot_id = 3", "file",
     proofs::owners, "slots, row 3"},
    {"a_version_of_a_missing_account",
     "UPDATE versions SET account_id = 99 WHERE seq = 7 AND account_id = 1", "file", proofs::owners,
     "versions"},
    {"a_fork_version_of_a_missing_account",
     "INSERT INTO fork_versions VALUES (1, 99, 1, randomblob(16), 0, 1, 0, x'0A0101', 0)", "I6",
     proofs::sides, "account 99"},
    {"a_counter_of_another_account",
     "UPDATE counters SET series_id = 2, period = '2026' WHERE counter_id = 1;"
     " UPDATE tasks SET series_id = 2",
     "I1", proofs::counted, "its account is 1"},
    {"a_task_that_no_series_counts", "UPDATE tasks SET counter_id = 99 WHERE task_id = 3", "I1",
     proofs::counted, "whose number belongs to no series of the account"},
    {"a_run_out_of_order",
     "UPDATE key_pages SET entries ="
     " CAST(substr(entries, 17) || substr(entries, 1, 16) AS BLOB)",
     "I3", proofs::keys, "out of order"},
    {"attributes_that_are_none", "UPDATE tasks SET attributes = x'FF' WHERE task_id = 5", "file",
     proofs::rows, "tasks, row 5"},
    {"operations_that_are_none",
     "UPDATE versions SET operations = x'FF' WHERE seq = 5 AND account_id = 2", "file",
     proofs::rows, "versions, row 28"},
    {"a_state_that_there_is_not", "UPDATE slots SET state = 7 WHERE slot_id = 3", "file",
     proofs::rows, "slots, row 3"},
    {"a_uuid_too_short", "UPDATE devices SET client_id = x'00'", "file", proofs::rows,
     "devices, row 1"},
    {"a_task_s_uuid_too_long", "UPDATE tasks SET uuid = randomblob(17) WHERE task_id = 5", "file",
     proofs::rows, "tasks, row 5: the size of an id"},
    {"a_version_id_too_short", "UPDATE versions SET version_id = x'00' WHERE version_row = 5",
     "file", proofs::rows, "versions, row 5: the size of an id"},
    {"a_sealed_version_cut", "UPDATE sealed_versions SET segment = x'00' WHERE sealed_id = 2",
     "file", proofs::rows, "sealed_versions, row 2: its size"},
    {"a_snapshot_cut", "UPDATE sealed_snapshots SET bytes = x'00'", "file", proofs::rows,
     "sealed_snapshots, row"},
    {"retry_times_that_are_none", "INSERT INTO retry_times VALUES (1, x'FF')", "file", proofs::rows,
     "retry_times, row 1"},
    {"a_pending_slot_not_listed",
     "UPDATE index_progress SET pending_through = (SELECT last_slot FROM totals)", "I4",
     proofs::listed, "is pending but missing from pending_slots"},
    {"a_pending_slot_listed_for_another_task",
     "UPDATE index_progress SET pending_through = (SELECT last_slot FROM totals); INSERT INTO "
     "pending_slots"
     " SELECT slot_id, account_id, randomblob(16) FROM slots WHERE state = 1",
     "I4", proofs::listed, "is pending but missing from pending_slots"},
    {"a_settled_slot_listed",
     "INSERT INTO pending_slots SELECT slot_id, account_id, uuid FROM slots"
     " WHERE slot_id = 3",
     "I4", proofs::listed, "is in pending_slots but not pending"},
    {"open_tasks_miscounted", "UPDATE totals SET open_tasks = open_tasks + 1", "I4",
     proofs::counted_rows, "open tasks"},
    {"tasks_miscounted", "UPDATE totals SET tasks = tasks - 1", "I4", proofs::counted_rows},
    {"accounts_miscounted", "UPDATE totals SET accounts = 0", "I4", proofs::counted_rows},
    {"held_series_miscounted", "UPDATE totals SET held_series = 9", "I4", proofs::counted_rows},
    {"an_account_s_bytes_miscounted", "UPDATE accounts SET stored_bytes = 7 WHERE account_id = 1",
     "file", proofs::stored_bytes, "7 stored bytes are recorded"},
    {"a_number_not_indexed", "DELETE FROM task_numbers WHERE task_id = 3", "I1",
     proofs::numbers_index, "number 3 of counter 1 is not in task_numbers"},
    {"a_number_indexed_for_another", "UPDATE task_numbers SET task_id = 4 WHERE task_id = 3", "I1",
     proofs::numbers_index, "which has another"},
    {"an_open_task_indexed_as_closed", "UPDATE task_numbers SET over = 1 WHERE task_id = 3", "I1",
     proofs::numbers_index, "which has another"},
    {"a_number_assigned_twice",
     "UPDATE tasks SET number = 1 WHERE task_id = (SELECT max(task_id) FROM tasks)", "I1",
     proofs::numbers_index, "is assigned to tasks"},
    {"a_version_not_indexed", "DELETE FROM version_places WHERE version_row = 3", "I6",
     proofs::versions_index, "seq 3 is not in version_places"},
    {"a_version_indexed_for_another",
     "UPDATE version_places SET version_row = 4 WHERE version_row = 3", "I6",
     proofs::versions_index, "which has another"},
    {"a_seq_assigned_twice",
     "UPDATE versions SET seq = 1 WHERE version_row = (SELECT max(version_row) FROM versions)",
     "I6", proofs::versions_index, "is in rows"},
    {"an_index_lost",
     "PRAGMA writable_schema = ON; DELETE FROM sqlite_master WHERE name = 'tokens_by_account'",
     "file", proofs::file, "never used"},
};

INSTANTIATE_TEST_SUITE_P(damages, check, ::testing::ValuesIn(damages),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(check_sound, incomplete_tasks_are_listed_and_are_no_error) {
    testing::temp_dir dir;
    const time_point made{milliseconds{1'700'000'000'000}};
    testing::make_incomplete(*open_sqlite({.data_dir = dir.path()}), 60, made);
    const auto report_of = [&](time_point made_before) {
        return check_sqlite(
            dir.path(), rules::audit, [](std::string_view) {}, made_before);
    };
    const check_report old = report_of(made + milliseconds{1});
    EXPECT_TRUE(old.ok());
    EXPECT_EQ(old.incomplete_count, 120);
    ASSERT_EQ(old.incomplete.size(), check_report::incomplete_max);
    EXPECT_EQ(old.incomplete[1].account, "ada");
    EXPECT_EQ(old.incomplete[1].key, "SYN-2");
    EXPECT_EQ(report_of(made).incomplete_count, 0) << "a sync may be in progress";
}

// Fails if a check is disabled, or if no corruption above needs it.
TEST(check_sound, each_check_is_tested) {
    testing::temp_dir dir;
    fill(dir.path());
    std::set<std::string> shown;
    check_sqlite(dir.path(), rules::audit, [&](std::string_view what) { shown.emplace(what); });
    std::set<std::string> tested;
    for (const damage& d : damages) tested.insert(d.proof);
    EXPECT_EQ(shown, tested);
}

}  // namespace
}  // namespace callsign
