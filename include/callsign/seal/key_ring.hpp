#pragma once
// Keys of one purpose: the first one encrypts, each of them decrypts. Secrets encrypted with a
// former key can be read until all are re-encrypted with the first one (jobs/resealing.hpp).

#include <callsign/seal/at_rest.hpp>
#include <callsign/seal/secret.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace callsign::seal {

class key_ring {
  public:
    // Each key is tried on secrets that the keys before it cannot decrypt.
    static constexpr std::size_t former_max = 4;

    // Requires: at least one key, and at most former_max after it.
    explicit key_ring(std::vector<key> keys);
    explicit key_ring(key only);

    std::string seal(const belongs_to& owner, nonce_view nonce,
                     std::span<const std::uint8_t> secret) const;
    opened_secret open(const belongs_to& owner, std::string_view sealed) const;
    // Whether the secret is encrypted with the first key.
    bool is_current(const belongs_to& owner, std::string_view sealed) const;

    std::size_t former() const noexcept { return keys_.size() - 1; }
    // Identifies the first key and reveals nothing else of it: 16 hexadecimal digits of a hash.
    std::string fingerprint() const;

  private:
    std::vector<key> keys_;
};

}  // namespace callsign::seal
