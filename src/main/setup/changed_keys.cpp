#include "changed_keys.hpp"

#include "config_keys.hpp"
#include "config_values.hpp"

#include <algorithm>
#include <array>

namespace callsign::setup {
namespace {

// Keys that server::reload() applies, besides all of [reaper].
constexpr std::array<std::string_view, 14> reloaded{"feed.retention",
                                                    "log.level",
                                                    "log.requests",
                                                    "tls.certificate",
                                                    "tls.key",
                                                    "remote.at_once",
                                                    "remote.attempts_max",
                                                    "remote.creations_max",
                                                    "remote.edits_max",
                                                    "remote.retry_max",
                                                    "remote.retry_min",
                                                    "remote.poll_interval",
                                                    "remote.state_bytes_max",
                                                    "remote.verify_interval"};

bool is_reloaded(const std::string& dotted) {
    return dotted.starts_with("reaper.") ||
           std::find(reloaded.begin(), reloaded.end(), dotted) != reloaded.end();
}

}  // namespace

key_values values_of(const config& c) {
    key_values values;
    for (const config_key& key : config_keys()) values[key.dotted()] = value_text(key, c);
    return values;
}

changed_keys take_changes(key_values& before, const config& fresh) {
    changed_keys changed;
    for (const auto& [name, value] : values_of(fresh)) {
        std::string& old = before[name];
        if (old == value) continue;
        if (is_reloaded(name)) {
            changed.in_force.push_back(name);
            old = value;
        } else {
            changed.after_restart.push_back(name);
        }
    }
    return changed;
}

std::string list_of(const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    return list.empty() ? "none" : list;
}

}  // namespace callsign::setup
