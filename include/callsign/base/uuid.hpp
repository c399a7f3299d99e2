#pragma once
// UUIDs (RFC 9562): 16 bytes, written in lower-case hyphenated form.

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

// The hyphenated form, either case; nullopt for anything else.
std::optional<uuid> parse_uuid(std::string_view text) noexcept;

// Lower case, hyphenated: 36 characters.
std::string to_string(const uuid& id);

// A UUIDv7 (RFC 9562 section 5.7): 48 bits of Unix milliseconds, then `counter` (18 bits used) so
// that ids of one instant keep their order, then 56 bits of `random`. Ids drawn in order sort in
// order, which is what a B-tree likes.
uuid make_uuid_v7(time_point now, std::uint32_t counter, std::uint64_t random) noexcept;

// Its instant; nullopt: it is a UUID of another kind.
std::optional<time_point> time_of_uuid_v7(const uuid& id) noexcept;

// A UUIDv4 (section 5.4) of these 16 random bytes: nothing of it can be guessed from the time.
uuid make_uuid_v4(std::span<const std::uint8_t, 16> random) noexcept;

}  // namespace callsign
