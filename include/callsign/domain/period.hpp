#pragma once
// The periods in which a series counts from 1 again: days, months or years of an IANA time zone
// (product.md section 5). Names and offsets are from the system's tzdata, read when first used. Any
// thread.

#include <callsign/base/time.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace callsign {

enum class reset_policy : std::uint8_t { never = 1, daily, monthly, yearly };

std::string_view to_string(reset_policy reset) noexcept;
std::optional<reset_policy> parse_reset_policy(std::string_view text) noexcept;

// Of the system's tzdata, by its exact name.
bool is_time_zone(std::string_view name);

// 20261120, 202611, 2026, or nothing, as the calendar there says at that instant. In a zone that
// tzdata has no more it is UTC's calendar: a period may then begin some hours off, and creations
// go on.
std::string period_of(time_point at, reset_policy reset, std::string_view time_zone);

}  // namespace callsign
