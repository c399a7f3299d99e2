#include <callsign/base/assert.hpp>
#include <callsign/seal/webhook_signature.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <openssl/evp.h>
#include <openssl/params.h>

namespace callsign::seal {
namespace {

constexpr std::string_view secret_prefix = "whsec_";

std::string to_base64(std::span<const std::uint8_t> bytes) {
    // EVP_EncodeBlock appends a zero.
    std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
    const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(),
                                     static_cast<int>(bytes.size()));
    text.resize(static_cast<std::size_t>(size));
    return text;
}

}  // namespace

std::optional<secret_bytes> parse_webhook_secret(std::string_view text) {
    if (!text.starts_with(secret_prefix)) return std::nullopt;
    text.remove_prefix(secret_prefix.size());
    const std::size_t longest = (webhook_secret_bytes_max + 2) / 3 * 4;
    if (text.empty() || text.size() > longest || text.size() % 4 != 0) return std::nullopt;
    // EVP_DecodeBlock takes padding for zero bytes anywhere, and ignores white space at the ends.
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    const std::string_view digits = text.substr(0, text.size() - padding);
    if (digits.find_first_of(" \t\r\n\v\f-=") != text.npos) return std::nullopt;
    secret_bytes whole(text.size() / 4 * 3);
    const int size = EVP_DecodeBlock(whole.writable().data(),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
    if (size < 0) return std::nullopt;
    const std::size_t bytes = whole.size() - padding;
    if (bytes < webhook_secret_bytes_min || bytes > webhook_secret_bytes_max) return std::nullopt;
    whole.shrink(bytes);
    return whole;
}

std::string webhook_secret_text(std::span<const std::uint8_t> secret) {
    std::string encoded = to_base64(secret);
    const wiped afterwards(encoded);
    std::string text;
    text.reserve(secret_prefix.size() +
                 encoded.size());  // growing the string would leave a part behind
    text.append(secret_prefix).append(encoded);
    return text;
}

secret_bytes packed(const webhook_secrets& secrets) {
    const auto current = secrets.current.bytes();
    const std::size_t former = secrets.former ? secrets.former->size() : 0;
    secret_bytes all(1 + current.size() + former);
    const auto to = all.writable();
    to[0] = static_cast<std::uint8_t>(current.size());
    std::ranges::copy(current, to.begin() + 1);
    if (secrets.former) {
        std::ranges::copy(secrets.former->bytes(), to.subspan(1 + current.size()).begin());
    }
    return all;
}

std::optional<webhook_secrets> unpacked(const secret_bytes& stored) {
    const auto all = stored.bytes();
    if (all.empty() || all[0] < webhook_secret_bytes_min || all[0] > webhook_secret_bytes_max ||
        all.size() < std::size_t{1} + all[0]) {
        return std::nullopt;
    }
    webhook_secrets secrets{secret_bytes(all.subspan(1, all[0]))};
    const auto former = all.subspan(1 + all[0]);
    if (!former.empty()) secrets.former = secret_bytes(former);
    return secrets;
}

std::string webhook_signature(std::span<const std::uint8_t> secret, std::string_view id,
                              std::int64_t seconds, std::string_view body) {
    const std::unique_ptr<EVP_MAC, decltype(&EVP_MAC_free)> kind(
        EVP_MAC_fetch(nullptr, "HMAC", nullptr), EVP_MAC_free);
    const std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> mac(EVP_MAC_CTX_new(kind.get()),
                                                                        EVP_MAC_CTX_free);
    std::string sha256 = "SHA256";
    const std::array parameters{OSSL_PARAM_construct_utf8_string("digest", sha256.data(), 0),
                                OSSL_PARAM_construct_end()};
    const auto add = [&](std::string_view text) {
        const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
        CALLSIGN_ASSERT(EVP_MAC_update(mac.get(), bytes, text.size()) == 1);
    };
    CALLSIGN_ASSERT(EVP_MAC_init(mac.get(), secret.data(), secret.size(), parameters.data()) == 1);
    add(std::string(id) + "." + std::to_string(seconds) + ".");
    add(body);
    std::array<std::uint8_t, 32> tag{};
    std::size_t size = 0;
    CALLSIGN_ASSERT(EVP_MAC_final(mac.get(), tag.data(), &size, tag.size()) == 1);
    CALLSIGN_ASSERT(size == tag.size());
    return "v1," + to_base64(tag);
}

}  // namespace callsign::seal
