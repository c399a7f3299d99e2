#pragma once
// UUIDs (RFC 9562): 16 bytes, written in lower case with hyphens.

#include <callsign/base/time.hpp>

#include <array>
#include <boost/uuid/uuid.hpp>
#include <boost/uuid/uuid_hash.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace callsign {

using uuid = boost::uuids::uuid;

// Parses the hyphenated form in either case; returns nullopt for anything else.
std::optional<uuid> parse_uuid(std::string_view text) noexcept;

// Returns 36 characters: lower case, with hyphens.
std::string to_string(const uuid& id);

// Returns a UUIDv7 (RFC 9562, 5.7): 48 bits of Unix milliseconds, the low 18 bits of `counter` to
// order the IDs of one instant, 56 bits of `random`. IDs generated in order sort in order, so a
// B-tree appends them.
uuid make_uuid_v7(time_point now, std::uint32_t counter, std::uint64_t random) noexcept;

// Returns the instant of a UUIDv7; nullopt for other UUIDs.
std::optional<time_point> time_of_uuid_v7(const uuid& id) noexcept;

// Returns a UUIDv4 (RFC 9562, 5.4) of 16 random bytes, which reveals nothing about the time.
uuid make_uuid_v4(std::span<const std::uint8_t, 16> random) noexcept;

}  // namespace callsign
