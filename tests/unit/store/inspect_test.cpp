// Goal: inspecting a store reports its state and changes nothing. Method: real stores, open, closed
// and as after a kill; name, bytes and modification time of every file before and after.

#include "support/incomplete.hpp"
#include "support/temp_dir.hpp"

#include <callsign/rules/sight.hpp>
#include <callsign/store/sqlite.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace callsign {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

store_state look_at_all(const fs::path& at, time_point made_before = time_point::max()) {
    return inspect_store(at, [&](read_tx& tx) { return rules::look_at(tx, made_before); });
}

struct look : ::testing::Test {
    testing::temp_dir temp;
    fs::path dir = temp.path() / "data";
    fs::path file = dir / "callsign.sqlite3";

    // Name, bytes, mode, owner and times.
    std::map<std::string, std::string> traces(const fs::path& in) const {
        std::map<std::string, std::string> all;
        // A temporary file changes the time of the directory.
        struct stat folder {};
        ::stat(in.c_str(), &folder);
        all["."] =
            std::to_string(folder.st_mtim.tv_sec) + "." + std::to_string(folder.st_mtim.tv_nsec);
        for (const auto& entry : fs::directory_iterator(in)) {
            // Readers of an open store change the shared memory.
            if (entry.path().string().ends_with("-shm")) continue;
            struct stat status {};
            ::stat(entry.path().c_str(), &status);
            std::string& its = all[entry.path().filename()];
            its = std::to_string(status.st_mode) + "|" + std::to_string(status.st_uid) + "|" +
                  std::to_string(status.st_mtim.tv_sec) + "." +
                  std::to_string(status.st_mtim.tv_nsec);
            if (!entry.is_regular_file()) continue;
            std::ifstream file_in(entry.path(), std::ios::binary);
            const std::string bytes(std::istreambuf_iterator<char>(file_in), {});
            its += "|" + std::to_string(bytes.size()) + "|" +
                   std::to_string(std::hash<std::string>{}(bytes));
        }
        return all;
    }
    store_state look_at(const fs::path& at) const {
        const auto before = traces(at);
        store_state found = look_at_all(at);
        EXPECT_EQ(traces(at), before) << "a file was changed";
        return found;
    }
    void execute(const std::string& sql) const {
        // Opens with the checksums of the store's pages.
        SQLite::Database db(file.string(), SQLite::OPEN_READWRITE, 0, "callsign");
        db.exec(sql);
    }
};

TEST_F(look, at_a_missing_store_creates_nothing) {
    const store_state found = look_at_all(dir);
    EXPECT_FALSE(found.exists);
    EXPECT_EQ(found.holder, 0);
    EXPECT_FALSE(fs::exists(dir));
    fs::create_directory(dir);
    EXPECT_FALSE(look_at(dir).exists);
    EXPECT_TRUE(fs::is_empty(dir));
}

TEST_F(look, at_a_closed_store) {
    { const auto store = open_sqlite({.data_dir = dir}); }
    const store_state found = look_at(dir);
    EXPECT_TRUE(found.exists);
    EXPECT_TRUE(found.is_database);
    EXPECT_TRUE(found.is_wal);
    EXPECT_EQ(found.schema, found.schema_known);
    EXPECT_GT(found.schema, 0);
    EXPECT_EQ(found.unread, "");
    EXPECT_EQ(found.unreadable, "");
    EXPECT_EQ(found.holder, 0);
    EXPECT_EQ(found.pending, 0);
    EXPECT_FALSE(found.oldest_pending);
    EXPECT_TRUE(found.held.empty());
    EXPECT_FALSE(found.device);
}

TEST_F(look, at_a_store_that_a_process_has) {
    const auto store = open_sqlite({.data_dir = dir});
    const store_state found = look_at(dir);
    EXPECT_EQ(found.holder, ::getpid());
    EXPECT_EQ(found.unread, "");
    EXPECT_EQ(found.schema, found.schema_known);
}

// After a kill the WAL was not checkpointed.
TEST_F(look, reads_rows_that_only_the_wal_has) {
    const fs::path killed = temp.path() / "killed";
    {
        const auto store = open_sqlite({.data_dir = dir});
        execute("UPDATE totals SET last_moment = 42");
        fs::copy(dir, killed);
    }
    ASSERT_GT(fs::file_size(killed / "callsign.sqlite3-wal"), 0u);
    const store_state found = look_at(killed);
    EXPECT_EQ(found.unread, "");
    EXPECT_EQ(found.schema, found.schema_known);
    EXPECT_EQ(found.last_moment.time_since_epoch().count(), 42);
}

TEST_F(look, lists_the_first_incomplete_tasks_that_are_not_too_young) {
    {
        const auto store = open_sqlite({.data_dir = dir});
        testing::make_incomplete(*store, 12, time_point{milliseconds{1000}});
    }
    const store_state found = look_at_all(dir, time_point{milliseconds{1001}});
    ASSERT_EQ(found.unread, "");
    EXPECT_EQ(found.incomplete_count, 24);
    ASSERT_EQ(found.incomplete.size(), 10u);
    EXPECT_EQ(found.incomplete[0].account, "ada");
    EXPECT_EQ(found.incomplete[0].key, "SYN-1");
    EXPECT_EQ(found.incomplete[0].uuid, make_uuid_v7(time_point{}, 1, 0));
    EXPECT_EQ(look_at_all(dir, time_point{milliseconds{1000}}).incomplete_count, 0);
}

