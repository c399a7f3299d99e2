// The WAL has a maximum length, with any readers and any faults of the disk, and so has the space
// that a start needs.

#include "support/temp_dir.hpp"
#include "support/unsafe_disk.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/tokens.hpp>
#include <callsign/rules/rules.hpp>
#include <callsign/store/sqlite.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <atomic>
#include <gtest/gtest.h>
#include <optional>
#include <sqlite3.h>
#include <utility>

namespace callsign {
namespace {

constexpr std::int64_t pages_max = 64;
constexpr std::uintmax_t frame_bytes = 4096 + 24;

class log_bound : public ::testing::Test {
  protected:
    log_bound() { open(); }

    void open() {
        sqlite_options options;
        options.data_dir = dir_.path();
        options.wal_pages_max = pages_max;
        options.moved_pages_max = moved_max_;
        options.readers = 3;
        options.reader_wait_max = milliseconds{1};
        store_.reset();
        store_ = open_sqlite(options);
    }

    // One commit of a few pages. Returns false if it is rejected.
    bool write() {
        try {
            const auto tx = store_->begin_write();
            tokens::put(*tx, std::nullopt, std::string(9000, 'n'), token_scope::read,
                        sha256(std::to_string(++written_)), t0_);
            tx->commit();
        } catch (const store_failure& failure) {
            EXPECT_EQ(failure.reason(), store_failure::kind::rejected) << failure.what();
            return false;
        }
        store_->embedded()->maintain(false);
        longest_ = std::max(longest_, std::filesystem::file_size(log()));
        return true;
    }
    // The snapshot begins with the first query.
    std::unique_ptr<read_tx> read() {
        try {
            auto tx = store_->begin_read();
            accounts::all(*tx);
            return tx;
        } catch (const store_failure& failure) {
            EXPECT_EQ(failure.reason(), store_failure::kind::rejected) << failure.what();
            return nullptr;
        }
    }
    std::filesystem::path log() const { return dir_.path() / "callsign.sqlite3-wal"; }

    testing::temp_dir dir_;
    std::int64_t moved_max_ = pages_max;
    std::unique_ptr<store> store_;
    const time_point t0_{milliseconds{1'700'000'000'000}};
    int written_ = 0;
    std::uintmax_t longest_ = 0;
};

// The maximum, and the batch that reaches it.
constexpr std::uintmax_t bound = (2 * pages_max + 16) * frame_bytes;

// The check that the disk is writable must write to it.
TEST_F(log_bound, the_check_of_writability_writes) {
    ASSERT_TRUE(write());
    const auto before = std::filesystem::file_size(log());
    store_->embedded()->prove_writable();
    EXPECT_GE(std::filesystem::file_size(log()), before + frame_bytes);
    const sqlite_space space = space_of(dir_.path());
    EXPECT_EQ(space.log_bytes, std::filesystem::file_size(log()));
    EXPECT_EQ(space.database_bytes, std::filesystem::file_size(dir_.path() / "callsign.sqlite3"));
    EXPECT_GT(space.free_bytes, 0u);
    EXPECT_GT(space.disk_bytes, space.free_bytes);
    EXPECT_EQ(space_of(dir_.path() / "nothing").database_bytes, 0u);
}

TEST_F(log_bound, is_short_without_readers) {
    for (int i = 0; i < 400; ++i) ASSERT_TRUE(write());
    EXPECT_LT(longest_, (pages_max + 16) * frame_bytes);
}

// Each incremental checkpoint copies the pages written before the last one. It does not sync the
// database: that is needed only when the WAL was copied completely, and may restart.
TEST_F(log_bound, is_checkpointed_incrementally_before_its_maximum) {
    auto& disk = testing::unsafe_disk::install();
    moved_max_ = 8;
    open();
    const auto database = [&] {
        return std::filesystem::file_size(dir_.path() / "callsign.sqlite3");
    };
    const auto before = database();
    const auto syncs = disk.database_syncs();
    for (int i = 0; i < 8; ++i) ASSERT_TRUE(write());
    EXPECT_LT(longest_, pages_max * frame_bytes);
    EXPECT_GT(database(), before + 8 * 4096);
    EXPECT_EQ(disk.database_syncs(), syncs);
    for (int i = 0; i < 400; ++i) ASSERT_TRUE(write());
    EXPECT_LT(longest_, (pages_max + 16) * frame_bytes);
}

// A page that is written repeatedly counts once, and is copied once.
TEST_F(log_bound, rewritten_pages_cause_few_checkpoints) {
    auto& disk = testing::unsafe_disk::install();
    moved_max_ = 16;
    open();
    ASSERT_TRUE(write());
    disk.arm(testing::disk_fault::write_fails, INT64_MAX);
    for (int i = 0; i < 20; ++i) {
        const auto tx = store_->begin_write();
        tokens::revoke(*tx, token_id{1}, t0_ + milliseconds{i});
        tx->commit();
        store_->embedded()->maintain(false);
    }
    const auto writes = disk.seen();
    disk.heal();
    EXPECT_EQ(writes, 20);  // one for the frames of each commit
}

// SQLite's own file system, except that the next sync of a database fails, from any caller.
class one_sync_fails {
  public:
    one_sync_fails() : before_(sqlite3_vfs_find(nullptr)), vfs_(*own_) {
        vfs_.pNext = nullptr;
        vfs_.xOpen = [](sqlite3_vfs*, const char* name, sqlite3_file* f, int flags, int* out) {
            const int code = own_->xOpen(own_, name, f, flags, out);
            if (code != SQLITE_OK || (flags & SQLITE_OPEN_MAIN_DB) == 0) return code;
            if (!sync_) {
                methods_ = *f->pMethods;
                sync_ = std::exchange(methods_.xSync, [](sqlite3_file* file, int how) {
                    return fails_.exchange(false) ? SQLITE_IOERR_FSYNC : sync_(file, how);
                });
            }
            f->pMethods = &methods_;
            return code;
        };
        sqlite3_vfs_register(&vfs_, 1);
    }
    ~one_sync_fails() {
        sqlite3_vfs_unregister(&vfs_);
        sqlite3_vfs_register(before_, 1);
    }
    one_sync_fails(const one_sync_fails&) = delete;
    one_sync_fails& operator=(const one_sync_fails&) = delete;

