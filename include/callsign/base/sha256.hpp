#pragma once
// SHA-256 (FIPS 180-4), computed by OpenSSL.

#include <array>
#include <cstdint>
#include <initializer_list>
#include <istream>
#include <string>
#include <string_view>

namespace callsign {

using digest = std::array<std::uint8_t, 32>;

// Returns the digest of the concatenated parts. Any thread.
digest sha256(std::initializer_list<std::string_view> parts);

inline digest sha256(std::string_view bytes) {
    return sha256({bytes});
}

// Returns the digest of the rest of the stream. Throws no exception of its own: the caller checks
// the state of `in` for read errors.
digest sha256(std::istream& in);

// Returns lower-case hexadecimal digits.
std::string to_hex(std::string_view bytes);

inline std::string_view bytes_of(const digest& d) noexcept {
    return {reinterpret_cast<const char*>(d.data()), d.size()};
}

}  // namespace callsign