// `callsign check` reports the task.
TEST_F(look, skips_an_unreadable_task) {
    {
        const auto store = open_sqlite({.data_dir = dir});
        testing::make_incomplete(*store, 12, time_point{milliseconds{1000}});
    }
    execute("UPDATE tasks SET attributes = x'FF' WHERE task_id = 1");
    const store_state found = look_at_all(dir);
    EXPECT_EQ(found.unread, "");
    EXPECT_EQ(found.incomplete_count, 23);
}

// Then it is unknown whether series are held.
TEST_F(look, reports_other_unreadable_rows) {
    {
        const auto store = open_sqlite({.data_dir = dir});
        testing::make_incomplete(*store, 1, time_point{milliseconds{1000}});
    }
    execute("UPDATE totals SET held_series = 1");
    execute("PRAGMA ignore_check_constraints = ON; UPDATE series SET reset = 99");
    EXPECT_NE(look_at_all(dir).unread, "");
}

TEST_F(look, reports_slots_series_and_time) {
    { const auto store = open_sqlite({.data_dir = dir}); }
    execute("UPDATE totals SET pending = 2, held_series = 1, last_moment = 1795000000000");
    execute(
        "INSERT INTO accounts VALUES (7, 'ada', 1, 1, 1, NULL, 0, 0, zeroblob(16), 0, 0, 0, 0,"
        " 0)");
    execute(
        "INSERT INTO series VALUES (3, 7, 'SYN', '', 0, 1, '', 1, 'UTC', 0, 0, 1, 0, NULL, '', 0),"
        " (4, 7, 'INC', '', 0, 1, '', 1, 'UTC', 0, 0, 0, 0, NULL, '', 0)");
    for (const char* values : {"(1, 1000, 1)", "(2, 500, 1)", "(3, 100, 3)"}) {
        execute(
            std::string("INSERT INTO slots (slot_id, created_at, state, account_id, key,"
                        " fingerprint, uuid, attempts, created, settled_at, reason,"
                        " expires)"
                        " SELECT v.a, v.b, v.c, 7, 'k' || v.a, zeroblob(32), zeroblob(16), 1, 1,"
                        " iif(v.c = 3, 1, NULL), iif(v.c = 3, 1, 0), iif(v.c = 3, 1, 0) FROM"
                        " (SELECT column1 AS a, column2 AS b, column3 AS c FROM (VALUES ") +
            values + ")) v");
    }
    execute(
        "INSERT INTO devices (client_id, account_id, name, key, created_at) VALUES"
        " (randomblob(16), 7, 'laptop', x'0102', 1)");
    const store_state found = look_at(dir);
    ASSERT_EQ(found.unread, "");
    EXPECT_EQ(found.pending, 2);
    EXPECT_EQ(found.last_moment.time_since_epoch().count(), 1795000000000);
    ASSERT_TRUE(found.oldest_pending);
    EXPECT_EQ(found.oldest_pending->time_since_epoch().count(), 1000) << "the first one";
    EXPECT_EQ(found.held_count, 1);
    ASSERT_EQ(found.held.size(), 1u);
    EXPECT_EQ(found.held[0].account, "ada");
    EXPECT_EQ(found.held[0].prefix, "SYN");
    ASSERT_TRUE(found.device);
    EXPECT_EQ(found.device->account.value, 7);
    EXPECT_EQ(found.device->sealed_key, "\x01\x02");
}

TEST_F(look, reports_a_newer_and_an_older_schema_and_migrates_neither) {
    { const auto store = open_sqlite({.data_dir = dir}); }
    execute("PRAGMA user_version = 99");
    store_state found = look_at(dir);
    EXPECT_EQ(found.schema, 99);
    EXPECT_THAT(found.unread, HasSubstr("schema 99"));
    execute("PRAGMA user_version = 0");
    found = look_at(dir);
    EXPECT_EQ(found.schema, 0);
    EXPECT_NE(found.unread, "");
}

TEST_F(look, reports_the_database_of_another_program) {
    fs::create_directory(dir);
    {
        SQLite::Database db(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        db.exec("CREATE TABLE recipes (name TEXT)");
    }
    const store_state found = look_at(dir);
    EXPECT_TRUE(found.is_database);
    EXPECT_FALSE(found.is_own);
}

TEST_F(look, reports_files_that_are_no_store) {
    fs::create_directory(dir);
    std::ofstream(file) << "Nothing that SQLite would know; " << std::string(200, 'x');
    EXPECT_FALSE(look_at(dir).is_database);
    EXPECT_TRUE(look_at(dir).exists);
    std::ofstream(file).close();
    EXPECT_FALSE(look_at(dir).is_database);
    fs::remove(file);
    fs::create_directory(file);
    EXPECT_THAT(look_at(dir).unreadable, HasSubstr("Is a directory"));
}

}  // namespace
}  // namespace callsign
