#pragma once
// Secrets at rest, such as the derived key of a device, encrypted with the master key. The master
// key is not in the store, so the store alone reveals no secret.
//
//   0x01 | nonce (12) | ciphertext | tag (16)      ChaCha20-Poly1305 (RFC 8439)
//
// Each secret is bound to its owner: moved to another row, account or purpose it cannot be
// decrypted. Pure: the caller provides the nonce, newly generated each time.

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
    // Numbers are part of the encryption's binding: none may be reused.
    device_key = 1,
    device_secret = 2,
    webhook_secret = 3,  // bound to its UUID in place of a client ID
    remote_key = 4,      // bound to a client ID on a remote server and no account
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
