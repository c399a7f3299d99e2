#pragma once

#include <callsign/rules/rows/tasks.hpp>

namespace callsign::history {

// How the task stands before it becomes `after`, or is purged.
void put(write_tx& tx, const task& before, const attributes& after, bool purged, time_point now);

}  // namespace callsign::history
