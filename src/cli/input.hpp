#pragma once
// Input of a command.

#include "run.hpp"

#include <string>

namespace callsign::cli {

// Returns the whole file; "-" is standard input. Throws failure.
std::string read_input(const cli_context& around, const std::string& file);

}  // namespace callsign::cli
