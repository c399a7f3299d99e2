#pragma once
// RFC 4648 section 5, without padding: what tokens and page tokens are written in. OpenSSL's
// EVP_EncodeBlock and EVP_DecodeBlock have the other alphabet and pad; to translate takes as much.

#include <optional>
#include <string>
#include <string_view>

namespace callsign::api {

std::string to_base64url(std::string_view bytes);

// nullopt: another character, or a length no bytes have.
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace callsign::api
