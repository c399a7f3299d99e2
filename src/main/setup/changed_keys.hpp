#pragma once
// Finds the keys in which two configurations differ, and which of them a reload applies.

#include "config.hpp"

#include <map>
#include <string>
#include <vector>

namespace callsign::setup {

// Values by key. They stay within the process: some are secrets.
using key_values = std::map<std::string, std::string>;
key_values values_of(const config& c);

struct changed_keys {
    std::vector<std::string> in_force;
    std::vector<std::string> after_restart;

    bool operator==(const changed_keys&) const = default;
};

// `before`: the current values, updated with those that a reload applies.
changed_keys take_changes(key_values& before, const config& fresh);

// "reaper.window, log.level"
std::string list_of(const std::vector<std::string>& names);

}  // namespace callsign::setup
