#include "aead.hpp"

#include <callsign/seal/at_rest.hpp>

namespace callsign::seal {
namespace {

// Every part but the first has a fixed size: different owners have different bytes, which also
// differ from those of a body's place.
std::string binding_of(const belongs_to& owner) {
    std::string bytes("callsign at rest 1\0", 19);
    bytes.push_back(static_cast<char>(owner.purpose));
    const auto account = static_cast<std::uint64_t>(owner.account.value);
    for (int shift = 56; shift >= 0; shift -= 8) {
        bytes.push_back(static_cast<char>((account >> shift) & 0xFF));
    }
    bytes.append(owner.client_id.begin(), owner.client_id.end());
    return bytes;
}

}  // namespace

std::string seal_at_rest(const key& master, const belongs_to& owner, nonce_view nonce,
                         std::span<const std::uint8_t> secret) {
    return aead_seal(master, bytes_of(binding_of(owner)), nonce, secret);
}

opened_secret open_at_rest(const key& master, const belongs_to& owner, std::string_view sealed) {
    const auto size = check_outside(sealed);
    if (const auto* error = std::get_if<open_error>(&size)) return *error;
    secret_bytes secret(std::get<std::size_t>(size));
    const std::string binding = binding_of(owner);
    if (!aead_open(master, bytes_of(binding), sealed, secret.writable())) {
        return open_error::does_not_open;
    }
    return secret;
}

}  // namespace callsign::seal
