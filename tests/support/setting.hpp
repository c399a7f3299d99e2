#pragma once
// Environment variables that set a test's duration and seeds.

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>

namespace callsign::testing {

inline std::optional<std::uint64_t> setting(const char* name) {
    const char* const text = std::getenv(name);
    if (!text) return std::nullopt;
    return std::strtoull(text, nullptr, 10);
}

// Number of runs of a randomised test: the usual number times CALLSIGN_TIMES.
inline std::uint64_t times(std::uint64_t usual) {
    return usual * setting("CALLSIGN_TIMES").value_or(1);
}

// A random seed, unless CALLSIGN_SYSTEM_SEED repeats one.
inline std::uint64_t system_seed() {
    return setting("CALLSIGN_SYSTEM_SEED").value_or(std::random_device{}());
}

}  // namespace callsign::testing
