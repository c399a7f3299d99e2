#pragma once
// `callsign doctor`: collects facts and evaluates them. Read-only: creates, changes and locks
// nothing, whether a server runs or not. Does not throw.

#include "facts.hpp"

#include <vector>

namespace callsign::setup {

facts collect(const doctor_question& question);

std::vector<diagnosis> examine(const doctor_question& question);

}  // namespace callsign::setup
