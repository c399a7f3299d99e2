#pragma once

#include <callsign/rules/rows/tasks.hpp>

namespace callsign::history {

// Stores the state of the task before it becomes `after` or is purged. `way_back` is that of the
// task's row; returns its new value.
std::int64_t put(write_tx& tx, const task& before, std::int64_t way_back, const attributes& after,
                 bool purged, time_point now);

}  // namespace callsign::history
