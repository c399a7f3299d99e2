#pragma once
// Content that is too large to be loaded for nothing.

#include <cstddef>
#include <functional>

namespace callsign {

// Room in memory for so many bytes more. False: there is none. A query asks on the reader's thread
// before the content is loaded, when its size is known: both come from one transaction.
using reserve_bytes = std::function<bool(std::size_t)>;

struct no_room {};

}  // namespace callsign
