#pragma once
// The time at which store tests begin.

#include <callsign/base/time.hpp>

namespace callsign {

inline constexpr time_point t0{milliseconds{1'700'000'000'000}};

}  // namespace callsign
