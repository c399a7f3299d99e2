#pragma once
// Keys of one purpose: the first seals, any of them opens. So what was sealed under a former key
// can be read until all of it is sealed under the first (jobs/resealing.hpp).

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
    // Each key is tried on what the ones before do not open.
    static constexpr std::size_t former_max = 4;

    // Requires: one key at least, and no more than former_max after it.
    explicit key_ring(std::vector<key> keys);
    explicit key_ring(key only);

    std::string seal(const belongs_to& owner, nonce_view nonce,
                     std::span<const std::uint8_t> secret) const;
    opened_secret open(const belongs_to& owner, std::string_view sealed) const;
    // Under the first.
    bool is_current(const belongs_to& owner, std::string_view sealed) const;

    std::size_t former() const noexcept { return keys_.size() - 1; }
    // Tells the first from others, and nothing else about it: 16 hexadecimal digits of a hash.
    std::string fingerprint() const;

  private:
    std::vector<key> keys_;
};

}  // namespace callsign::seal
