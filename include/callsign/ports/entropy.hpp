#pragma once
// Chance from outside: the operating system's (platform/real.hpp), or a seed's.

#include <cstddef>
#include <cstdint>
#include <span>

namespace callsign {

class entropy {
  public:
    virtual ~entropy() = default;

    // Unpredictable bytes, fit for secrets. Any thread.
    virtual void fill(std::span<std::uint8_t> bytes) = 0;
};

}  // namespace callsign
