#pragma once
// The hash of tables whose keys others choose: names, UUIDs, keys, addresses. SipHash-1-3 with a
// key that each process draws for itself, so that nobody can choose keys that share a bucket.
// Tables in memory alone: another process hashes otherwise.

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

// SipHash with one round a word and three at the end (Aumasson and Bernstein, 2012).
std::uint64_t sip_hash(const sip_key& key, std::span<const std::uint8_t> bytes) noexcept;

struct keyed_hash {
    using is_transparent = void;  // std::string by std::string_view
    using is_avalanching = void;  // Boost.Unordered need not mix it further

    std::size_t operator()(std::string_view text) const noexcept;
    std::size_t operator()(const uuid& id) const noexcept;
    std::size_t operator()(const std::array<std::uint8_t, 16>& bytes) const noexcept;
    std::size_t operator()(std::uint64_t number) const noexcept;
};

}  // namespace callsign
