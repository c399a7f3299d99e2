#pragma once
// The valid instants: the years 1 to 9999, as in protobuf's Timestamp. Decoders reject all others
// and the store treats them as corruption, so every accepted instant can be read back.

#include <callsign/base/time.hpp>

#include <chrono>
#include <cstdint>

namespace callsign {

inline constexpr time_point instant_first = std::chrono::sys_days{std::chrono::year{1} / 1 / 1};
inline constexpr time_point instant_last =
    time_point{std::chrono::sys_days{std::chrono::year{10'000} / 1 / 1}} - milliseconds{1};

// `seconds` may be outside the range of time_point.
constexpr bool is_instant_in_seconds(std::int64_t seconds) noexcept {
    using std::chrono::floor;
    using in_seconds = std::chrono::seconds;
    return seconds >= floor<in_seconds>(instant_first).time_since_epoch().count() &&
           seconds <= floor<in_seconds>(instant_last).time_since_epoch().count();
}

constexpr bool is_instant(time_point at) noexcept {
    return at >= instant_first && at <= instant_last;
}

}  // namespace callsign
