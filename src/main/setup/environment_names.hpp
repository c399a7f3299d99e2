#pragma once
// Environment variables with the prefix CALLSIGN_: the known names, and the nearest one to a
// misspelt name.

#include <span>
#include <string>
#include <vector>

namespace callsign::setup {

struct unknown_name {
    std::string name;
    std::string nearest;  // empty: no known name is near
};

// Returns "CALLSIGN_REAPER_WINDOW" for "reaper.window".
std::string variable_of(const std::string& dotted);

// Returns the names with the prefix CALLSIGN_ that neither callsignd nor callsign reads, in their
// order, without those that Kubernetes and Docker set for a service of this name.
std::vector<unknown_name> unknown_names(std::span<const std::string> variables);

}  // namespace callsign::setup
