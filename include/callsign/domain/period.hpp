#pragma once
// The periods after which a series restarts at 1: days, months or years of an IANA time zone
// (docs/api.md, Series). Names and offsets come from the system's tzdata, which is read on first
// use. Any thread.

#include <callsign/base/time.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace callsign {

enum class reset_policy : std::uint8_t { never = 1, daily, monthly, yearly };

std::string_view to_string(reset_policy reset) noexcept;
std::optional<reset_policy> parse_reset_policy(std::string_view text) noexcept;

// Whether the system's tzdata has a zone of exactly this name; "localtime" is not one.
bool is_time_zone(std::string_view name);

// Returns 20261120, 202611, 2026 or an empty text: the period at that instant in the zone. If
// tzdata no longer has the zone, UTC applies: periods may begin hours off, but creations continue.
std::string period_of(time_point at, reset_policy reset, std::string_view time_zone);

}  // namespace callsign
