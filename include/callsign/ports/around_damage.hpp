#pragma once
// Reading on where something cannot be read: behind it there may be more.

#include <callsign/ports/store.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace callsign {

// The place after `last` behind which rows can be read again, going forward in ever longer steps.
// `read_behind(place)` throws store_failure where they cannot. None: nowhere.
template <class ReadBehind>
std::optional<std::int64_t> next_readable(std::int64_t last, ReadBehind read_behind) {
    const std::int64_t from = std::max<std::int64_t>(last, 0);
    for (int step = 0; step < 62; ++step) {
        const std::int64_t far = std::int64_t{1} << step;
        if (from > std::numeric_limits<std::int64_t>::max() - far) break;
        const std::int64_t place = from + far;
        try {
            read_behind(place);
            return place;
        } catch (const store_failure&) {
            // Not here yet.
        }
    }
    return std::nullopt;
}

}  // namespace callsign
