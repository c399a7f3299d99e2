#include "run.hpp"

#include <callsign/cli/cli.hpp>
#include <callsign/store/sqlite.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <unistd.h>

namespace callsign::cli {

int run(int argc, const char* const* argv) {
    const surroundings around{
        .in = std::cin,
        .out = std::cout,
        .err = std::cerr,
        .in_is_terminal = isatty(STDIN_FILENO) == 1,
        .err_is_terminal = isatty(STDERR_FILENO) == 1,
        .environment = [](const char* name) -> const char* { return std::getenv(name); },
        .exchange = exchange,
        .check = check_sqlite,
    };
    return run(std::vector<std::string>(argv + std::min(argc, 1), argv + argc), around);
}

}  // namespace callsign::cli
