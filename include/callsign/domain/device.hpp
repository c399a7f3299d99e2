#pragma once
// One syncing client of an account.

#include <callsign/base/strong_id.hpp>
#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/account.hpp>

#include <optional>
#include <string>

namespace callsign {

// The client id of an opaque account is its credential: TaskChampion has no other, so it is kept
// out of logs. The devices of one opaque account share one id, because their key is
// derived from it. A managed account's device has an id and a key of its own, and proves itself by
// what it seals.
struct device {
    device_id id{};
    uuid client_id{};
    account_id account{};
    account_mode mode = account_mode::managed;  // of the account
    std::string account_name{};                 // as found
    std::string name{};                         // empty: the client of an opaque account
    // The key of its bodies, sealed under the master key (seal/at_rest.hpp). Empty: the account is
    // opaque.
    std::string sealed_key{};
    time_point created_at{};
    std::optional<time_point> revoked_at{};
};

}  // namespace callsign
