#pragma once
// The state of a store's rows, for `callsign doctor`.

#include <callsign/ports/doctor.hpp>
#include <callsign/ports/store.hpp>

namespace callsign::rules {

// Incomplete tasks created at or after `made_before` are ignored: their sync may be in progress.
// Tasks that cannot be read are left to `callsign check`. Throws store_failure if other rows cannot
// be read.
store_sight look_at(read_tx& tx, time_point made_before);

}  // namespace callsign::rules
