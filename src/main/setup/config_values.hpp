#pragma once
// One value of a key: read from a text or a number, looked at for its bounds, put where it belongs,
// and written again.

#include "config_keys.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace callsign::setup {

// What is wrong with it; empty: nothing, and it is set.
using complaint = std::string;

complaint set_text(const config_key& key, std::string_view text, config& into);
complaint set_number(const count_key& kind, std::int64_t value, config& into);
complaint set_ratio(const ratio_key& kind, double value, config& into);

// What the key holds, as it would be written in the file: 500, "30s", "127.0.0.1:8080".
std::string value_text(const config_key& key, const config& from);

}  // namespace callsign::setup
