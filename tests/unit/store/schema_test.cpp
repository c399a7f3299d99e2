// Older schemas are migrated to the current one; a newer one is rejected, and files of other
// programs are not changed.

#include "support/later_steps.hpp"
#include "support/temp_dir.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/store/sqlite.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <span>
#include <sys/stat.h>

namespace callsign {
namespace {

using testing::temp_dir;
using testing::with_later_steps;

std::filesystem::path file_in(const temp_dir& dir) {
    return dir.path() / "callsign.sqlite3";
}

std::unique_ptr<store> open(const temp_dir& dir) {
    sqlite_options options;
    options.data_dir = dir.path();
    return open_sqlite(options);
}

std::set<std::string> schema_of(const temp_dir& dir) {
    std::set<std::string> all;
    SQLite::Database db(file_in(dir).string());
    SQLite::Statement q(db, "SELECT coalesce(sql, name) FROM sqlite_master");
    while (q.executeStep()) all.insert(q.getColumn(0).getString());
    SQLite::Statement version(db, "PRAGMA user_version");
    version.executeStep();
    all.insert("schema " + version.getColumn(0).getString());
    return all;
}

int newest() {
    temp_dir dir;
    open(dir);
    SQLite::Database db(file_in(dir).string());
    return db.execAndGet("PRAGMA user_version").getInt();
}

// A store with an account, and its file.
class migrated : public ::testing::Test {
  protected:
    migrated() {
        const auto store = open(dir_);
        const auto tx = store->begin_write();
        accounts::put(*tx, "home", time_point{milliseconds{1'700'000'000'000}});
        tx->commit();
    }

    sqlite::connection file() {
        return {file_in(dir_), SQLite::OPEN_READWRITE, std::size_t{1} << 20};
    }

