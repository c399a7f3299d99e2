#pragma once
// The connections that only read. Who reads takes one and gives it back; the writer can keep new
// readers out for a moment, so that the log can begin anew. Thread safe.

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

    // Waits for one. Throws store_failure (refused) if readers are held for too long.
    std::unique_ptr<connection> take();
    void give_back(std::unique_ptr<connection> reader);

    // Lets nobody in, so that those who read come to an end: the log can begin anew only when
    // nobody reads from it.
    void hold();
    void release();
    bool nobody_reads();

  private:
    using steady = std::chrono::steady_clock;
    // How long the writer has, once nobody reads, to begin the log anew: it may have nothing to do.
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
