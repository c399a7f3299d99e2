#pragma once
// Both forms of this room: 0x01 | nonce | ciphertext | tag, under some additional data.

#include <callsign/seal/envelope.hpp>
#include <callsign/seal/secret.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace callsign::seal {

using bytes_view = std::span<const std::uint8_t>;

inline bytes_view bytes_of(std::string_view text) noexcept {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string aead_seal(const key& key, bytes_view additional, nonce_view nonce,
                      bytes_view plaintext);

// How much a whole envelope has in it, or what is wrong with its outside.
std::variant<std::size_t, open_error> check_outside(std::string_view sealed) noexcept;

// Requires: check_outside gave the size of `out`. False: it does not open, and `out` holds nothing
// of it.
bool aead_open(const key& key, bytes_view additional, std::string_view sealed,
               std::span<std::uint8_t> out);

}  // namespace callsign::seal
