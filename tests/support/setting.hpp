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

// Another one in each run, unless one is to be had again.
inline std::uint64_t system_seed() {
    return setting("CALLSIGN_SYSTEM_SEED").value_or(std::random_device{}());
}

}  // namespace callsign::testing
