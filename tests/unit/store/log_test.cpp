// The write-ahead log has a bound, whoever reads and whatever the disk does, and so has the room a
// start needs.

#include "support/temp_dir.hpp"
#include "support/unsafe_disk.hpp"

#include <callsign/rules/rules.hpp>
#include <callsign/store/sqlite.hpp>

#include <gtest/gtest.h>

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

    // One commit of a few pages. False: refused.
    bool write() {
        try {
            const auto tx = store_->begin_write();
            tx->put_token(std::nullopt, std::string(9000, 'n'), token_scope::read,
                          sha256(std::to_string(++written_)), t0_);
            tx->commit();
        } catch (const store_failure& failure) {
            EXPECT_EQ(failure.reason(), store_failure::kind::refused) << failure.what();
            return false;
        }
        store_->maintain(false);
        longest_ = std::max(longest_, std::filesystem::file_size(log()));
        return true;
    }
    // Its snapshot begins with its first question.
    std::unique_ptr<read_tx> read() {
        try {
            auto tx = store_->begin_read();
            tx->accounts();
            return tx;
        } catch (const store_failure& failure) {
            EXPECT_EQ(failure.reason(), store_failure::kind::refused) << failure.what();
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

// Before the bound, and the batch that reaches it.
constexpr std::uintmax_t bound = (2 * pages_max + 16) * frame_bytes;

// What says whether the disk can be written must have written to it.
TEST_F(log_bound, a_proof_that_it_can_be_written_writes) {
    ASSERT_TRUE(write());
    const auto before = std::filesystem::file_size(log());
    store_->prove_writable();
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

// What a checkpoint moves has a bound of its own, and of pages written again and again each counts
// once.
TEST_F(log_bound, comes_sooner_where_many_different_pages_are_to_be_moved) {
    moved_max_ = 16;
    open();
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(write());
    // The leaf that each of them ends in is in the log once for each.
    EXPECT_LT(longest_, 3 * 16 * frame_bytes);
}

TEST_F(log_bound, is_reached_where_the_same_pages_are_written_again) {
    moved_max_ = 16;
    open();
    ASSERT_TRUE(write());
    const auto moved = std::filesystem::file_size(log());
    for (int i = 0; i < 400; ++i) {
        const auto tx = store_->begin_write();
        tx->revoke_token(token_id{1}, t0_ + milliseconds{i});
        tx->commit();
        store_->maintain(false);
    }
    EXPECT_GT(std::filesystem::file_size(log()), std::max(moved, (pages_max - 8) * frame_bytes));
}

TEST_F(log_bound, holds_though_somebody_reads_all_the_time) {
    auto one = read();
    int refused = 0;
    for (int i = 0; i < 400; ++i) {
        if (!write()) ++refused;
        if (i % 5 != 4) continue;
        auto next = read();
        one = std::move(next);
    }
    EXPECT_LT(longest_, bound);
    EXPECT_LT(refused, 100);
}

TEST_F(log_bound, holds_while_one_reader_stays_and_then_all_goes_on) {
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

// When the log has begun anew nobody is held back any more, and it is not begun anew again and
// again: each commit costs one sync, of the log.
TEST_F(log_bound, is_begun_anew_once_for_a_turn_that_readers_left) {
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

// The readers' held turn ends by itself: there may be nothing more to write.
TEST_F(log_bound, readers_do_not_wait_for_a_writer_that_has_nothing_to_do) {
    auto one = read();
    while (write()) ASSERT_LT(written_, 1000);
    one.reset();
    EXPECT_TRUE(read());
    EXPECT_TRUE(read());
}

// On a full disk nobody could say then whether the commit took.
TEST_F(log_bound, shared_memory_does_not_grow_in_a_commit) {
    const auto shared_memory = dir_.path() / "callsign.sqlite3-shm";
    const auto tx = store_->begin_write();
    const auto before = std::filesystem::file_size(shared_memory);
    tx->put_token(std::nullopt, std::string(20u << 20, 'n'), token_scope::read, sha256("large"),
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
