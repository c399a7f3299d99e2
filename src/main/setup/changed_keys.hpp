#pragma once
// Which keys two configurations differ in, and which of them a reload brings into force.

#include "config.hpp"

#include <map>
#include <string>
#include <vector>

namespace callsign::setup {

// By the names of the keys. Their values stay within the process: some are secrets.
using key_values = std::map<std::string, std::string>;
key_values values_of(const config& c);

struct changed_keys {
    std::vector<std::string> in_force;
    std::vector<std::string> after_restart;

    bool operator==(const changed_keys&) const = default;
};

// `before`: those that are in force; those that a reload brings into force are in it afterwards.
changed_keys take_changes(key_values& before, const config& fresh);

// "reaper.window, log.level"
std::string list_of(const std::vector<std::string>& names);

}  // namespace callsign::setup
