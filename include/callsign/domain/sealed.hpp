#pragma once
// An opaque account's data: a chain of versions that the server cannot read, and the newest
// snapshot of it. In TaskChampion's terms a segment is the encrypted operations of a version, and a
// client requests the child of the version it has.

#include <callsign/base/strong_id.hpp>
#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace callsign {

// The end of an account's chain. seq 0: the chain is empty, and `version` is nil.
struct chain_head {
    std::int64_t seq = 0;
    uuid version{};
    // Versions up to this one were encrypted before the account became managed. Tasks created and
    // deleted up to it have left operations only, and no rows.
    std::int64_t sealed_seq = 0;
};

// A sealed version without its segment.
struct sealed_link {
    using whole = struct sealed_version;

    std::int64_t place = 0;  // increases over all accounts
    account_id account;
    std::int64_t seq = 0;
    uuid id{};
    uuid parent{};  // of seq 1: as its client sent it
    time_point created_at{};
    std::size_t bytes = 0;
};

struct sealed_version : sealed_link {
    std::string segment{};
};

// The position of a snapshot on the chain.
struct snapshot_mark {
    uuid version{};
    std::int64_t seq = 0;        // of that version; 0: the parent of the first version
    std::int64_t taken_seq = 0;  // of the head at its arrival; counts the versions since
    time_point taken_at;
};
// The maximum of versions_since that an import may give.
inline constexpr std::int64_t versions_since_max = 999'999'999'999;

struct sealed_snapshot {
    snapshot_mark mark;
    std::string bytes;
};

// How far the snapshot is behind the chain.
struct snapshot_age {
    milliseconds age{0};
    std::int64_t versions = 0;
};

// How urgently the server requests a new snapshot.
enum class snapshot_urgency : std::uint8_t { none, low, high };

struct snapshot_policy {
    // A snapshot that is this old is requested with low urgency, and 1.5 times as old with high
    // urgency. In whole days of 24 hours.
    std::int64_t days = 14;
    // The same, by the number of versions added since.
    std::int64_t versions = 100;
};

snapshot_urgency urgency_for_days(const snapshot_policy& policy, std::int64_t days) noexcept;
snapshot_urgency urgency_for_versions(const snapshot_policy& policy,
                                      std::int64_t versions) noexcept;
// Returns the higher of both; high if there is no snapshot.
snapshot_urgency urgency_of(const snapshot_policy& policy,
                            const std::optional<snapshot_age>& snapshot) noexcept;

}  // namespace callsign
