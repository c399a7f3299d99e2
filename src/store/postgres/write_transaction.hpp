#pragma once
// The writer's transaction: reads with the writer's connection, outside any database transaction,
// since only the owner writes; and one round trip that writes all changes and commits.

#include "connection.hpp"
#include "open_slots.hpp"
#include "statements.hpp"

#include <callsign/ports/store.hpp>
#include <callsign/store/batch_log.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace callsign::postgres {

// What the writer knows between transactions. True as long as the log is its own.
struct write_state {
    connection& db;
    statements& texts;
    batch_log& log;
    open_slots& open;
    trip_counts& trips;
    row_cache rows{};
    // The batches that last wrote the heads of rows, by table and ID. Others are before the batch
    // that is the default.
    std::map<std::pair<const table_info*, std::int64_t>, std::int64_t> heads{};
    // All rows of the log before this one are removed.
    std::int64_t log_from = 0;
};

std::unique_ptr<write_tx> begin_write(write_state& state);

// Reads all open slots, once, after a takeover.
std::vector<row_ptr> read_open_slots(write_state& state);

}  // namespace callsign::postgres
