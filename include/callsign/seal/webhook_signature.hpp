#pragma once
// Signatures of webhook bodies: version 1 of the Standard Webhooks specification
// (standardwebhooks.com), an HMAC-SHA256 (RFC 2104) of "ID.SECONDS.BODY" in base64, so that
// receivers can use existing libraries. A secret is written as whsec_ and base64. Pure.

#include <callsign/seal/secret.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace callsign::seal {

inline constexpr std::size_t webhook_secret_bytes_min = 24;
inline constexpr std::size_t webhook_secret_bytes_max = 64;

// nullopt: not of this form, or of another length.
std::optional<secret_bytes> parse_webhook_secret(std::string_view text);

// The caller wipes the result.
std::string webhook_secret_text(std::span<const std::uint8_t> secret);

// A webhook's secrets: the current one, and after a rotation the former one, which signs, too.
struct webhook_secrets {
    secret_bytes current;
    std::optional<secret_bytes> former{};
};
// The stored form: the size of the current secret in a byte, the current secret, the former one.
secret_bytes packed(const webhook_secrets& secrets);
// nullopt: corrupt.
std::optional<webhook_secrets> unpacked(const secret_bytes& stored);

// Returns webhook-signature's value "v1,...". `seconds`: since the epoch, as in webhook-timestamp.
std::string webhook_signature(std::span<const std::uint8_t> secret, std::string_view id,
                              std::int64_t seconds, std::string_view body);

}  // namespace callsign::seal
