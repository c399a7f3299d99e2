#pragma once
// Makes the WAL durable. SQLite syncs it in each COMMIT, which would block the writer; a commit's
// sync can be deferred instead, and another thread makes it up while the writer continues with the
// next transaction.
//
// A WAL is valid up to the first frame that differs from what was written (WAL file format,
// sqlite.org/fileformat2.html, section 4.4): of the commits without a sync, a power cut leaves the
// first ones, each whole. The sync after the WAL's header is never deferred: a frame that reached
// the disk before it would follow another WAL's header (sqlite.org/src/info/ff5be73dee).
//
// After a failed sync no later one is trusted: the kernel reports lost pages once.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <sqlite3.h>

namespace callsign::sqlite {

class log_sync {
  public:
    // The WAL's file; null: closed. Any thread.
    void belongs_to(sqlite3_file* file) {
        const std::scoped_lock lock(mutex_);
        file_ = file;
    }

    // ---- for the connection that writes ----

    // Whether syncs that SQLite requests are deferred until make_up().
    void put_off(bool yes) { put_off_ = yes; }
    // Called before each write.
    void note_write(sqlite3_int64 offset) {
        if (offset == 0) header_is_new_ = true;
    }
    // SQLite requests a sync. Returns SQLite's code. A deferred one does not wait for a sync in
    // progress.
    int asked(int flags) {
        flags_ = flags;
        is_owed_ = true;
        if (put_off_ && !header_is_new_) return SQLITE_OK;
        const int code = make_up();
        if (code == SQLITE_OK) header_is_new_ = false;
        return code;
    }

    // ---- any thread ----

    // Syncs what was written before the call, if a sync is owed. Returns SQLite's code.
    int make_up() {
        const std::scoped_lock lock(mutex_);
        if (failure_ != SQLITE_OK || !is_owed_) return failure_;
        is_owed_ = false;  // later writes owe another sync
        if (file_) failure_ = file_->pMethods->xSync(file_, flags_);
        return failure_;
    }
    bool has_failed() {
        const std::scoped_lock lock(mutex_);
        return failure_ != SQLITE_OK;
    }

  private:
    std::mutex mutex_;  // held during a sync
    sqlite3_file* file_ = nullptr;
    int failure_ = SQLITE_OK;
    std::atomic<int> flags_{SQLITE_SYNC_NORMAL};
    // A process that was killed may have left frames in the WAL that are not on the disk.
    std::atomic<bool> is_owed_{true};

    // For the connection that writes.
    bool put_off_ = false;
    bool header_is_new_ = true;
};

}  // namespace callsign::sqlite
