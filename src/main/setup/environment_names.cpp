#include "environment_names.hpp"

#include "config_keys.hpp"

#include <callsign/base/nearest.hpp>

#include <algorithm>
#include <array>
#include <cctype>

namespace callsign::setup {
namespace {

constexpr std::string_view begin = "CALLSIGN_";

// Variables without a configuration key.
constexpr std::array<const char*, 4> others{"CALLSIGN_MASTER_KEY", "CALLSIGN_URL", "CALLSIGN_TOKEN",
                                            "CALLSIGN_CACERT"};

// Returns whether the name is like CALLSIGN_SERVICE_HOST or CALLSIGN_PORT_8080_TCP_ADDR.
bool is_of_a_service(std::string_view name) {
    name.remove_prefix(begin.size());
    return name == "PORT" || name.starts_with("PORT_") || name.starts_with("SERVICE_");
}

}  // namespace

std::string variable_of(const std::string& dotted) {
    std::string name = std::string(begin) + dotted;
    for (char& c : name) {
        c = c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    return name;
}

std::vector<unknown_name> unknown_names(std::span<const std::string> variables) {
    std::vector<std::string> known(others.begin(), others.end());
    for (const config_key& key : config_keys()) known.push_back(variable_of(key.dotted()));
    std::vector<unknown_name> found;
    for (const std::string& name : variables) {
        const bool is_ours = name.starts_with(begin) && !is_of_a_service(name);
        if (!is_ours || std::find(known.begin(), known.end(), name) != known.end()) continue;
        // Without the common prefix, which would make all names similar.
        std::vector<std::string> ends;
        for (const std::string& each : known) ends.push_back(each.substr(begin.size()));
        const std::string_view nearest_end =
            nearest(std::string_view(name).substr(begin.size()), ends);
        found.push_back({name, nearest_end.empty() ? "" : std::string(begin).append(nearest_end)});
    }
    return found;
}

}  // namespace callsign::setup
