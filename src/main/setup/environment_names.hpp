#pragma once
// The names of variables that begin with CALLSIGN_: which there are, and what somebody meant who
// misspelt one.

#include <span>
#include <string>
#include <vector>

namespace callsign::setup {

struct unknown_name {
    std::string name;
    std::string nearest;  // empty: none is near
};

// "CALLSIGN_REAPER_WINDOW" of "reaper.window".
std::string variable_of(const std::string& dotted);

// Of these names those that begin with CALLSIGN_ and that neither callsignd nor callsign reads, in
// their order. What Kubernetes and Docker set for a service of this name is none of them.
std::vector<unknown_name> unknown_names(std::span<const std::string> variables);

}  // namespace callsign::setup
