#pragma once
// How a webhook's bodies are signed: version 1 of the Standard Webhooks specification
// (standardwebhooks.com), an HMAC-SHA256 (RFC 2104) over "ID.SECONDS.BODY" in base64, so that
// receivers have a library for it. A secret is written whsec_ and base64. Pure.

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

// nullopt: it is not one of these, or of another length.
std::optional<secret_bytes> parse_webhook_secret(std::string_view text);

// The caller's to wipe.
std::string webhook_secret_text(std::span<const std::uint8_t> secret);

// "v1,..." as in the header field webhook-signature. `seconds`: since the epoch, as in
// webhook-timestamp.
std::string webhook_signature(std::span<const std::uint8_t> secret, std::string_view id,
                              std::int64_t seconds, std::string_view body);

}  // namespace callsign::seal
