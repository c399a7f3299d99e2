#pragma once
// Hash for in-memory tables whose keys come from outside: names, UUIDs, keys, addresses.
// SipHash-1-3 with a random key for each process, so that clients cannot choose keys that collide.
// Hashes must not be stored: another process computes different ones.

#include <callsign/base/uuid.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace callsign {

struct sip_key {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
};

// SipHash with one round for each word and three final rounds (Aumasson and Bernstein, 2012).
std::uint64_t sip_hash(const sip_key& key, std::span<const std::uint8_t> bytes) noexcept;

struct keyed_hash {
    using is_transparent = void;  // lets a std::string_view find a std::string
    using is_avalanching = void;  // Boost.Unordered need not mix the hash further

    std::size_t operator()(std::string_view text) const noexcept;
    std::size_t operator()(const uuid& id) const noexcept;
    std::size_t operator()(const std::array<std::uint8_t, 16>& bytes) const noexcept;
    std::size_t operator()(std::uint64_t number) const noexcept;
};

}  // namespace callsign
