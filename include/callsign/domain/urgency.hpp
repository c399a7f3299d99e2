#pragma once
// The urgency of a task: Taskwarrior's polynomial with its default coefficients (Taskwarrior's
// documentation, "urgency"; the terms of Taskwarrior 2.6 and 3). Pure.

#include <callsign/domain/task_filter.hpp>

namespace callsign {

// Returns the urgency without the terms of the links.
double urgency_of(const attributes& all, time_point now);

// Returns the terms of the links.
double urgency_of(const task_links& links) noexcept;

}  // namespace callsign
