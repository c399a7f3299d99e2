// The file system that verifies checksums, called as by SQLite: for whole pages, and, since 3.45,
// for parts of overflow pages that it reads past its cache.

#include "store/sqlite/log/page_checksums.hpp"

#include "store/sqlite/connection.hpp"
#include "support/temp_dir.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <string>

namespace callsign::sqlite {
namespace {

using callsign::testing::temp_dir;

class page_checksums : public ::testing::Test {
  protected:
    page_checksums() {
        make_room_for_sums(db_);
        mark_summed(db_);
        db_.execute("CREATE TABLE t (b BLOB)");
        db_.execute("INSERT INTO t VALUES (randomblob(40000))");
    }

    // The result code, and the bytes read if the checksum matches.
    std::pair<int, std::string> read(sqlite3_int64 offset, int size) {
        std::string bytes(static_cast<std::size_t>(size), '\0');
        sqlite3_file& file = database_file(db_);
        const int code = file.pMethods->xRead(&file, bytes.data(), size, offset);
        return {code, bytes};
    }
    std::int64_t pages() {
        return static_cast<std::int64_t>(std::filesystem::file_size(path_)) / page_bytes;
    }
    void turn_bit(sqlite3_int64 at) {
        std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
        const auto byte = static_cast<char>(file.seekg(at).get() ^ 1);
        file.seekp(at).put(byte);
    }

    temp_dir dir_;
    std::filesystem::path path_ = dir_.path() / "pages.sqlite3";
    connection db_{path_, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, 1u << 20};
};

TEST_F(page_checksums, parts_of_pages_equal_the_pages) {
    ASSERT_GT(pages(), 9);
    for (std::int64_t n = 1; n < pages(); ++n) {
        const auto [code, whole] = read(n * page_bytes, page_bytes);
        ASSERT_EQ(code, SQLITE_OK) << n;
        for (const int from : {0, 4, 4000}) {
            for (const int size : {1, 4, 96, 4092}) {
                if (from + size > page_bytes) continue;
                const auto part = read(n * page_bytes + from, size);
                ASSERT_EQ(part.first, SQLITE_OK) << n << " " << from << " " << size;
                ASSERT_EQ(part.second, whole.substr(static_cast<std::size_t>(from),
                                                    static_cast<std::size_t>(size)));
            }
        }
    }
}

TEST_F(page_checksums, parts_of_an_altered_page_are_rejected) {
    const std::int64_t page = 5 * page_bytes;
    turn_bit(page + 2000);
    EXPECT_EQ(read(page, page_bytes).first, SQLITE_IOERR_DATA);
    for (const int size : {4, 1999, 2001, 4088}) {
        EXPECT_EQ(read(page, size).first, SQLITE_IOERR_DATA) << size;
    }
    EXPECT_EQ(read(page + 4000, 8).first, SQLITE_IOERR_DATA);
    EXPECT_EQ(read(page - page_bytes, 4000).first, SQLITE_OK);
    EXPECT_FALSE(reads_well(db_));
    turn_bit(page + 2000);
    EXPECT_TRUE(reads_well(db_));
    EXPECT_EQ(read(page, 4000).first, SQLITE_OK);
}

TEST_F(page_checksums, corruption_in_a_partial_read_is_found_again) {
    const std::int64_t page = 6 * page_bytes;
    turn_bit(page + 4000);
    EXPECT_EQ(read(page + 8, 100).first, SQLITE_IOERR_DATA);
    EXPECT_FALSE(reads_well(db_));
}

// SQLite itself, with a cache smaller than the value.
TEST_F(page_checksums, a_large_value_with_another_byte_is_an_error) {
    db_.execute("PRAGMA cache_size = 1");
    const std::string length = "SELECT length(hex(b)) FROM t";
    ASSERT_EQ(db_.integer_of(length.c_str()), 80'000);
    for (std::int64_t page = 3; page < pages(); ++page) {
        turn_bit(page * page_bytes + 2000);
        connection again(path_, SQLite::OPEN_READWRITE, 1u << 16);
        EXPECT_ANY_THROW(again.integer_of(length.c_str())) << page;
        turn_bit(page * page_bytes + 2000);
    }
}

}  // namespace
}  // namespace callsign::sqlite
