#include "tools/file_copy.hpp"

#include "log/page_checksums.hpp"

#include <SQLiteCpp/Backup.h>
#include <sqlite3.h>

namespace callsign::sqlite {
namespace {

// 1 MiB, some milliseconds of the writer's time.
constexpr int pages_a_step = 256;
constexpr std::int64_t begins_max = 10;
constexpr std::size_t copy_cache_bytes = std::size_t{2} << 20;

class file_copy final : public store_copy {
  public:
    file_copy(connection& from, const std::filesystem::path& to)
        : to_(prepared(to)), pages_(to_->database(), from.database()) {}

    bool step() override {
        try {
            if (!said_size_) say_size();
            const int code = pages_.executeStep(pages_a_step);
            // No other connection has either file open for writing.
            if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
                throw store_failure(store_failure::kind::rejected, "the copy's file is locked");
            }
            if (code != SQLITE_DONE) stop_if_endless();
            return code != SQLITE_DONE;
        } catch (const SQLite::Exception& error) {
            rethrow(error);
        }
    }
    amount_done progress() override {
        const std::int64_t total = pages_.getTotalPageCount();
        return {total - pages_.getRemainingPageCount(), total};
    }

  private:
    // Announces the final size: copied pages refer to pages that do not exist yet
    // (page_checksums.cpp, clear_gap).
    void say_size() {
        if (pages_.executeStep(0) != SQLITE_OK) return;  // the next step returns the error
        sqlite3_int64 bytes = sqlite3_int64{pages_.getTotalPageCount()} * page_bytes;
        sqlite3_file_control(to_->database().getHandle(), "main", SQLITE_FCNTL_SIZE_HINT, &bytes);
        said_size_ = true;
    }
    // A write that is rolled back makes SQLite restart the copy: forever, if all writes are.
    void stop_if_endless() {
        copied_ += pages_a_step;
        if (copied_ > begins_max * (std::int64_t{pages_.getTotalPageCount()} + pages_a_step)) {
            throw store_failure(store_failure::kind::rejected,
                                "failing writes restart the copy repeatedly");
        }
    }

    // Without journal and syncs: a copy that a crash interrupts is of no use.
    static std::unique_ptr<connection> prepared(const std::filesystem::path& to) {
        auto db = std::make_unique<connection>(to, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE,
                                               copy_cache_bytes);
        std::filesystem::permissions(
            to, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
        db->execute("PRAGMA journal_mode = OFF");
        db->execute("PRAGMA synchronous = OFF");
        // The source's first page, which marks a file with checksums, may be copied after others.
        make_room_for_sums(*db);
        mark_summed(*db);
        return db;
    }

    std::unique_ptr<connection> to_;
    SQLite::Backup pages_;
    std::int64_t copied_ = 0;
    bool said_size_ = false;
};

}  // namespace

std::unique_ptr<store_copy> begin_copy(connection& from, const std::filesystem::path& to) {
    try {
        return std::make_unique<file_copy>(from, to);
    } catch (const SQLite::Exception& error) {
        rethrow(error);
    }
}

}  // namespace callsign::sqlite
