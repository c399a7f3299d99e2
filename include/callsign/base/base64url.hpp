#pragma once
// RFC 4648 section 5 without padding, for tokens and page tokens. OpenSSL's EVP_EncodeBlock and
// EVP_DecodeBlock use the other alphabet and padding; translating takes as much code.

#include <optional>
#include <string>
#include <string_view>

namespace callsign {

std::string to_base64url(std::string_view bytes);

// Returns nullopt for other characters and impossible lengths.
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace callsign
