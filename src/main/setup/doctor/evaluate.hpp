#pragma once
// Evaluates facts: verdicts with a finding and advice. Pure.

#include "facts.hpp"

#include <vector>

namespace callsign::setup {

// Returns the results of all checks, in the order of output; a check with several findings has
// several lines.
std::vector<diagnosis> evaluate(const facts& f);

}  // namespace callsign::setup
