#pragma once
// Pseudo-random entropy (splitmix64): the same seed gives the same bytes on every platform.

#include <callsign/ports/entropy.hpp>

#include <cstdint>
#include <span>

namespace callsign::testing {

class seeded_entropy final : public entropy {
  public:
    explicit seeded_entropy(std::uint64_t seed) noexcept : state_(seed) {}

    void fill(std::span<std::uint8_t> bytes) override {
        std::uint64_t word = 0;
        for (std::size_t i = 0; i < bytes.size(); ++i, word >>= 8) {
            if (i % 8 == 0) word = next();
            bytes[i] = static_cast<std::uint8_t>(word);
        }
    }

    std::uint64_t next() noexcept {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        return z ^ (z >> 31);
    }

    // Returns 0..bound-1. Requires: bound > 0. The modulo's bias is irrelevant in tests.
    std::uint64_t below(std::uint64_t bound) noexcept { return next() % bound; }

    // Returns true once in `n` calls, on average.
    bool once_in(std::uint64_t n) noexcept { return below(n) == 0; }

  private:
    std::uint64_t state_;
};

}  // namespace callsign::testing
