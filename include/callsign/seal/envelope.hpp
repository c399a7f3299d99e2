#pragma once
// TaskChampion's envelope: how clients encrypt what a sync server stores for them.
//
//   0x01 | nonce (12) | ciphertext | tag (16)      ChaCha20-Poly1305 (RFC 8439)
//
// The additional data, 0x01 and the 16 bytes of a version ID, binds a body to its place: a history
// segment to its parent's ID, a snapshot to its own version's. Pure: the caller provides the nonce,
// newly generated for each body with the same key; two bodies with one nonce reveal each other.

#include <callsign/base/uuid.hpp>
#include <callsign/seal/secret.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace callsign::seal {

constexpr std::size_t nonce_bytes = 12;
constexpr std::size_t tag_bytes = 16;
// The size of an envelope without its content.
constexpr std::size_t envelope_bytes = 1 + nonce_bytes + tag_bytes;

using nonce_view = std::span<const std::uint8_t, nonce_bytes>;

// Returns the key of all bodies of one client ID: PBKDF2-HMAC-SHA256 of the encryption secret,
// 600,000 rounds, with the 16 bytes of the client ID as salt. Takes a good part of a second: not
// for the writer's or the network thread, and worth caching.
key derive_key(std::span<const std::uint8_t> encryption_secret, const uuid& client_id);

std::string seal_body(const key& key, const uuid& version_id, nonce_view nonce,
                      std::string_view plaintext);

enum class open_error : std::uint8_t {
    too_small,      // no room for a version byte, a nonce and any content
    wrong_version,  // the first byte is not 0x01: an unknown form
    does_not_open,  // another key, another place, or corruption
};

// Returns a sentence.
std::string_view to_string(open_error error) noexcept;

using opened_body = std::variant<std::string, open_error>;

opened_body open_body(const key& key, const uuid& version_id, std::string_view sealed);

}  // namespace callsign::seal
