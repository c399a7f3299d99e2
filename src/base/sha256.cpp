#include <callsign/base/assert.hpp>
#include <callsign/base/sha256.hpp>

#include <boost/algorithm/hex.hpp>
#include <iterator>
#include <memory>
#include <openssl/evp.h>
#include <vector>

namespace callsign {
namespace {

// The algorithm is fetched once and the context reused: 0.15 us for 100 bytes, where the one-shot
// SHA256() takes 0.35 us (OpenSSL 3.0 looks the algorithm up on each call).
struct hasher {
    EVP_MD* algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    EVP_MD_CTX* context = EVP_MD_CTX_new();

    hasher() = default;
    hasher(const hasher&) = delete;
    hasher& operator=(const hasher&) = delete;
    ~hasher() {
        EVP_MD_CTX_free(context);
        EVP_MD_free(algorithm);
    }
};

}  // namespace

digest sha256(std::istream& in) {
    constexpr std::size_t at_once = std::size_t{1} << 20;
    const hasher h;
    std::vector<char> some(at_once);
    digest out{};
    bool ok = EVP_DigestInit_ex2(h.context, h.algorithm, nullptr) == 1;
    while (in) {
        in.read(some.data(), static_cast<std::streamsize>(some.size()));
        ok = ok &&
             EVP_DigestUpdate(h.context, some.data(), static_cast<std::size_t>(in.gcount())) == 1;
    }
    ok = ok && EVP_DigestFinal_ex(h.context, out.data(), nullptr) == 1;
    CALLSIGN_ASSERT(ok);
    return out;
}

digest sha256(std::initializer_list<std::string_view> parts) {
    thread_local hasher h;
    digest out{};
    bool ok = EVP_DigestInit_ex2(h.context, h.algorithm, nullptr) == 1;
    for (std::string_view part : parts) {
        ok = ok && EVP_DigestUpdate(h.context, part.data(), part.size()) == 1;
    }
    ok = ok && EVP_DigestFinal_ex(h.context, out.data(), nullptr) == 1;
    CALLSIGN_ASSERT(ok);
    return out;
}

std::string to_hex(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size() * 2);
    boost::algorithm::hex_lower(bytes.begin(), bytes.end(), std::back_inserter(text));
    return text;
}

}  // namespace callsign
