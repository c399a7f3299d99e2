#pragma once
// The master keys: the current key, which encrypts, and former keys, which only decrypt. Secrets
// encrypted with a former key can be read until all are re-encrypted with the current one
// (jobs/resealing.hpp). Immutable: any thread.

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
    // Maximum number of former keys. Keys are tried in order, so each one costs an attempt.
    static constexpr std::size_t former_max = 4;

    // Requires: at least one key, the current one, and at most former_max after it.
    explicit key_ring(std::vector<key> keys);
    explicit key_ring(key only);

    // Encrypts with the current key, bound to `owner`. Requires: `nonce` is newly generated.
    std::string seal(const belongs_to& owner, nonce_view nonce,
                     std::span<const std::uint8_t> secret) const;
    // Decrypts with whichever key fits; otherwise returns the last key's error.
    opened_secret open(const belongs_to& owner, std::string_view sealed) const;
    // Returns whether the secret is encrypted with the current key.
    bool is_current(const belongs_to& owner, std::string_view sealed) const;

    std::size_t former() const noexcept { return keys_.size() - 1; }
    // Identifies the current key and reveals nothing else of it: 16 hexadecimal digits of a hash.
    std::string fingerprint() const;

  private:
    std::vector<key> keys_;
};

}  // namespace callsign::seal
