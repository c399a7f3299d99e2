#pragma once
// One value of a key: parsed from a text or a number, validated, stored, and formatted.

#include "config_keys.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace callsign::setup {

// An error; empty: the value is valid, and was set.
using complaint = std::string;

complaint set_text(const config_key& key, std::string_view text, config& into);
complaint set_number(const count_key& kind, std::int64_t value, config& into);
complaint set_ratio(const ratio_key& kind, double value, config& into);

// Returns the key's value as the file would have it: 500, "30s", "127.0.0.1:8080".
std::string value_text(const config_key& key, const config& from);

}  // namespace callsign::setup
