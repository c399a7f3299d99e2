#pragma once
// A secret encrypted with the master key (seal/at_rest.hpp), to be re-encrypted with another one.

#include <callsign/base/strong_id.hpp>
#include <callsign/base/uuid.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace callsign {

enum class secret_kind : std::uint8_t {
    device_key = 1,  // bound to the device's client ID
    webhook_secret,  // bound to the webhook's UUID
    remote_key,      // bound to a client ID on a remote server
};
inline constexpr std::array secret_kinds{secret_kind::device_key, secret_kind::webhook_secret,
                                         secret_kind::remote_key};

struct sealed_secret {
    secret_kind kind = secret_kind::device_key;
    std::int64_t row = 0;  // ID of the row; increases within a kind
    account_id account;
    uuid of{};
    std::string sealed;
};

}  // namespace callsign
