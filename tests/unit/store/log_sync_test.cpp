// Deferred syncs of the WAL, and failed ones. Method: a file that counts its syncs; and a store
// with the files of a killed process.

#include "store/sqlite/log/log_sync.hpp"

#include "support/temp_dir.hpp"
#include "support/unsafe_disk.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/store/sqlite.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <functional>
#include <gtest/gtest.h>

namespace callsign::sqlite {
namespace {

struct counting_file {
    counting_file() {
        methods.xSync = [](sqlite3_file* f, int flags) {
            auto& self = *reinterpret_cast<counting_file*>(f);
            ++self.syncs;
            self.flags = flags;
            if (self.during) self.during();
            return self.code;
        };
        base.pMethods = &methods;
    }
    sqlite3_file base{};  // must be first: SQLite casts to it
    sqlite3_io_methods methods{};
    int syncs = 0;
    int flags = 0;
    int code = SQLITE_OK;
    std::function<void()> during;
};

class log_sync_test : public ::testing::Test {
  protected:
    log_sync_test() { log_.belongs_to(&file_.base); }

    // The sync of a commit, after its frames.
    int commit(bool put_off) {
        log_.note_write(32);
        log_.put_off(put_off);
        const int code = log_.asked(SQLITE_SYNC_FULL);
        log_.put_off(false);
        return code;
    }
    // The WAL has a header, and all of it is durable.
    void begin() {
        log_.note_write(0);
        ASSERT_EQ(log_.asked(SQLITE_SYNC_NORMAL), SQLITE_OK);
        file_.syncs = 0;
    }

    counting_file file_;
    log_sync log_;
};

TEST_F(log_sync_test, is_made_when_requested) {
    begin();
    EXPECT_EQ(commit(false), SQLITE_OK);
    EXPECT_EQ(file_.syncs, 1);
    EXPECT_EQ(file_.flags, SQLITE_SYNC_FULL);
    EXPECT_EQ(log_.make_up(), SQLITE_OK);
    EXPECT_EQ(file_.syncs, 1) << "no sync was pending";
}

TEST_F(log_sync_test, is_made_once_for_all_deferred_ones) {
    begin();
    EXPECT_EQ(commit(true), SQLITE_OK);
    EXPECT_EQ(commit(true), SQLITE_OK);
    EXPECT_EQ(file_.syncs, 0);
    EXPECT_EQ(log_.make_up(), SQLITE_OK);
    EXPECT_EQ(file_.syncs, 1);
    EXPECT_EQ(log_.make_up(), SQLITE_OK);
    EXPECT_EQ(file_.syncs, 1);
}

// The commit does not wait for the running sync: here it would wait forever.
TEST_F(log_sync_test, a_commit_during_a_sync_needs_another_one) {
    begin();
    commit(true);
    file_.during = [this] {
        file_.during = nullptr;
        EXPECT_EQ(commit(true), SQLITE_OK);
    };
    log_.make_up();
    EXPECT_EQ(file_.syncs, 1);
    log_.make_up();
    EXPECT_EQ(file_.syncs, 2);
}

TEST_F(log_sync_test, is_not_deferred_after_a_new_header) {
    begin();
    log_.note_write(0);
    EXPECT_EQ(commit(true), SQLITE_OK);
    EXPECT_EQ(file_.syncs, 1);
    EXPECT_EQ(commit(true), SQLITE_OK);
    EXPECT_EQ(file_.syncs, 1) << "the header is durable";
}

// The header may be that of a WAL found at the start.
TEST_F(log_sync_test, is_needed_at_the_start) {
    EXPECT_EQ(log_.make_up(), SQLITE_OK);
    EXPECT_EQ(file_.syncs, 1);
}

TEST_F(log_sync_test, that_has_failed_is_not_retried) {
    begin();
    commit(true);
    file_.code = SQLITE_IOERR_FSYNC;
    EXPECT_EQ(log_.make_up(), SQLITE_IOERR_FSYNC);
    file_.code = SQLITE_OK;
    EXPECT_EQ(log_.make_up(), SQLITE_IOERR_FSYNC);
    EXPECT_EQ(commit(false), SQLITE_IOERR_FSYNC);
    EXPECT_EQ(file_.syncs, 1);
}

TEST_F(log_sync_test, of_a_closed_file_does_nothing) {
    begin();
    commit(true);
    log_.belongs_to(nullptr);
    EXPECT_EQ(log_.make_up(), SQLITE_OK);
    EXPECT_EQ(file_.syncs, 0);
}

// ---- in a store ----

class store_syncs : public ::testing::Test {
  protected:
    std::unique_ptr<store> open() { return open(dir_.path()); }
    static std::unique_ptr<store> open(const std::filesystem::path& dir) {
        sqlite_options options;
        options.data_dir = dir;
        return open_sqlite(options);
    }
    std::unique_ptr<write_tx> write(store& to) {
        auto tx = to.begin_write();
        last_ = accounts::put(*tx, "account" + std::to_string(++made_),
                              time_point{milliseconds{1'700'000'000'000}});
        return tx;
    }
    static bool is_there(store& in, account_id id) {
        return accounts::find(*in.begin_read(), id).has_value();
    }

