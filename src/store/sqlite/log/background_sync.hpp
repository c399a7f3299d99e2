#pragma once
// Syncs a file on its own thread, so that a later sync by another thread takes little time. The
// file keeps a failure (sync_failure()). The destructor waits for a sync that was begun.
//
// begin() and await_end() are called on one thread, the writer's.

#include <condition_variable>
#include <mutex>
#include <sqlite3.h>
#include <thread>

namespace callsign::sqlite {

class background_sync {
  public:
    // `file` outlives this object; nothing else syncs it while a sync is in progress.
    explicit background_sync(sqlite3_file& file) : file_(file), thread_([this] { run(); }) {}
    ~background_sync() {
        {
            const std::scoped_lock lock(mutex_);
            ends_ = true;
        }
        changed_.notify_all();
        thread_.join();
    }
    background_sync(const background_sync&) = delete;
    background_sync& operator=(const background_sync&) = delete;

    // No effect while a sync is in progress.
    void begin() {
        {
            const std::scoped_lock lock(mutex_);
            if (is_wanted_) return;
            is_wanted_ = true;
        }
        changed_.notify_all();
    }

    // Waits for a sync in progress.
    void await_end() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !is_wanted_; });
    }

  private:
    void run() {
        std::unique_lock lock(mutex_);
        while (true) {
            changed_.wait(lock, [this] { return is_wanted_ || ends_; });
            if (!is_wanted_) return;
            lock.unlock();
            file_.pMethods->xSync(&file_, SQLITE_SYNC_NORMAL);
            lock.lock();
            is_wanted_ = false;
            changed_.notify_all();
        }
    }

    sqlite3_file& file_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_wanted_ = false;
    bool ends_ = false;
    std::thread thread_;
};

}  // namespace callsign::sqlite