    temp_dir dir_;
};

TEST_F(migrated, runs_the_missing_steps_in_order_and_each_once) {
    const auto later = with_later_steps(
        {"ALTER TABLE accounts ADD COLUMN colour TEXT; UPDATE accounts SET colour = 'red'",
         "CREATE TABLE colours (colour TEXT); INSERT INTO colours SELECT colour FROM accounts"});
    const auto colours = "SELECT count(*) FROM colours WHERE colour = 'red'";
    auto db = file();
    sqlite::migrate(db, std::span(later).first(later.size() - 1));
    sqlite::migrate(db, later);
    EXPECT_EQ(db.integer_of(colours), 1);
    sqlite::migrate(db, later);
    EXPECT_EQ(db.integer_of(colours), 1);
    EXPECT_EQ(db.integer_of("PRAGMA user_version"), std::ssize(later));
}

// A step and its number are one transaction: a failed step leaves neither.
TEST_F(migrated, a_failed_step_leaves_nothing) {
    const auto later = with_later_steps({"CREATE TABLE first (x); CREATE TABLE in_the_way (x)"});
    auto db = file();
    db.execute("CREATE TABLE in_the_way (x)");
    EXPECT_ANY_THROW(sqlite::migrate(db, later));
    auto again = file();
    EXPECT_EQ(again.integer_of("PRAGMA user_version"), std::ssize(later) - 1);
    EXPECT_EQ(again.integer_of("SELECT count(*) FROM sqlite_master WHERE name = 'first'"), 0);
}

TEST(schema, a_newer_one_is_rejected_and_not_changed) {
    temp_dir dir;
    open(dir);
    const int newer = newest() + 1;
    SQLite::Database(file_in(dir).string(), SQLite::OPEN_READWRITE, 0, "callsign")
        .exec("PRAGMA user_version = " + std::to_string(newer));
    try {
        open(dir);
        ADD_FAILURE() << "the store was opened";
    } catch (const std::runtime_error& e) {
        EXPECT_NE(std::string(e.what()).find("newer"), std::string::npos) << e.what();
    }
    EXPECT_TRUE(schema_of(dir).contains("schema " + std::to_string(newer)));
}

TEST(schema, data_of_another_program_are_rejected_and_not_changed) {
    const auto bytes = [](const std::filesystem::path& file) {
        std::ifstream in(file, std::ios::binary);
        return std::string{std::istreambuf_iterator<char>(in), {}};
    };
    const auto rejected = [&](const temp_dir& dir, const char* why) {
        const std::string before = bytes(file_in(dir));
        try {
            open(dir);
            ADD_FAILURE() << "the store was opened";
        } catch (const std::runtime_error& e) {
            EXPECT_NE(std::string(e.what()).find("is not Callsign's"), std::string::npos)
                << e.what();
            EXPECT_NE(std::string(e.what()).find(why), std::string::npos) << e.what();
        }
        EXPECT_EQ(bytes(file_in(dir)), before);
    };
    const int last = newest();
    for (const int version : {0, 1, last, last + 1}) {
        temp_dir dir;
        SQLite::Database(file_in(dir).string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
            .exec("CREATE TABLE accounts (x); CREATE TABLE slots (x); PRAGMA user_version = " +
                  std::to_string(version));
        rejected(dir, "other tables");
    }
    // Callsign's tables in pages without checksums: another program has written the file.
    temp_dir copied;
    {
        SQLite::Database own(file_in(copied).string(),
                             SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        own.exec(std::string(sqlite::migrations().front().text) + "; PRAGMA user_version = 1");
    }
    rejected(copied, "no sums");
    temp_dir without_tables;
    SQLite::Database(file_in(without_tables).string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
        .exec("PRAGMA application_id = 7");
    rejected(without_tables, "no sums");
    temp_dir text;
    std::ofstream(file_in(text)) << "not a database at all, but some text of a person";
    rejected(text, "no SQLite database");
    temp_dir empty;
    std::ofstream(file_in(empty)).flush();
    EXPECT_TRUE(open(empty));
}

TEST(schema, time_continues_from_the_last_moment) {
    temp_dir dir;
    const time_point late{milliseconds{1'800'000'000'000}};
    {
        const auto store = open(dir);
        const auto tx = store->begin_write();
        accounts::put(*tx, "home", late);
        tx->commit();
    }
    EXPECT_EQ(open(dir)->totals()->last_moment, late);
}

std::filesystem::perms modes_of(const std::filesystem::path& file) {
    return std::filesystem::status(file).permissions();
}

TEST(data_directory, is_created_for_its_owner_only_with_any_umask) {
    const temp_dir dir;
    const auto data = dir.path() / "data";
    const ::mode_t before = ::umask(0);
    sqlite_options options;
    options.data_dir = data;
    const auto store = open_sqlite(options);
    ::umask(before);
    EXPECT_EQ(modes_of(data), std::filesystem::perms(0700));
    for (const auto& file : std::filesystem::directory_iterator(data)) {
        EXPECT_EQ(modes_of(file.path()) & std::filesystem::perms(0077),
                  std::filesystem::perms::none)
            << file.path();
    }
}

TEST(data_directory, a_world_writable_one_is_rejected) {
    const temp_dir dir;
    std::filesystem::permissions(dir.path(), std::filesystem::perms(0777));
    try {
        open(dir);
        ADD_FAILURE() << "the store was opened";
    } catch (const std::runtime_error& rejected) {
        EXPECT_NE(std::string(rejected.what()).find("chmod 700 " + dir.path().string()),
                  std::string::npos)
            << rejected.what();
    }
    std::filesystem::permissions(dir.path(), std::filesystem::perms(0770));
    EXPECT_TRUE(open(dir));
}

// A copy from a read-only medium, and the WAL and shared memory of an earlier start.
TEST(data_directory, read_only_files_are_made_writable_for_their_owner) {
    const temp_dir dir;
    open(dir);
    const auto shared = dir.path() / "callsign.sqlite3-shm";
    std::ofstream{shared};
    for (const auto& file : {file_in(dir), shared}) {
        std::filesystem::permissions(file, std::filesystem::perms(0444));
    }
    const auto store = open(dir);
    for (const auto& file : {file_in(dir), shared}) {
        EXPECT_EQ(modes_of(file), std::filesystem::perms(0600)) << file;
    }
    const auto tx = store->begin_write();
    accounts::put(*tx, "ada", time_point{});
    EXPECT_NO_THROW(tx->commit());
}

}  // namespace
}  // namespace callsign