    void arm() { fails_ = true; }
    bool has_failed() const { return !fails_; }

  private:
    static inline sqlite3_vfs* const own_ = sqlite3_vfs_find("unix");
    static inline sqlite3_io_methods methods_{};
    static inline int (*sync_)(sqlite3_file*, int) = nullptr;
    static inline std::atomic<bool> fails_ = false;
    sqlite3_vfs* before_;
    sqlite3_vfs vfs_;
};

// The kernel reports the error once: the next sync succeeds, and the WAL must not restart after it.
TEST_F(log_bound, is_kept_after_a_failed_sync_of_the_database) {
    store_.reset();
    one_sync_fails disk;
    moved_max_ = 8;
    open();
    disk.arm();
    const auto write_on = [&] {
        for (int i = 0; i < 1000; ++i) write();
    };
    try {
        write_on();
        ADD_FAILURE() << "no error was reported";
    } catch (const store_failure& failure) {
        EXPECT_EQ(failure.reason(), store_failure::kind::unknown) << failure.what();
    }
    EXPECT_TRUE(disk.has_failed());
    EXPECT_LT(longest_, (pages_max + 16) * frame_bytes);
    store_.reset();
}

// The kernel still returns data that a failed sync of an earlier process left unwritten, and no
// sync writes them: data that a start has read must survive a power cut. Another process has the
// file open, so that no connection checkpoints the WAL when it is closed.
class failed_sync : public ::testing::TestWithParam<int> {
  protected:
    static std::unique_ptr<store> open(const testing::temp_dir& at) {
        sqlite_options options;
        options.data_dir = at.path();
        options.moved_pages_max = 4;
        options.wal_pages_max = pages_max;
        return open_sqlite(options);
    }
    void open_elsewhere() {
        other_.emplace((before_.path() / "callsign.sqlite3").string(), SQLite::OPEN_READONLY);
        other_->execAndGet("SELECT count(*) FROM series");  // the query opens the WAL
    }
    void put(store& opened) {
        const auto tx = opened.begin_write();
        tokens::put(*tx, std::nullopt, std::string(9000, 'n'), token_scope::read,
                    sha256(std::to_string(++put_)), time_point{milliseconds{1'700'000'000'000}});
        tx->commit_unsynced();
        opened.sync();
    }
    static std::size_t tokens_of(store& opened) {
        return tokens::of(*opened.begin_read(), std::nullopt).size();
    }
    void arm(testing::disk_fault what) {
        disk_.arm(what, 1, 1, static_cast<std::uint64_t>(GetParam()));
    }
    void lose_power() {
        disk_.strike(before_.path(), after_.path(), chance_);
        disk_.heal();
        other_.reset();
    }
    std::size_t tokens_after() {
        const std::size_t tokens = tokens_of(*open(after_));
        disk_.forget(after_.path());
        return tokens;
    }

