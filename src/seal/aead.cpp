#include "aead.hpp"

#include <callsign/base/assert.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <openssl/crypto.h>
#include <openssl/evp.h>

namespace callsign::seal {
namespace {

constexpr char form = 0x01;

// Fetched once: otherwise OpenSSL 3.0 looks the algorithm up at each use.
const EVP_CIPHER* cipher() {
    static const EVP_CIPHER* const fetched =
        EVP_CIPHER_fetch(nullptr, "ChaCha20-Poly1305", nullptr);
    CALLSIGN_ASSERT(fetched != nullptr);
    return fetched;
}

struct free_context {
    // Also wipes the key schedule in the context.
    void operator()(EVP_CIPHER_CTX* context) const noexcept { EVP_CIPHER_CTX_free(context); }
};
using context = std::unique_ptr<EVP_CIPHER_CTX, free_context>;

// OpenSSL counts in int; limits of HTTP bodies keep all sizes far below.
int size_of(bytes_view bytes) {
    CALLSIGN_ASSERT(bytes.size() <= std::size_t{std::numeric_limits<int>::max()} - tag_bytes);
    return static_cast<int>(bytes.size());
}

}  // namespace

std::string aead_seal(const key& key, bytes_view additional, nonce_view nonce,
                      bytes_view plaintext) {
    const context c(EVP_CIPHER_CTX_new());
    std::string out(envelope_bytes + plaintext.size(), form);
    auto* const at = reinterpret_cast<std::uint8_t*>(out.data());
    std::copy(nonce.begin(), nonce.end(), at + 1);
    std::uint8_t* const body = at + 1 + nonce_bytes;
    int written = 0;
    const bool ok =
        c && EVP_EncryptInit_ex2(c.get(), cipher(), key.bytes().data(), nonce.data(), nullptr) &&
        EVP_EncryptUpdate(c.get(), nullptr, &written, additional.data(), size_of(additional)) &&
        (plaintext.empty() ||
         EVP_EncryptUpdate(c.get(), body, &written, plaintext.data(), size_of(plaintext))) &&
        EVP_EncryptFinal_ex(c.get(), body + plaintext.size(), &written) &&
        EVP_CIPHER_CTX_ctrl(c.get(), EVP_CTRL_AEAD_GET_TAG, static_cast<int>(tag_bytes),
                            body + plaintext.size());
    CALLSIGN_ASSERT(ok);
    return out;
}

// In the order of TaskChampion's client, so that both give the same reason.
std::variant<std::size_t, open_error> check_outside(std::string_view sealed) noexcept {
    if (sealed.size() <= 1 + nonce_bytes) return open_error::too_small;
    if (sealed[0] != form) return open_error::wrong_version;
    if (sealed.size() < envelope_bytes) return open_error::does_not_open;
    return sealed.size() - envelope_bytes;
}

bool aead_open(const key& key, bytes_view additional, std::string_view sealed,
               std::span<std::uint8_t> out) {
    CALLSIGN_ASSERT(sealed.size() == envelope_bytes + out.size());
    const context c(EVP_CIPHER_CTX_new());
    const bytes_view all = bytes_of(sealed);
    const bytes_view nonce = all.subspan(1, nonce_bytes);
    const bytes_view body = all.subspan(1 + nonce_bytes, out.size());
    // Not written, but OpenSSL's parameter is not const.
    auto* const tag = const_cast<std::uint8_t*>(all.last(tag_bytes).data());
    int written = 0;
    bool ok =
        c && EVP_DecryptInit_ex2(c.get(), cipher(), key.bytes().data(), nonce.data(), nullptr) &&
        EVP_CIPHER_CTX_ctrl(c.get(), EVP_CTRL_AEAD_SET_TAG, static_cast<int>(tag_bytes), tag) &&
        EVP_DecryptUpdate(c.get(), nullptr, &written, additional.data(), size_of(additional));
    CALLSIGN_ASSERT(ok);
    std::uint8_t rest[1];
    ok = (out.empty() ||
          EVP_DecryptUpdate(c.get(), out.data(), &written, body.data(), size_of(body))) &&
         EVP_DecryptFinal_ex(c.get(), rest, &written) == 1;
    // Plaintext that was decrypted before the tag was checked must not be used.
    if (!ok && !out.empty()) OPENSSL_cleanse(out.data(), out.size());
    return ok;
}

}  // namespace callsign::seal
