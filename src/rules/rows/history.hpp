#pragma once

#include <callsign/rules/rows/tasks.hpp>

namespace callsign::history {

// How the task stands before it becomes `after`, or is purged. `way_back`: its row's; returns the
// one that it has then.
std::int64_t put(write_tx& tx, const task& before, std::int64_t way_back, const attributes& after,
                 bool purged, time_point now);

}  // namespace callsign::history
