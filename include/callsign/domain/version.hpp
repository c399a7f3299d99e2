#pragma once
// A version: one link of an account's chain. Every accepted change of a task, from any interface,
// is in one; version n has seq n, and version n-1 as its parent (the first one the nil UUID).

#include <callsign/base/strong_id.hpp>
#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/task.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace callsign {

enum class operation_kind : std::uint8_t { create = 1, remove = 2, update = 3 };

// A TaskChampion operation (docs/src/sync-model of that project). Its time decides on every replica
// which of two updates wins, so it is kept to the nanosecond, as clients send it.
struct operation {
    operation_kind kind = operation_kind::create;
    callsign::uuid uuid{};
    std::string property;              // update only
    std::optional<std::string> value;  // update only; none: the property is removed
    precise_time at;                   // update only

    friend bool operator==(const operation&, const operation&) = default;
};

// A scrubbed operation: an update of a purged task that has kept its place, but neither property,
// value nor time. A Delete of the task follows, so replaying the chain or rebasing onto it gives
// the same result. The time marks it: parse_precise_rfc3339 rejects years before 1678, so no client
// can send it.
inline constexpr precise_time scrubbed_at =
    std::chrono::sys_days(std::chrono::year{1677} / 12 / 31);
inline bool is_scrubbed(const operation& o) noexcept {
    return o.kind == operation_kind::update && o.at == scrubbed_at;
}
// Requires: an update.
inline void scrub(operation& o) noexcept {
    o.property.clear();
    o.value.reset();
    o.at = scrubbed_at;
}

// A task was purged by version `through`; versions up to it still have its text.
struct purge {
    account_id account;
    callsign::uuid task{};
    std::int64_t through = 0;
};

// Whether an operation has an effect: a Create where the task does not exist, a Delete or an Update
// where it does. Even an Update to the present value has one: its time decides against others.
bool is_effective(const operation& o, bool task_is_there) noexcept;

struct version {
    std::int64_t seq = 0;
    callsign::uuid id{};
    callsign::uuid parent{};
    time_point created_at;
    std::vector<operation> operations;
    callsign::author author{};
};

// Returns the last 12 digits of a version's ID, which are random. They distinguish the version from
// any other of its seq, in any copy of the store whose chain has diverged. seq 0 has no version:
// the nil UUID.
std::string mark_of_version(const uuid& id);

// The position of an operation on the chain: its version and its index there.
struct chain_position {
    std::int64_t seq = 0;
    std::size_t index = 0;

    friend auto operator<=>(const chain_position&, const chain_position&) = default;
};

// The state of a device that sent a stale version: the chain up to `left_at`, and after it the
// device's own versions. It is not on the chain; the others' versions that the device lacks rebase
// it onto the chain (rules/chain_place.hpp). It copies no operations of the chain, since they keep
// their positions.
struct fork_mark {
    callsign::uuid id{};
    std::int64_t left_at = 0;
    time_point created_at;
};
struct fork_way {
    // The device's own versions after `left_at`, in order; at least one. After the last one the
    // device is on the chain again.
    std::vector<std::int64_t> own{};
    // Others' operations after `left_at` that lost against its own: need not be applied. In order.
    std::vector<chain_position> dropped{};
};
struct fork_version : fork_mark, fork_way {
    // ID of the last of `own` on the chain; set when read.
    callsign::uuid back{};
};

// The version at which a fork version rejoins the chain: the last of `own`.
struct fork_return {
    callsign::uuid id{};
    account_id account;
    std::int64_t seq = 0;
};

// Returns the approximate stored size in bytes.
inline std::size_t size_of(std::span<const operation> all) noexcept {
    std::size_t bytes = 0;
    for (const operation& o : all) {
        bytes += sizeof(uuid) + o.property.size() + (o.value ? o.value->size() : 0);
    }
    return bytes;
}

// Returns the bytes that count against the account's limit of fork versions.
inline std::size_t size_of(const fork_way& way) noexcept {
    return 64 + 4 * (way.own.size() + way.dropped.size());
}

}  // namespace callsign
