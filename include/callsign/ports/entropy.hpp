#pragma once
// Source of randomness: the operating system's (platform/real.hpp), or a seeded one.

#include <callsign/base/uuid.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace callsign {

class entropy {
  public:
    virtual ~entropy() = default;

    // Fills `bytes` with unpredictable ones, fit for secrets. Any thread.
    virtual void fill(std::span<std::uint8_t> bytes) = 0;
};

inline std::uint8_t draw_byte(entropy& source) {
    std::array<std::uint8_t, 1> drawn{};
    source.fill(drawn);
    return drawn[0];
}

// Generates a version 4 UUID (RFC 9562), which is unpredictable: a client ID is the only credential
// of an opaque account's client, and a webhook's ID stands in URLs.
inline uuid draw_uuid(entropy& source) {
    std::array<std::uint8_t, 16> drawn{};
    source.fill(drawn);
    return make_uuid_v4(drawn);
}

}  // namespace callsign
