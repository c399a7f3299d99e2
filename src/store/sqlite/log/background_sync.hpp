#pragma once
// Writes a file's dirty pages to the disk on a thread of its own, so that whoever must wait for it
// to be durable later waits for little. A failure is kept by the file (sync_failure()). One that
// was begun is made before the destructor returns.
//
// begin() and await_end() are one thread's, the writer's.

#include <condition_variable>
#include <mutex>
#include <sqlite3.h>
#include <thread>

namespace callsign::sqlite {

class background_sync {
  public:
    // `file` outlives it, and nobody else syncs it while one is under way.
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

    // Nothing is done if one is under way still.
    void begin() {
        {
            const std::scoped_lock lock(mutex_);
            if (is_wanted_) return;
            is_wanted_ = true;
        }
        changed_.notify_all();
    }

    // Waits for the one that is under way.
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
