#include "reader_pool.hpp"

#include <algorithm>

namespace callsign::sqlite {

reader_pool::reader_pool(const std::filesystem::path& file, const sqlite_options& options)
    : all_(std::max<std::size_t>(1, options.readers)), wait_max_(options.reader_wait_max) {
    for (std::size_t i = 0; i < all_; ++i) {
        free_.push_back(
            std::make_unique<connection>(file, SQLite::OPEN_READONLY, options.cache_bytes / 8));
    }
}

std::unique_ptr<connection> reader_pool::take() {
    std::unique_lock lock(mutex_);
    await_release(lock);
    available_.wait(lock, [this] { return !free_.empty(); });
    auto taken = std::move(free_.back());
    free_.pop_back();
    return taken;
}

void reader_pool::give_back(std::unique_ptr<connection> reader) {
    {
        const std::scoped_lock lock(mutex_);
        free_.push_back(std::move(reader));
        if (free_.size() == all_) empty_since_ = steady::now();
    }
    available_.notify_all();
}

void reader_pool::hold() {
    const std::scoped_lock lock(mutex_);
    held_ = true;
}

void reader_pool::release() {
    {
        const std::scoped_lock lock(mutex_);
        held_ = false;
    }
    available_.notify_all();
}

bool reader_pool::nobody_reads() {
    const std::scoped_lock lock(mutex_);
    return free_.size() == all_;
}

void reader_pool::await_release(std::unique_lock<std::mutex>& lock) {
    const auto end = steady::now() + wait_max_;
    while (held_) {
        const bool nobody = free_.size() == all_;
        const auto until = nobody ? std::min(end, empty_since_ + writers_turn) : end;
        if (available_.wait_until(lock, until) == std::cv_status::no_timeout) continue;
        if (nobody) {
            held_ = false;  // the writer did not use its turn: stop waiting for it
            available_.notify_all();
            return;
        }
        throw store_failure(store_failure::kind::rejected, "the log is at its bound");
    }
}

}  // namespace callsign::sqlite
