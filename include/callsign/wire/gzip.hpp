#pragma once
// gzip (RFC 1952), for responses. Pure.

#include <string>
#include <string_view>

namespace callsign::wire {

// Returns the bytes in gzip, in favour of speed: JSON becomes a quarter to a tenth of its size, at
// some 100 MB/s.
std::string gzipped(std::string_view bytes);

}  // namespace callsign::wire
