#pragma once
// How urgent a task is: Taskwarrior's own polynomial with the coefficients it has when nobody has
// set others (its documentation, "urgency"; the terms are those of Taskwarrior 2.6 and 3). Pure.

#include <callsign/domain/task_filter.hpp>

namespace callsign {

// Without what the links add.
double urgency_of(const attributes& all, time_point now);

// What being blocked takes from it, and blocking others adds.
double urgency_of(const task_links& links) noexcept;

}  // namespace callsign
