#include "aead.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/seal/envelope.hpp>

#include <algorithm>
#include <array>
#include <openssl/crypto.h>
#include <openssl/evp.h>

namespace callsign::seal {
namespace {

constexpr int rounds = 600'000;

using place = std::array<std::uint8_t, 17>;

place place_of(const uuid& version_id) noexcept {
    place bytes{0x01};
    std::copy(version_id.begin(), version_id.end(), bytes.begin() + 1);
    return bytes;
}

}  // namespace

key derive_key(std::span<const std::uint8_t> encryption_secret, const uuid& client_id) {
    std::array<std::uint8_t, key_bytes> derived{};
    const int ok = PKCS5_PBKDF2_HMAC(reinterpret_cast<const char*>(encryption_secret.data()),
                                     static_cast<int>(encryption_secret.size()), client_id.data,
                                     static_cast<int>(client_id.size()), rounds, EVP_sha256(),
                                     static_cast<int>(derived.size()), derived.data());
    CALLSIGN_ASSERT(ok == 1);
    key made{derived};
    OPENSSL_cleanse(derived.data(), derived.size());
    return made;
}

std::string seal_body(const key& key, const uuid& version_id, nonce_view nonce,
                      std::string_view plaintext) {
    return aead_seal(key, place_of(version_id), nonce, bytes_of(plaintext));
}

std::string_view to_string(open_error error) noexcept {
    switch (error) {
    case open_error::too_small: return "The envelope is too small.";
    case open_error::wrong_version: return "The envelope's version is unknown.";
    case open_error::does_not_open:
        return "The envelope cannot be decrypted: it was encrypted with another secret or for "
               "another version, or is corrupt.";
    }
    return "";
}

opened_body open_body(const key& key, const uuid& version_id, std::string_view sealed) {
    const auto size = check_outside(sealed);
    if (const auto* error = std::get_if<open_error>(&size)) return *error;
    std::string plaintext(std::get<std::size_t>(size), '\0');
    const std::span out(reinterpret_cast<std::uint8_t*>(plaintext.data()), plaintext.size());
    if (!aead_open(key, place_of(version_id), sealed, out)) return open_error::does_not_open;
    return plaintext;
}

}  // namespace callsign::seal
