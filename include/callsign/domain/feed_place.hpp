#pragma once
// A position in an account's feed.

#include <compare>
#include <cstddef>
#include <cstdint>

namespace callsign {

// The feed was read up to here: all changes of version `seq`, or its first `tasks` changes.
struct feed_place {
    std::int64_t seq = 0;
    std::size_t tasks = 0;  // 0: all

    friend auto operator<=>(const feed_place&, const feed_place&) = default;
};

}  // namespace callsign
