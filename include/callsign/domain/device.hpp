#pragma once
// Devices: the syncing clients of an account.

#include <callsign/base/strong_id.hpp>
#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/account.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace callsign {

// State of a device that existed in the backup when the store was restored from it. The device may
// have versions that the backup lacks.
struct resync {
    enum class state : std::uint8_t {
        expected = 1,  // has not synced since the restore
        seen,          // has synced, and had nothing that the backup lacks
        returned,      // had more than the backup; the store has it again
    };

    // Seq of the account's head at the restore. The store has all that the device has up to it.
    std::int64_t from = 0;
    resync::state now = state::expected;

    friend bool operator==(const resync&, const resync&) = default;
};

std::string_view to_string(resync::state state) noexcept;

// The devices of an opaque account share one client ID, because their key is derived from it. The
// ID is the account's only credential, as TaskChampion has no other, and is kept out of logs. A
// device of a managed account has its own client ID and key, and authenticates by encrypting with
// the key.
struct device {
    device_id id{};
    uuid client_id{};
    account_id account{};
    account_mode mode = account_mode::managed;    // of the account
    account_state state = account_state::active;  // of the account
    std::string account_name{};                   // set when read
    std::string name{};                           // empty: the client of an opaque account
    // Key of its bodies, encrypted with the master key (seal/at_rest.hpp); empty: opaque account.
    std::string sealed_key{};
    time_point created_at{};
    std::optional<time_point> revoked_at{};
    std::optional<callsign::resync> resync{};
};

}  // namespace callsign