    account_id last_;  // the last one written
    int made_ = 0;
    testing::unsafe_disk& disk_ = testing::unsafe_disk::install();
    testing::seeded_entropy chance_{1};
    testing::temp_dir dir_;
};

TEST_F(store_syncs, once_per_commit_or_when_requested) {
    const auto opened = open();
    write(*opened)->commit();  // and the header of the WAL
    auto before = disk_.log_syncs();
    write(*opened)->commit();
    EXPECT_EQ(disk_.log_syncs() - before, 1);

    before = disk_.log_syncs();
    write(*opened)->commit_unsynced();
    write(*opened)->commit_unsynced();
    EXPECT_TRUE(is_there(*opened, last_));
    EXPECT_EQ(disk_.log_syncs() - before, 0);
    opened->sync();
    opened->sync();
    EXPECT_EQ(disk_.log_syncs() - before, 1);
}

TEST_F(store_syncs, make_the_wal_of_a_killed_process_durable) {
    const auto opened = open();
    write(*opened)->commit_unsynced();
    testing::temp_dir left;
    for (const char* name : {"callsign.sqlite3", "callsign.sqlite3-wal"}) {
        std::filesystem::copy_file(dir_.path() / name, left.path() / name);
    }
    // Keeps the WAL: otherwise the last connection to close would checkpoint it.
    SQLite::Database reader((left.path() / "callsign.sqlite3").string(), SQLite::OPEN_READONLY);
    reader.exec("BEGIN");
    SQLite::Statement(reader, "SELECT count(*) FROM accounts").executeStep();
    const auto before = disk_.log_syncs();
    const auto next = open(left.path());
    EXPECT_TRUE(is_there(*next, last_));
    EXPECT_GT(disk_.log_syncs(), before);
}

TEST_F(store_syncs, protect_commits_from_a_power_cut) {
    for (int n = 0; n < 16; ++n) {
        auto opened = open();
        if (n % 2 == 0) {
            write(*opened)->commit();
        } else {
            write(*opened)->commit_unsynced();
            opened->sync();
        }
        const account_id covered = last_;
        write(*opened)->commit_unsynced();  // this commit may be lost
        testing::temp_dir left;
        disk_.strike(dir_.path(), left.path(), chance_);
        const auto next = open(left.path());
        EXPECT_TRUE(is_there(*next, covered)) << n;
    }
}

TEST_F(store_syncs, a_failure_leaves_the_outcome_unknown) {
    const auto opened = open();
    write(*opened)->commit();
    write(*opened)->commit_unsynced();
    disk_.arm(testing::disk_fault::sync_fails, 1);
    try {
        opened->sync();
        FAIL();
    } catch (const store_failure& failure) {
        EXPECT_EQ(failure.reason(), store_failure::kind::unknown);
    }
    EXPECT_THROW(opened->sync(), store_failure) << "a later sync is not trusted either";
    disk_.heal();
}

}  // namespace
}  // namespace callsign::sqlite
