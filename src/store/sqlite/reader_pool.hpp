#pragma once
// Pool of read-only connections. The writer can hold back new readers for a short time, so that the
// WAL can restart. Thread safe.

#include "connection.hpp"

#include <callsign/store/sqlite.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

namespace callsign::sqlite {

class reader_pool {
  public:
    reader_pool(const std::filesystem::path& file, const sqlite_options& options);

    // Waits for a connection. Throws store_failure (rejected) if readers are held back for too
    // long.
    std::unique_ptr<connection> take();
    void give_back(std::unique_ptr<connection> reader);

    // Holds back new readers until release(): the WAL can restart only when no reader uses it.
    void hold();
    void release();
    bool nobody_reads();

  private:
    using steady = std::chrono::steady_clock;
    // Time that the writer has to restart the WAL once no reader is active. Limited: it may be
    // idle.
    static constexpr milliseconds writers_turn{10};

    void await_release(std::unique_lock<std::mutex>& lock);

    std::size_t all_;
    milliseconds wait_max_;
    std::mutex mutex_;
    std::condition_variable available_;
    std::vector<std::unique_ptr<connection>> free_;
    bool held_ = false;
    steady::time_point empty_since_ = steady::now();
};

}  // namespace callsign::sqlite
