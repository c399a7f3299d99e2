#pragma once
// When the log is made durable. SQLite syncs it in each COMMIT, and the writer would stand still
// for as long; here a commit's sync may be put off, and another thread makes up for it while the
// writer goes on with the next transaction.
//
// A log is good up to the first frame that is not as it was written (WAL file format,
// sqlite.org/fileformat2.html, section 4.4), so of commits that no sync has followed yet a power
// cut leaves some first ones, whole. What is never put off is the sync behind the log's header: a
// frame that reached the disk before it would follow the header of another log
// (sqlite.org/src/info/ff5be73dee).
//
// Once a sync has failed, none is believed any more: the kernel tells of lost pages once.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <sqlite3.h>

namespace callsign::sqlite {

class log_sync {
  public:
    // The log's file; null: it is closed. Any thread.
    void belongs_to(sqlite3_file* file) {
        const std::scoped_lock lock(mutex_);
        file_ = file;
    }

    // ---- of the connection that writes ----

    // A sync that SQLite asks for is put off until make_up(), or made at once.
    void put_off(bool yes) { put_off_ = yes; }
    // Before each write.
    void note_write(sqlite3_int64 offset) {
        if (offset == 0) header_is_new_ = true;
    }
    // SQLite asks. Its code. What is put off waits for no sync under way.
    int asked(int flags) {
        flags_ = flags;
        is_owed_ = true;
        if (put_off_ && !header_is_new_) return SQLITE_OK;
        const int code = make_up();
        if (code == SQLITE_OK) header_is_new_ = false;
        return code;
    }

    // ---- any thread ----

    // Makes durable what was written before. SQLite's code. Nothing is done if nothing is owed.
    int make_up() {
        const std::scoped_lock lock(mutex_);
        if (failure_ != SQLITE_OK || !is_owed_) return failure_;
        is_owed_ = false;  // what is written from here on owes another
        if (file_) failure_ = file_->pMethods->xSync(file_, flags_);
        return failure_;
    }
    bool has_failed() {
        const std::scoped_lock lock(mutex_);
        return failure_ != SQLITE_OK;
    }

  private:
    std::mutex mutex_;  // held while a sync goes on
    sqlite3_file* file_ = nullptr;
    int failure_ = SQLITE_OK;
    std::atomic<int> flags_{SQLITE_SYNC_NORMAL};
    // A process that was killed may have left in the log what the disk has not.
    std::atomic<bool> is_owed_{true};

    // Of the connection that writes.
    bool put_off_ = false;
    bool header_is_new_ = true;
};

}  // namespace callsign::sqlite
