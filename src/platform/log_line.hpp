#pragma once
// Formats log lines. Pure, so that escaping can be tested.

#include <callsign/base/time.hpp>
#include <callsign/platform/log.hpp>

#include <initializer_list>
#include <string>
#include <string_view>

namespace callsign::platform {

struct log_entry {
    time_point at;
    log_level level = log_level::info;
    std::string_view event;
    std::initializer_list<log_field> fields;
};

std::string text_line(const log_entry& entry);
std::string json_line(const log_entry& entry);

// Returns a JSON string, quotes included. Invalid UTF-8 becomes U+FFFD, so that every line stays
// JSON; control characters are escaped, so that no value can forge a line or move a terminal's
// cursor.
std::string json_string(std::string_view text);

}  // namespace callsign::platform
