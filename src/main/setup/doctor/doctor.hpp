#pragma once
// `callsign doctor`: gathers what there is to know and judges it. Reads alone: it makes, changes
// and locks nothing, so a server may run or not. Throws nothing.

#include "facts.hpp"

#include <vector>

namespace callsign::setup {

facts gather(const doctor_question& question);

std::vector<diagnosis> examine(const doctor_question& question);

}  // namespace callsign::setup
