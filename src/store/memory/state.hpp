#pragma once
// All that a store in memory holds, as one value.

#include "rows.hpp"

#include <callsign/base/time.hpp>

#include <cstdint>

namespace callsign::memory {

struct state {
    memory::rows rows;
    std::int64_t last_id = 0;  // of any row: ids grow and are never reused
    time_point last_moment{};
};

}  // namespace callsign::memory
