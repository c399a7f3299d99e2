#pragma once
// The command line of callsignd.

#include "config.hpp"

#include <functional>
#include <optional>

namespace CLI {
class App;
}

namespace callsign::setup {

constexpr int exit_bad_configuration = 2;

struct command_line {
    config_source source;
    bool check_config = false;
};

// Returns nullopt if the process is to exit with `exit_code`.
std::optional<command_line> read_command_line(int argc, char** argv, int& exit_code);

// Passes the definition of all options to `to`, for man page and completions.
void show_definitions(const std::function<void(const CLI::App&)>& to);

}  // namespace callsign::setup
