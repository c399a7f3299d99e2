// The store after it has read corrupt pages: it distinguishes corruption from a failed read, reads
// the disk again on request, and can be opened despite corruption.

#include "support/temp_dir.hpp"
#include "support/unsafe_disk.hpp"

#include <callsign/rules/rows/tokens.hpp>
#include <callsign/store/sqlite.hpp>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fstream>
#include <gtest/gtest.h>
#include <optional>

namespace callsign {
namespace {

using trouble = store_failure::kind;

// The kind of failure; nullopt if the action succeeds.
template <class Action>
std::optional<trouble> failure_of(Action action) {
    try {
        action();
    } catch (const store_failure& failure) {
        return failure.reason();
    }
    return std::nullopt;
}

class store_damage : public ::testing::Test {
  protected:
    store_damage() {
        open();
        const auto tx = store_->begin_write();
        token_ = tokens::put(*tx, std::nullopt, "operator", token_scope::admin, sha256("t"), t0_);
        tx->commit();
    }

    void open() {
        store_.reset();
        store_ = open_sqlite({.data_dir = dir_.path()});
    }
    std::filesystem::path file() const { return dir_.path() / "callsign.sqlite3"; }

    // Flips a bit in the first page of a table, or flips it back.
    void turn(const std::string& table) {
        if (at_.count(table) == 0) {
            SQLite::Database db(file().string());
            SQLite::Statement q(db, "SELECT rootpage FROM sqlite_master WHERE name = ?");
            q.bind(1, table);
            ASSERT_TRUE(q.executeStep());
            at_[table] = (q.getColumn(0).getInt64() - 1) * 4096 + 4000;
        }
        std::fstream bytes(file(), std::ios::binary | std::ios::in | std::ios::out);
        bytes.seekg(at_[table]);
        const char turned = static_cast<char>(bytes.get() ^ 1);
        bytes.seekp(at_[table]).put(turned);
    }
    std::optional<trouble> write_with_token() {
        return failure_of([&] {
            const auto tx = store_->begin_write();
            ASSERT_TRUE(tokens::find(*tx, token_));
            tokens::revoke(*tx, token_, t0_);
            tx->commit();
        });
    }
    std::optional<trouble> look() {
        return failure_of([&] { store_->embedded()->prove_readable(); });
    }

    testing::unsafe_disk& disk_ = testing::unsafe_disk::install();
    testing::temp_dir dir_;
    const time_point t0_{milliseconds{1'700'000'000'000}};
    std::map<std::string, std::int64_t> at_;
    std::unique_ptr<store> store_;
    token_id token_;
};

TEST_F(store_damage, is_detected_when_read_and_checked_again_on_the_disk) {
    store_.reset();
    turn("tokens");
    open();
    EXPECT_EQ(look(), std::nullopt) << "the page was not read yet";
    EXPECT_EQ(write_with_token(), trouble::corrupt);
    EXPECT_EQ(look(), trouble::corrupt);
    EXPECT_EQ(look(), trouble::corrupt);
    turn("tokens");
    EXPECT_EQ(look(), std::nullopt);
    EXPECT_EQ(write_with_token(), std::nullopt);
}

// Other pages are still served; once the page is readable, the store must be opened again.
TEST_F(store_damage, of_data_read_at_the_start_stops_only_writes) {
    store_.reset();
    turn("totals");
    open();
    EXPECT_EQ(write_with_token(), trouble::corrupt);
    EXPECT_EQ(tokens::of(*store_->begin_read(), std::nullopt).size(), 1u);
    EXPECT_EQ(look(), trouble::corrupt);
    turn("totals");
    EXPECT_EQ(write_with_token(), trouble::corrupt) << "the data of the start is missing in memory";
    EXPECT_EQ(look(), trouble::unknown);
    open();
    EXPECT_EQ(write_with_token(), std::nullopt);
}

// The kernel returns EIO, which SQLite reports as a corrupt file.
TEST_F(store_damage, is_distinguished_from_a_failed_read) {
    int failed = 0;
    for (std::int64_t nth = 1;; ++nth) {
        open();
        disk_.arm(testing::disk_fault::read_fails, nth);
        const auto how = write_with_token();
        const bool has_struck = disk_.has_struck();
        disk_.heal();
        if (!has_struck) break;
        if (how) {
            EXPECT_EQ(how, trouble::read_failed) << nth;
            ++failed;
        }
        EXPECT_EQ(look(), std::nullopt) << nth;
        EXPECT_EQ(write_with_token(), std::nullopt) << nth;
    }
    EXPECT_GE(failed, 1);
    // The same with a read transaction.
    open();
    disk_.arm(testing::disk_fault::read_fails, 1);
    EXPECT_EQ(failure_of([&] { tokens::of(*store_->begin_read(), std::nullopt); }),
              trouble::read_failed);
    disk_.heal();
    EXPECT_EQ(failure_of([&] { tokens::of(*store_->begin_read(), std::nullopt); }), std::nullopt);
}

}  // namespace
}  // namespace callsign
