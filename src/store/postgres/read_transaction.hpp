#pragma once
// Snapshots of the committed state, each on a connection of its own.

#include "connection.hpp"
#include "statements.hpp"

#include <callsign/ports/store.hpp>
#include <callsign/store/batch_log.hpp>

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace callsign::postgres {

// Connections for reads. Any thread.
class reader_pool {
  public:
    // `trips` outlives it.
    reader_pool(const connection_options& options, std::size_t readers, trip_counts& trips);

    // Waits for one.
    std::unique_ptr<connection> take();
    void give_back(std::unique_ptr<connection> reader);
    trip_counts& trips() noexcept { return trips_; }

  private:
    trip_counts& trips_;
    std::mutex mutex_;
    std::condition_variable available_;
    std::vector<std::unique_ptr<connection>> free_;
};

// Each read throws store_failure unless the store is held. `log` null: of a program that does not
// own the store.
std::unique_ptr<read_tx> begin_read(reader_pool& pool, statements& texts, const batch_log* log);

}  // namespace callsign::postgres
