#pragma once
// TaskChampion's envelope: how clients encrypt what they give a sync server to keep.
//
//   0x01 | nonce (12) | ciphertext | tag (16)      ChaCha20-Poly1305 (RFC 8439)
//
// The additional data, 0x01 and the 16 bytes of a version id, binds a body to its place: a history
// segment to its parent's id, a snapshot to its own. Pure: the nonce comes from the caller. It must
// be drawn anew for every body sealed under one key; two bodies under one nonce give each other
// away.

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
// What an envelope adds to what is in it.
constexpr std::size_t envelope_bytes = 1 + nonce_bytes + tag_bytes;

using nonce_view = std::span<const std::uint8_t, nonce_bytes>;

// The key of all bodies of one client id: PBKDF2-HMAC-SHA256 of the encryption secret, 600,000
// rounds, the 16 bytes of the client id as salt. Costs a core a good part of a second: not for the
// writer's or the network's thread, and its result is worth keeping.
key derive_key(std::span<const std::uint8_t> encryption_secret, const uuid& client_id);

std::string seal_body(const key& key, const uuid& version_id, nonce_view nonce,
                      std::string_view plaintext);

enum class open_error : std::uint8_t {
    too_small,      // there is no room for a version byte, a nonce and something in it
    wrong_version,  // its first byte is not 0x01: a form we do not know
    does_not_open,  // another key, another place, or damaged
};

// A sentence.
std::string_view to_string(open_error error) noexcept;

using opened_body = std::variant<std::string, open_error>;

opened_body open_body(const key& key, const uuid& version_id, std::string_view sealed);

}  // namespace callsign::seal
