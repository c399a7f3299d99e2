#pragma once
// SHA-256 (FIPS 180-4), by OpenSSL.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <istream>
#include <string>
#include <string_view>

namespace callsign {

using digest = std::array<std::uint8_t, 32>;

// The digest of the parts as if written one after another. Thread safe.
digest sha256(std::initializer_list<std::string_view> parts);

inline digest sha256(std::string_view bytes) {
    return sha256({bytes});
}

// Of all that is left of it; throws nothing of its own, and `in` says whether it was read.
digest sha256(std::istream& in);

// Lower-case hexadecimal.
std::string to_hex(std::string_view bytes);

inline std::string_view bytes_of(const digest& d) noexcept {
    return {reinterpret_cast<const char*>(d.data()), d.size()};
}

}  // namespace callsign
