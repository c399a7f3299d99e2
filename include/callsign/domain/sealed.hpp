#pragma once
// What the server holds of an opaque account: a chain of versions whose contents it cannot read,
// and the newest snapshot of them. TaskChampion's words are kept: a segment is a version's sealed
// operations, and a client asks for the child of the version it knows.

#include <callsign/base/strong_id.hpp>
#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace callsign {

// The end of an account's chain. seq 0: nothing is there yet, and `version` is nil.
struct chain_head {
    std::int64_t seq = 0;
    uuid version{};
    // Versions up to this one were sealed before the account became managed: tasks that came and
    // went before it have left nothing but operations.
    std::int64_t sealed_seq = 0;
};

// Where a sealed version stands, without what it seals.
struct sealed_link {
    using whole = struct sealed_version;

    std::int64_t place = 0;  // among all accounts' ones: it grows
    account_id account;
    std::int64_t seq = 0;
    uuid id{};
    uuid parent{};  // of seq 1: whatever its client said
    time_point created_at{};
    std::size_t bytes = 0;
};

struct sealed_version : sealed_link {
    std::string segment{};
};

// Where on the chain a snapshot stands.
struct snapshot_mark {
    uuid version{};
    std::int64_t seq = 0;        // of that version; 0: the parent of the first one
    std::int64_t taken_seq = 0;  // of the head when it came: versions since then are counted
    time_point taken_at;
};
// Of one that another server held, at most.
inline constexpr std::int64_t versions_since_max = 999'999'999'999;

struct sealed_snapshot {
    snapshot_mark mark;
    std::string bytes;
};

// How far behind the chain the snapshot is.
struct snapshot_age {
    milliseconds age{0};
    std::int64_t versions = 0;
};

// How much the server would like a new one.
enum class snapshot_urgency : std::uint8_t { none, low, high };

struct snapshot_policy {
    // A snapshot older than this is asked for with low urgency, and with high when it is half as
    // old again; whole days of 24 hours.
    std::int64_t days = 14;
    // The same, by versions added since.
    std::int64_t versions = 100;
};

snapshot_urgency urgency_for_days(const snapshot_policy& policy, std::int64_t days) noexcept;
snapshot_urgency urgency_for_versions(const snapshot_policy& policy,
                                      std::int64_t versions) noexcept;
// The larger of both; high when there is no snapshot at all.
snapshot_urgency urgency_of(const snapshot_policy& policy,
                            const std::optional<snapshot_age>& snapshot) noexcept;

}  // namespace callsign
