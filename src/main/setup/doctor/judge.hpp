#pragma once
// What facts mean: a verdict each, in words, with what to do. Pure.

#include "facts.hpp"

#include <vector>

namespace callsign::setup {

// Every check, in the order people read them in; a check with several things to say has several
// lines.
std::vector<diagnosis> judge(const facts& f);

}  // namespace callsign::setup
