#include "log/checkpointer.hpp"

#include "disk_reserve.hpp"
#include "log/page_checksums.hpp"
#include "statements.hpp"

#include <algorithm>
#include <sqlite3.h>
#include <string>
#include <utility>

namespace callsign::sqlite {
namespace {

using kind = store_failure::kind;

// Grows the WAL's shared memory to the size that the WAL may need. Otherwise it would grow during a
// commit, after the frames were synced: on a full disk the commit's outcome would be unknown.
// Returns SQLite's code.
int map_shared_memory(connection& db, std::int64_t pages) {
    constexpr int region_bytes = 32'768;
    constexpr std::int64_t region_pages = 4'096;
    sqlite3_file* file = nullptr;
    if (sqlite3_file_control(db.database().getHandle(), "main", SQLITE_FCNTL_FILE_POINTER, &file) !=
            SQLITE_OK ||
        !file || !file->pMethods || file->pMethods->iVersion < 2) {
        return SQLITE_IOERR_SHMOPEN;
    }
    for (int region = 0; region <= pages / region_pages + 1; ++region) {
        void volatile* mapped = nullptr;
        const int code = file->pMethods->xShmMap(file, region, region_bytes, 1, &mapped);
        if (code != SQLITE_OK) return code;
    }
    return SQLITE_OK;
}

}  // namespace

checkpointer::checkpointer(connection& writer, const std::filesystem::path& file,
                           reader_pool& readers, const sqlite_options& options)
    : db_(writer),
      readers_(readers),
      options_(options),
      pin_(file, SQLite::OPEN_READONLY, std::size_t{64} << 10),
      database_failure_(sync_failure(db_)),
      sync_(std::in_place, database_file(db_)),
      clearing_due_(space_of(options.data_dir).log_bytes > 0) {
    db_.execute(
        ("PRAGMA journal_size_limit = " + std::to_string(log_bound() * wal_frame_bytes)).c_str());
    sqlite3_wal_hook(db_.database().getHandle(), &checkpointer::note_wal, this);
}

void checkpointer::make_room() {
    if (!shared_memory_grown_) grow_shared_memory();
    if (wal_pages_ >= log_bound()) shorten_log();
}

void checkpointer::maintain(bool idle) {
    const bool due = wal_pages_ >= options_.wal_pages_max / (idle ? 8 : 1);
    const bool turn_came = held_ && readers_.nobody_reads();
    // An empty WAL has nothing to move, whatever pages_to_move() counts until the WAL restarts.
    if ((due && wal_pages_ >= std::max<std::int64_t>(1, next_checkpoint_)) || turn_came ||
        is_clearing_turn()) {
        checkpoint();
    } else if (wal_pages_ > 0 && pages_to_move(db_) >= options_.moved_pages_max / (idle ? 2 : 1)) {
        move_part();
    }
}

// Limits the attempts to one per `full_retry`, because readers may be slow to end.
bool checkpointer::is_clearing_turn() {
    if (!clearing_due_) return false;
    const auto now = std::chrono::steady_clock::now();
    if (now < clear_again_at_) return false;
    clear_again_at_ = now + options_.full_retry;
    return true;
}

bool checkpointer::finish() {
    sync_.reset();
    try {
        remove_pin();
    } catch (const store_failure&) {  // fewer pages are moved then
    }
    if (!is_database_lost()) move_pages(SQLITE_CHECKPOINT_PASSIVE);
    return !has_failed_sync(db_);
}

void checkpointer::grow_shared_memory() {
    const auto grow = [this] { return map_shared_memory(db_, log_bound() + batch_pages_max); };
    int code = grow();
    if (code == SQLITE_IOERR_SHMSIZE && disk_reserve(options_.data_dir).give_up()) code = grow();
    if (code != SQLITE_OK) {
        throw store_failure(meaning_of(code),
                            std::string("the file of shared memory: ") + sqlite3_errstr(code));
    }
    shared_memory_grown_ = true;
}

// Checkpoints as far as possible. Restarts the WAL, or truncates it, if no reader uses it.
void checkpointer::checkpoint() {
    remove_pin();
    sync_->await_end();
    expect_synced();
    const int code =
        move_pages(clearing_due_ ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_RESTART);
    checkpoint_failure_.reset();
    if (code == SQLITE_OK) {
        wal_pages_ = next_checkpoint_ = 0;
        clearing_due_ = false;
        return release_readers();
    }
    next_checkpoint_ = wal_pages_ + std::max<std::int64_t>(1, options_.wal_pages_max / 4);
    if ((code & 0xFF) == SQLITE_BUSY) return hold_readers();
    release_readers();
    note_failure(code);
}

// Moves what was written before the pin, then moves the pin.
void checkpointer::move_part() {
    expect_synced();
    if (is_pinned()) {
        const int code = move_pages(SQLITE_CHECKPOINT_PASSIVE);
        if (code != SQLITE_OK && (code & 0xFF) != SQLITE_BUSY) {
            forget_pages_to_move(db_);  // the next part retries
            return note_failure(code);
        }
        sync_->begin();
    }
    move_pin();
}

// Moves the pin to the end of the WAL. While that fails, there are no partial checkpoints.
void checkpointer::move_pin() {
    remove_pin();
    try {
        pin_.use(sql::begin_read).run();
        pin_.use(sql::moment_last).step();
        forget_pages_to_move(db_);
    } catch (const store_failure&) {
        remove_pin();
    }
}

void checkpointer::remove_pin() {
    if (is_pinned()) pin_.use(sql::rollback).run();
}

bool checkpointer::is_pinned() {
    return !sqlite3_get_autocommit(pin_.database().getHandle());
}

// Returns SQLite's extended code.
int checkpointer::move_pages(int mode) {
    auto* const db = db_.database().getHandle();
    sqlite3_busy_timeout(db, 0);
    int code = sqlite3_wal_checkpoint_v2(db, nullptr, mode, nullptr, nullptr);
    if (code != SQLITE_OK) code = sqlite3_extended_errcode(db);
    sqlite3_busy_timeout(db, busy_timeout_ms);
    return code;
}

// A failed checkpoint leaves no commit in doubt: all are in the WAL. But after a failed sync the
// database's content on disk is unknown: a new start writes it again from the WAL.
void checkpointer::note_failure(int extended_code) {
    checkpoint_failure_.emplace(meaning_of(extended_code),
                                std::string("SQLite checkpoint: ") + sqlite3_errstr(extended_code));
    const bool is_sync = checkpoint_failure_->reason() == kind::unknown;
    if (is_sync || checkpoint_failure_->is_damage()) throw *checkpoint_failure_;
}

void checkpointer::expect_synced() {
    if (is_database_lost()) note_failure(SQLITE_IOERR_FSYNC);
}

// Readers in other processes (such as `callsign check`) cannot be held back. If only those are
// left, holding back this process's readers would not help.
void checkpointer::hold_readers() {
    if (wal_pages_ < hold_readers_at() || readers_.nobody_reads()) return release_readers();
    held_ = true;
    readers_.hold();
}

void checkpointer::release_readers() {
    if (std::exchange(held_, false)) readers_.release();
}

// The WAL is at its limit. Attempts are limited, because requests arrive more often than one is
// useful.
void checkpointer::shorten_log() {
    const auto now = std::chrono::steady_clock::now();
    const bool turn_came = held_ && readers_.nobody_reads();
    if (now >= try_again_at_ || turn_came) {
        try_again_at_ = now + options_.full_retry;
        checkpoint();
    }
    if (wal_pages_ < log_bound()) return;
    if (checkpoint_failure_) throw *checkpoint_failure_;
    if (held_) throw store_failure(kind::rejected, "readers keep the log at its bound");
}

int checkpointer::note_wal(void* self, sqlite3*, const char*, int pages) {
    auto& log = *static_cast<checkpointer*>(self);
    if (pages < log.wal_pages_) log.next_checkpoint_ = 0;  // the WAL restarted
    log.wal_pages_ = pages;
    return SQLITE_OK;
}

}  // namespace callsign::sqlite
