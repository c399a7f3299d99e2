// Files of every schema there has been, as it had them, come to this program's schema with all that
// is in them; a newer one is refused.

#include "store/sqlite/storage_checks.hpp"
#include "support/check.hpp"
#include "support/temp_dir.hpp"

#include <callsign/rules/rules.hpp>
#include <callsign/store/sqlite.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <sqlite3.h>
#include <sys/stat.h>

namespace callsign {
namespace {

using testing::temp_dir;

std::filesystem::path file_in(const temp_dir& dir) {
    return dir.path() / "callsign.sqlite3";
}

void make(const temp_dir& dir, int schema) {
    char name[16];
    std::snprintf(name, sizeof name, "%04d.sql", schema);
    std::ifstream in(std::filesystem::path(CALLSIGN_SCHEMAS_DIR) / name);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    ASSERT_FALSE(text.empty()) << "keep a file of each schema: " << name;
    SQLite::Database(file_in(dir).string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
        .exec(text);
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

TEST(schema, each_that_there_was_comes_to_the_newest) {
    temp_dir fresh;
    open(fresh);
    const int last = newest();
    ASSERT_GE(last, 3);
    for (int schema = 1; schema <= last; ++schema) {
        SCOPED_TRACE(schema);
        temp_dir dir;
        make(dir, schema);
        {
            const auto store = open(dir);
            EXPECT_EQ(store->last_moment(), time_point{milliseconds{1'700'000'000'009}});
            EXPECT_EQ(store->counts().committed, 3);
            const auto tx = store->begin_write();
            const auto home = tx->find_account("home");
            ASSERT_TRUE(home);
            for (const int n : {1, 2, 3}) {
                const auto slot = tx->find_slot(home->id, "key-" + std::to_string(n));
                ASSERT_TRUE(slot);
                const auto given = tx->find_receipt(*slot);
                ASSERT_TRUE(given);
                EXPECT_EQ(given->number, n);
            }
            EXPECT_EQ(tx->find_account("sealed").has_value(), schema >= 2);
            const auto times = tx->find_retry_times(account_class::here);
            ASSERT_EQ(times.has_value(), schema >= 12);
            if (times) {
                EXPECT_EQ(times->window, std::chrono::seconds{62});
            }
        }
        EXPECT_EQ(schema_of(dir), schema_of(fresh));
        const auto report = testing::report_on(dir.path());
        EXPECT_TRUE(report.ok()) << report.faults.front().text;
        // Its pages have sums now, so other bytes are found.
        std::fstream file(file_in(dir), std::ios::binary | std::ios::in | std::ios::out);
        file.seekp(4096 + 100);
        file.write("other bytes", 11);
        file.close();
        EXPECT_FALSE(testing::report_on(dir.path()).ok());
    }
}

// Lists of open tasks find them without looking at the others.
TEST(schema, tasks_that_were_over_before_are_known_to_be) {
    temp_dir dir;
    make(dir, 5);
    {
        SQLite::Database db(file_in(dir).string(), SQLite::OPEN_READWRITE);
        db.exec(
            "UPDATE tasks SET attributes = X'0A110A06737461747573120764656C65746564'"
            " WHERE task_id = 1");
        db.exec(
            "UPDATE tasks SET attributes = X'0A130A067374617475731209636F6D706C65746564'"
            " WHERE task_id = 2");
    }
    {
        const auto store = open(dir);
        const auto tx = store->begin_read();
        const auto series = tx->default_series(tx->find_account("home")->id)->id;
        std::vector<std::int64_t> numbers;
        tx->visit_numbered({series, "", 0, false, true}, [&](task&& t) {
            numbers.push_back(t.numbered->number);
            return true;
        });
        EXPECT_EQ(numbers, (std::vector<std::int64_t>{3}));
    }
}

// Those that were purged before are to leave the chain as well; of one that was numbered without
// ever being seen it says nothing.
TEST(schema, tasks_that_were_purged_before_are_known_to_be) {
    temp_dir dir;
    make(dir, 22);
    SQLite::Database(file_in(dir).string(), SQLite::OPEN_READWRITE)
        .exec(
            "UPDATE tasks SET purged = 1, attributes = x'' WHERE task_id IN (1, 3);"
            " UPDATE tasks SET seq = 0, last_seq = 0 WHERE task_id = 3");
    const auto store = open(dir);
    const auto tx = store->begin_read();
    const auto home = tx->find_account("home")->id;
    const auto found = tx->purges({}, 10);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found.front().account, home);
    EXPECT_EQ(found.front().through, tx->find_task(home, found.front().task)->last_seq);
}

TEST(schema, a_newer_one_is_refused_and_left_alone) {
    temp_dir dir;
    open(dir);
    const int newer = newest() + 1;
    SQLite::Database(file_in(dir).string(), SQLite::OPEN_READWRITE, 0, "callsign")
        .exec("PRAGMA user_version = " + std::to_string(newer));
    try {
        open(dir);
        ADD_FAILURE() << "it was opened";
    } catch (const std::runtime_error& e) {
        EXPECT_NE(std::string(e.what()).find("newer"), std::string::npos) << e.what();
    }
    EXPECT_TRUE(schema_of(dir).contains("schema " + std::to_string(newer)));
}

TEST(schema, another_programs_data_is_refused_and_left_alone) {
    const auto bytes = [](const std::filesystem::path& file) {
        std::ifstream in(file, std::ios::binary);
        return std::string{std::istreambuf_iterator<char>(in), {}};
    };
    const auto refused = [&](const temp_dir& dir, const char* why) {
        const std::string before = bytes(file_in(dir));
        try {
            open(dir);
            ADD_FAILURE() << "it was opened";
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
        refused(dir, "other tables");
    }
    temp_dir text;
    std::ofstream(file_in(text)) << "not a database at all, but some text of a person";
    refused(text, "no SQLite database");
    temp_dir empty;
    std::ofstream(file_in(empty)).flush();
    EXPECT_TRUE(open(empty));
}

// Rows of a large store move in steps; one that is cut off goes on where it was.
TEST(schema, a_large_store_is_converted_in_steps) {
    constexpr std::int64_t rows = 40'000;
    temp_dir dir;
    make(dir, 16);
    {
        const std::string to = std::to_string(rows);
        SQLite::Database db(file_in(dir).string(), SQLite::OPEN_READWRITE);
        db.exec("WITH RECURSIVE n(i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < " + to +
                ") INSERT INTO tasks SELECT i, 1, randomblob(16), 1, 1, i, 'SYN', i + 2, i + 2, 0,"
                " 0, X'', i % 2, NULL FROM n");
        db.exec("WITH RECURSIVE n(i) AS (SELECT 6 UNION ALL SELECT i + 1 FROM n WHERE i < " + to +
                ") INSERT INTO versions SELECT 1, i, randomblob(16), randomblob(16), 0, X'', NULL"
                " FROM n");
        db.exec("UPDATE accounts SET last_seq = " + to + " WHERE account_id = 1");
        db.exec("UPDATE counters SET last_number = " + to + " WHERE counter_id = 1");
    }
    struct cut_off {};
    int steps = 0, cuts = 0;
    sqlite_options options;
    options.data_dir = dir.path();
    std::set<std::string> told;
    std::uintmax_t log_bytes = 0;
    options.progress = [&](std::string_view what, std::int64_t done, std::int64_t all) {
        EXPECT_LE(done, all);
        told.emplace(what);
        log_bytes = std::max(log_bytes, space_of(dir.path()).log_bytes);
        if (++steps % 3 == 0) throw cut_off();
    };
    std::unique_ptr<store> opened;
    while (!opened) {
        try {
            opened = open_sqlite(options);
        } catch (const cut_off&) {
            ++cuts;
        }
    }
    EXPECT_GT(cuts, 4);
    EXPECT_EQ(told, (std::set<std::string>{"numbers", "versions"}));
    EXPECT_LT(log_bytes, std::uintmax_t{8} << 20);
    EXPECT_EQ(opened->totals().open_tasks, rows / 2 + 2);
    {
        const auto tx = opened->begin_read();
        const account_id home = tx->find_account("home")->id;
        EXPECT_EQ(std::ssize(tx->versions(home, 0, read_tx::no_limit)), rows);
        std::int64_t last = 0;
        tx->visit_numbered({tx->default_series(home)->id, ""}, [&](task&& t) {
            EXPECT_EQ(t.numbered->number, ++last);
            return true;
        });
        EXPECT_EQ(last, rows);
    }
    opened.reset();
    sqlite::connection db(file_in(dir), SQLite::OPEN_READONLY, 1u << 20);
    findings found([](std::string_view) {});
    sqlite::check_storage(db, found);
    for (const auto& f : found.report.faults) {
        EXPECT_EQ(f.text.find("the index of"), f.text.npos) << f.text;
        EXPECT_EQ(f.text.find("the file is sound"), f.text.npos) << f.text;
    }
}

// Each step and the number that says it was taken are one: a step that fails leaves neither.
TEST(schema, a_step_that_fails_is_not_taken) {
    newest();  // makes the file system known that the file is written through
    temp_dir dir;
    make(dir, 1);
    const auto put_in_the_way = [&](const char* sql) {
        SQLite::Database(file_in(dir).string(), SQLite::OPEN_READWRITE, 0, "callsign").exec(sql);
    };
    // The last table of the second step: what it does before must be undone.
    put_in_the_way("CREATE TABLE sealed_snapshots (x)");
    EXPECT_THROW(open(dir), std::runtime_error);
    put_in_the_way("DROP TABLE sealed_snapshots");
    EXPECT_TRUE(open(dir));
    EXPECT_TRUE(testing::report_on(dir.path()).ok());
}

TEST(schema, time_goes_on_from_the_last_moment) {
    temp_dir dir;
    const time_point late{milliseconds{1'800'000'000'000}};
    {
        const auto store = open(dir);
        const auto tx = store->begin_write();
        tx->put_account("home", late);
        tx->commit();
    }
    EXPECT_EQ(open(dir)->last_moment(), late);
}

std::filesystem::perms modes_of(const std::filesystem::path& file) {
    return std::filesystem::status(file).permissions();
}

TEST(data_directory, is_made_for_its_owner_alone_whatever_the_umask) {
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

TEST(data_directory, that_anybody_can_write_is_refused) {
    const temp_dir dir;
    std::filesystem::permissions(dir.path(), std::filesystem::perms(0777));
    try {
        open(dir);
        ADD_FAILURE() << "it was opened";
    } catch (const std::runtime_error& refused) {
        EXPECT_NE(std::string(refused.what()).find("chmod 700 " + dir.path().string()),
                  std::string::npos)
            << refused.what();
    }
    std::filesystem::permissions(dir.path(), std::filesystem::perms(0770));
    EXPECT_TRUE(open(dir));
}

// A copy from a read-only medium; the log and the shared memory of a start before are like it.
TEST(data_directory, files_that_their_owner_cannot_write_are_opened_to_it) {
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
    tx->put_account("ada", time_point{});
    EXPECT_NO_THROW(tx->commit());
}

}  // namespace
}  // namespace callsign
