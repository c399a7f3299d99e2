#pragma once
// Instants are whole milliseconds since the Unix epoch, in UTC; spans are chrono durations. What
// replicas say about the order of their edits comes in nanoseconds, and is kept so: precise_time.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace callsign {

using milliseconds = std::chrono::milliseconds;
using time_point = std::chrono::sys_time<milliseconds>;

// RFC 3339 in UTC with three fractional digits: 2026-11-20T12:48:00.123Z. Always 24 characters for
// the years 0000 to 9999, which is all that parse_rfc3339 lets in.
std::string to_rfc3339(time_point at);

// An RFC 3339 date-time with any offset and any number of fractional digits (cut to milliseconds);
// nullopt for anything else, a day that does not exist included. A leap second reads as the next
// second.
std::optional<time_point> parse_rfc3339(std::string_view text) noexcept;

// The time of an edit, as replicas compare it. Between the years 1678 and 2261, no more than 64
// bits hold.
using precise_time = std::chrono::sys_time<std::chrono::nanoseconds>;

// As TaskChampion writes it: in UTC, with no fraction, or one of three, six or nine digits, the
// fewest that are exact.
std::string to_precise_rfc3339(precise_time at);

// As parse_rfc3339, cut to nanoseconds; nullopt also for an instant that precise_time can't hold.
std::optional<precise_time> parse_precise_rfc3339(std::string_view text) noexcept;

// "250ms", "30s", "10m", "24h", "7d": a whole number and one unit; nullopt for anything else or for
// what does not fit in 100 years.
std::optional<milliseconds> parse_duration(std::string_view text) noexcept;

// The shortest exact form parse_duration reads back.
std::string to_duration_text(milliseconds span);

}  // namespace callsign
