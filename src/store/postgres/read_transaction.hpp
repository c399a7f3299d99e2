#pragma once
// Snapshots of the committed state, each on a connection of its own.

#include "connection.hpp"
#include "statements.hpp"

#include <callsign/ports/store.hpp>
#include <callsign/store/batch_log.hpp>

#include <condition_variable>
#include <cstddef>
#include <functional>
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

// Passes a snapshot to a program that does not own the store, on a connection with these options.
// `db` reads the catalog. Throws store_failure.
void read_unowned(connection& db, const connection_options& how,
                  const std::function<void(read_tx&)>& visit);

}  // namespace callsign::postgres
