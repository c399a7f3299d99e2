#pragma once
// Content that is too large to be loaded for nothing.

#include <cstddef>
#include <functional>

namespace callsign {

// Room in memory for content, asked for on the reader's thread before that is loaded, when its size
// is known: the size and the bytes come from one transaction. False: there is none.
using reserve_bytes = std::function<bool(std::size_t)>;

struct no_room {};

}  // namespace callsign
