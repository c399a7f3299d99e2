#pragma once
// What an environment variable says for a test: how long it goes on, and what it draws.

#include <cstdint>
#include <cstdlib>
#include <random>

namespace callsign::testing {

inline std::uint64_t setting(const char* name, std::uint64_t otherwise) {
    const char* const text = std::getenv(name);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

// Another one in each run, unless one is to be had again.
inline std::uint64_t system_seed() {
    return setting("CALLSIGN_SYSTEM_SEED", std::random_device{}());
}

}  // namespace callsign::testing
