#include <callsign/base/assert.hpp>
#include <callsign/base/hex.hpp>
#include <callsign/base/sha256.hpp>
#include <callsign/seal/key_ring.hpp>

#include <algorithm>
#include <utility>

namespace callsign::seal {

key_ring::key_ring(std::vector<key> keys) : keys_(std::move(keys)) {
    CALLSIGN_ASSERT(!keys_.empty() && former() <= former_max);
}

key_ring::key_ring(key only) {
    keys_.push_back(std::move(only));
}

std::string key_ring::fingerprint() const {
    constexpr std::string_view purpose = "callsign master key";
    secret_bytes text(purpose.size() + key_bytes);
    std::ranges::copy(purpose, text.writable().begin());
    std::ranges::copy(keys_.front().bytes(), text.writable().begin() + purpose.size());
    const auto* const bytes = reinterpret_cast<const char*>(text.bytes().data());
    const digest hash = sha256({bytes, text.size()});
    return to_hex(callsign::bytes_of(hash)).substr(0, 16);
}

std::string key_ring::seal(const belongs_to& owner, nonce_view nonce,
                           std::span<const std::uint8_t> secret) const {
    return seal_at_rest(keys_.front(), owner, nonce, secret);
}

opened_secret key_ring::open(const belongs_to& owner, std::string_view sealed) const {
    opened_secret opened = open_at_rest(keys_.front(), owner, sealed);
    for (std::size_t i = 1; i < keys_.size(); ++i) {
        if (std::holds_alternative<secret_bytes>(opened)) break;
        opened = open_at_rest(keys_[i], owner, sealed);
    }
    return opened;
}

bool key_ring::is_current(const belongs_to& owner, std::string_view sealed) const {
    const auto opened = open_at_rest(keys_.front(), owner, sealed);
    return std::holds_alternative<secret_bytes>(opened);
}

}  // namespace callsign::seal
