#pragma once
// All that a store in memory holds, as one value.

#include "rows.hpp"

#include <callsign/base/time.hpp>

#include <cstdint>

namespace callsign::memory {

struct state {
    memory::rows rows;
};

}  // namespace callsign::memory
