#pragma once
// Instants are whole milliseconds since the Unix epoch, in UTC; spans are chrono durations. Only
// the order of replicas' edits is kept to the nanosecond, as replicas send it: precise_time.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace callsign {

using milliseconds = std::chrono::milliseconds;
using time_point = std::chrono::sys_time<milliseconds>;

// RFC 3339 in UTC with three fractional digits: 2026-11-20T12:48:00.123Z. Always 24 characters for
// the years 0000 to 9999; parse_rfc3339 accepts no others.
std::string to_rfc3339(time_point at);

// Parses an RFC 3339 date-time with any offset and any number of fractional digits (truncated to
// milliseconds). Returns nullopt for anything else, including days that do not exist. A leap second
// is read as the following second.
std::optional<time_point> parse_rfc3339(std::string_view text) noexcept;

// The time of an edit, as replicas compare it. 64 bits hold the years 1678 to 2261.
using precise_time = std::chrono::sys_time<std::chrono::nanoseconds>;

// TaskChampion's form: in UTC, with no fraction or with the fewest of three, six or nine digits
// that are exact.
std::string to_precise_rfc3339(precise_time at);

// As parse_rfc3339, but truncated to nanoseconds; also nullopt outside the range of precise_time.
std::optional<precise_time> parse_precise_rfc3339(std::string_view text) noexcept;

// Parses "250ms", "30s", "10m", "24h", "7d": a whole number and one unit. Returns nullopt for
// anything else and for more than 100 years.
std::optional<milliseconds> parse_duration(std::string_view text) noexcept;

// Returns the shortest exact form that parse_duration reads.
std::string to_duration_text(milliseconds span);

}  // namespace callsign
