#pragma once
// Pseudo-random values from a hash: equal inputs give equal outputs, so an item's values follow
// from its number.

#include <callsign/base/uuid.hpp>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>

namespace callsign::bench {

// splitmix64.
inline std::uint64_t mixed(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}

// Returns the prefix of an account's n-th series after its default.
inline std::string series_name(std::uint64_t n) {
    char name[16];
    std::snprintf(name, sizeof name, "S%04u", static_cast<unsigned>(n));
    return name;
}

// Generates a UUIDv4.
inline uuid draw_uuid(std::uint64_t seed, std::uint64_t item) {
    const std::uint64_t halves[2] = {mixed(seed ^ mixed(2 * item)),
                                     mixed(seed ^ mixed(2 * item + 1))};
    uuid id;
    std::memcpy(id.data, halves, sizeof halves);
    id.data[6] = static_cast<std::uint8_t>((id.data[6] & 0x0F) | 0x40);
    id.data[8] = static_cast<std::uint8_t>((id.data[8] & 0x3F) | 0x80);
    return id;
}

inline std::uint64_t draw_seed() {
    std::random_device chance;
    return (std::uint64_t{chance()} << 32) | chance();
}

}  // namespace callsign::bench
