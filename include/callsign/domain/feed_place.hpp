#pragma once
// A place in an account's feed.

#include <compare>
#include <cstddef>
#include <cstdint>

namespace callsign {

// Up to where a feed was read: all changes of version `seq`, or the first `tasks` of them.
struct feed_place {
    std::int64_t seq = 0;
    std::size_t tasks = 0;  // 0: all

    friend auto operator<=>(const feed_place&, const feed_place&) = default;
};

}  // namespace callsign
