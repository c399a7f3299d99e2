#pragma once
// What an environment variable says for a test: how long it goes on, and what it draws.

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

// How often something drawn is run: as the suite has it, and CALLSIGN_TIMES as often by hand.
inline std::uint64_t times(std::uint64_t usual) {
    return usual * setting("CALLSIGN_TIMES").value_or(1);
}

// Another one in each run, unless one is to be had again.
inline std::uint64_t system_seed() {
    return setting("CALLSIGN_SYSTEM_SEED").value_or(std::random_device{}());
}

}  // namespace callsign::testing
