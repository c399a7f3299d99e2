#pragma once
// What callsignd is told when it is started.

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

// nullopt: there is nothing more to do than to end with `exit_code`.
std::optional<command_line> read_command_line(int argc, char** argv, int& exit_code);

// All its options, to write a page and completions of.
void show_definitions(const std::function<void(const CLI::App&)>& to);

}  // namespace callsign::setup
