#pragma once
// What is kept sealed under the master key (seal/at_rest.hpp), to be sealed again under another.

#include <callsign/base/strong_id.hpp>
#include <callsign/base/uuid.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace callsign {

enum class secret_kind : std::uint8_t {
    device_key = 1,  // a device's, of its client id
    webhook_secret,  // a webhook's, of its uuid
    remote_key,      // of a client id on another server
};
inline constexpr std::array secret_kinds{secret_kind::device_key, secret_kind::webhook_secret,
                                         secret_kind::remote_key};

struct sealed_secret {
    secret_kind kind = secret_kind::device_key;
    std::int64_t row = 0;  // ids of one kind grow
    account_id account;
    uuid of{};
    std::string sealed;
};

}  // namespace callsign
