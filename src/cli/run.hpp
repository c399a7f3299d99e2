#pragma once
// run() with its environment passed in.

#include "session.hpp"

#include <string>
#include <vector>

namespace callsign::cli {

// `arguments`: without the program's name.
int run(const std::vector<std::string>& arguments, const cli_context& around);

}  // namespace callsign::cli
