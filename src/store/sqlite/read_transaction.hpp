#pragma once
// A read transaction: a snapshot of the store, on a connection borrowed from the pool.

#include "reader_pool.hpp"

#include <callsign/ports/store.hpp>

#include <memory>

namespace callsign::sqlite {

struct writers_indexes;

// Waits for a free connection. `pool` and the indexes outlive the transaction. Throws
// store_failure.
std::unique_ptr<read_tx> begin_read(reader_pool& pool, const writers_indexes& indexes);

}  // namespace callsign::sqlite
