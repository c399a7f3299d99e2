#pragma once
// What the engine's deadlines are read from.

#include <callsign/ports/clock.hpp>

namespace callsign {

inline time_point deadline_now(const clock& c) {
    return c.now();
}

}  // namespace callsign
