#pragma once
// One syncing client of an account.

#include <callsign/base/strong_id.hpp>
#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/account.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace callsign {

// The client id of an opaque account is its credential: TaskChampion has no other, so it is kept
// out of logs. The devices of one opaque account share one id, because their key is
// derived from it. A managed account's device has an id and a key of its own, and proves itself by
// what it seals.
// Of a device that was there when the store was put back from a backup: it may have been further.
struct resync {
    enum class state : std::uint8_t {
        expected = 1,  // nothing was heard of it yet
        seen,          // it was not further than the backup
        returned,      // it was, and what it alone had is here
    };

    // The seq of the account's head then: what the device has of before that, the store has too.
    std::int64_t from = 0;
    resync::state now = state::expected;

    friend bool operator==(const resync&, const resync&) = default;
};

std::string_view to_string(resync::state state) noexcept;

struct device {
    device_id id{};
    uuid client_id{};
    account_id account{};
    account_mode mode = account_mode::managed;    // of the account
    account_state state = account_state::active;  // of the account
    std::string account_name{};                   // as found
    std::string name{};                           // empty: the client of an opaque account
    // The key of its bodies, sealed under the master key (seal/at_rest.hpp). Empty: the account is
    // opaque.
    std::string sealed_key{};
    time_point created_at{};
    std::optional<time_point> revoked_at{};
    std::optional<callsign::resync> resync{};
};

}  // namespace callsign