    testing::unsafe_disk& disk_ = testing::unsafe_disk::install();
    testing::seeded_entropy chance_{static_cast<std::uint64_t>(GetParam())};
    testing::temp_dir before_, after_;
    std::optional<SQLite::Database> other_;
    std::size_t put_ = 0;
};

TEST_P(failed_sync, of_the_wal_leaves_no_data_that_a_power_cut_takes) {
    {
        const auto store = open(before_);
        put(*store);
        open_elsewhere();
        arm(testing::disk_fault::sync_fails);
        EXPECT_THROW(put(*store), store_failure);
    }
    const auto store = open(before_);
    const auto shown = tokens_of(*store);
    lose_power();
    EXPECT_EQ(shown, 2u);
    EXPECT_EQ(tokens_after(), shown);
}

// Frames that the WAL index marks as copied are not copied again: while another process has the WAL
// open, the next start finds the index unchanged.
TEST_P(failed_sync, of_the_database_leaves_no_page_only_in_the_wal) {
    {
        const auto store = open(before_);
        open_elsewhere();
        arm(testing::disk_fault::database_sync_fails);
        const auto write_on = [&] {
            while (put_ < 1000) {
                put(*store);
                store->embedded()->maintain(false);
            }
        };
        EXPECT_THROW(write_on(), store_failure);
    }
    const auto store = open(before_);
    store->embedded()->maintain(false);
    ASSERT_EQ(std::filesystem::file_size(before_.path() / "callsign.sqlite3-wal"), 0u)
        << "the database has all pages";
    lose_power();
    EXPECT_EQ(tokens_after(), put_);
}

INSTANTIATE_TEST_SUITE_P(chances, failed_sync, ::testing::Range(1, 9));

TEST_F(log_bound, holds_with_permanent_readers) {
    auto one = read();
    int rejected = 0;
    for (int i = 0; i < 400; ++i) {
        if (!write()) ++rejected;
        if (i % 5 != 4) continue;
        auto next = read();
        one = std::move(next);
    }
    EXPECT_LT(longest_, bound);
    EXPECT_LT(rejected, 100);
}

TEST_F(log_bound, holds_with_a_long_reader_and_writes_resume_after_it) {
    auto one = read();
    while (write()) ASSERT_LT(written_, 1000);
    EXPECT_LT(longest_, bound);
    EXPECT_FALSE(read());
    one.reset();
    EXPECT_TRUE(read());
    EXPECT_TRUE(write());
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(write());
    EXPECT_LT(longest_, bound);
}

// After a WAL restart readers are no longer delayed, and the WAL does not restart again and again:
// each commit costs one sync, of the WAL.
TEST_F(log_bound, restarts_once_after_the_readers_have_left) {
    auto& disk = testing::unsafe_disk::install();
    open();
    auto one = read();
    while (write()) ASSERT_LT(written_, 1000);
    one.reset();
    ASSERT_TRUE(write());
    disk.arm(testing::disk_fault::sync_fails, INT64_MAX);
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(write());
    const auto syncs = disk.seen();
    disk.heal();
    EXPECT_LE(syncs, 5 + 1);
}

// The pause for readers ends by itself: there may be no further write.
TEST_F(log_bound, readers_do_not_wait_for_a_writer_that_has_nothing_to_do) {
    auto one = read();
    while (write()) ASSERT_LT(written_, 1000);
    one.reset();
    EXPECT_TRUE(read());
    EXPECT_TRUE(read());
}

// On a full disk the outcome of the commit would be unknown.
TEST_F(log_bound, shared_memory_does_not_grow_in_a_commit) {
    const auto shared_memory = dir_.path() / "callsign.sqlite3-shm";
    const auto tx = store_->begin_write();
    const auto before = std::filesystem::file_size(shared_memory);
    tokens::put(*tx, std::nullopt, std::string(20u << 20, 'n'), token_scope::read, sha256("large"),
                t0_);
    tx->commit();
    EXPECT_EQ(std::filesystem::file_size(shared_memory), before);
}

TEST_F(log_bound, a_reserve_is_kept_for_a_start_on_a_full_disk) {
    const auto reserve = dir_.path() / "callsign.reserve";
    ASSERT_TRUE(std::filesystem::exists(reserve));
    EXPECT_GE(std::filesystem::file_size(reserve), 128u * 1024);
    std::filesystem::remove(reserve);
    open();
    EXPECT_TRUE(std::filesystem::exists(reserve));
}

}  // namespace
}  // namespace callsign
