#pragma once
// The state of a store's rows, for `callsign doctor`.

#include <callsign/ports/doctor.hpp>
#include <callsign/ports/store.hpp>

namespace callsign::rules {

// Incomplete tasks created at or after `made_before` are ignored: their sync may be in progress.
// Stops at a row that cannot be read, which `callsign check` reports. Throws store_failure if the
// totals cannot be read.
store_sight look_at(read_tx& tx, time_point made_before);

}  // namespace callsign::rules
