#pragma once
// Content that is too large to be loaded without a reservation of memory.

#include <cstddef>
#include <functional>

namespace callsign {

// Reserves this many bytes of memory; false: they are not available. A query calls it on the
// reader's thread, in its transaction, between reading the content's size and its content.
using reserve_bytes = std::function<bool(std::size_t)>;

struct no_room {};

}  // namespace callsign
