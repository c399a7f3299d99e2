#pragma once
// Secrets at rest: what the server keeps of a device's (its derived key, or the encryption secret
// itself), sealed under the master key, which is not in the store. Who has the store alone has
// nothing.
//
//   0x01 | nonce (12) | ciphertext | tag (16)      ChaCha20-Poly1305 (RFC 8439)
//
// Each is bound to what it belongs to: moved to another row, account or purpose, it does not open.
// Pure: the nonce comes from the caller, drawn anew each time.

#include <callsign/base/strong_id.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/seal/envelope.hpp>
#include <callsign/seal/secret.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace callsign::seal {

enum class purpose : std::uint8_t {
    // Numbers are part of what is sealed: none is ever used for something else.
    device_key = 1,
    device_secret = 2,
    webhook_secret = 3,  // its uuid in the place of a client id
    remote_key = 4,      // of a client id on another server, in the place of no account
};

struct belongs_to {
    seal::purpose purpose = seal::purpose::device_key;
    account_id account;
    uuid client_id{};
};

std::string seal_at_rest(const key& master, const belongs_to& owner, nonce_view nonce,
                         std::span<const std::uint8_t> secret);

using opened_secret = std::variant<secret_bytes, open_error>;

opened_secret open_at_rest(const key& master, const belongs_to& owner, std::string_view sealed);

}  // namespace callsign::seal
