#pragma once
// The form of envelopes and secrets at rest: 0x01 | nonce | ciphertext | tag, with additional data.

#include <callsign/seal/envelope.hpp>
#include <callsign/seal/secret.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace callsign::seal {

using bytes_view = std::span<const std::uint8_t>;

inline bytes_view bytes_of(std::string_view text) noexcept {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string aead_seal(const key& key, bytes_view additional, nonce_view nonce,
                      bytes_view plaintext);

// Returns the size of the envelope's content, or the error of its outer form.
std::variant<std::size_t, open_error> check_outside(std::string_view sealed) noexcept;

// Requires: `out` has the size from check_outside. False: decryption failed, and `out` was wiped.
bool aead_open(const key& key, bytes_view additional, std::string_view sealed,
               std::span<std::uint8_t> out);

}  // namespace callsign::seal
