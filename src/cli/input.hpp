#pragma once
// What a command reads from a file, or from standard input.

#include "run.hpp"

#include <string>

namespace callsign::cli {

// All of it; "-" is standard input. Throws failure.
std::string read_input(const surroundings& around, const std::string& file);

}  // namespace callsign::cli
