#pragma once
// One link of an account's chain. Every accepted change of a task, from any surface, is a version;
// version n has seq n, and its parent is version n-1 (the first one's parent is the nil UUID).

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

// A TaskChampion operation (docs/src/sync-model of that project): what replicas exchange. Its time
// decides which of two updates holds, on every replica alike, so it is kept to the nanosecond, as
// clients write it.
struct operation {
    operation_kind kind = operation_kind::create;
    callsign::uuid uuid{};
    std::string property;              // update only
    std::optional<std::string> value;  // update only; none: the property is removed
    precise_time at;                   // update only

    friend bool operator==(const operation&, const operation&) = default;
};

// A purged task's update: its place stays, and which property it set to what, and when, does not. A
// Delete of the task follows, so whoever replays the chain, or rebases onto it, comes to the same
// end. The mark is its time: whatever else one says, no client can send one of a year before 1678
// (parse_precise_rfc3339).
inline constexpr precise_time scrubbed_at =
    std::chrono::sys_days(std::chrono::year{1677} / 12 / 31);
inline bool is_scrubbed(const operation& o) noexcept {
    return o.kind == operation_kind::update && o.at == scrubbed_at;
}
// Requires: it is an update.
inline void scrub(operation& o) noexcept {
    o.property.clear();
    o.value.reset();
    o.at = scrubbed_at;
}

// A task was purged by version `through`, and versions up to there still say what it was.
struct purge {
    account_id account;
    callsign::uuid task{};
    std::int64_t through = 0;
};

// Whether an operation does something where its task is there, or is not: a Create of a task that
// is, a Delete or Update of one that is not, are without effect. An Update that sets what is set
// already counts: its time is newer, and decides against others.
bool is_effective(const operation& o, bool task_is_there) noexcept;

struct version {
    std::int64_t seq = 0;
    callsign::uuid id{};
    callsign::uuid parent{};
    time_point created_at;
    std::vector<operation> operations;
    callsign::author author{};
};

// Tells a version from all others of its seq, in any copy of the store that went another way: the
// part of its id that is drawn, as 12 digits. Of seq 0, where no version is, of nil.
std::string mark_of_version(const uuid& id);

// An operation of the chain: the version it stands in, and which of that version's it is.
struct chain_position {
    std::int64_t seq = 0;
    std::size_t index = 0;

    friend auto operator<=>(const chain_position&, const chain_position&) = default;
};

// The state of a device that sent a stale version: the chain up to `left_at`, and its own versions
// after that. It is not on the chain; the device is rebased onto it by the others' versions that it
// lacks (rules/chain_place.hpp). Nothing of the chain is copied, since its operations keep their
// places.
struct fork_version {
    callsign::uuid id{};
    std::int64_t left_at = 0;
    time_point created_at;
    // Its own versions after `left_at`, in order; one at least. Past the last one it is on the
    // chain again.
    std::vector<std::int64_t> own{};
    // Others' operations after `left_at` that lost against its own: it need not apply them. In
    // order.
    std::vector<chain_position> dropped{};
    // What the chain calls the last of `own`; as found.
    callsign::uuid back{};
};

// Where a fork version leads back to the chain: the last of `own`.
struct fork_return {
    callsign::uuid id{};
    account_id account;
    std::int64_t seq = 0;
};

// About what they take where they are kept.
inline std::size_t size_of(std::span<const operation> all) noexcept {
    std::size_t bytes = 0;
    for (const operation& o : all) {
        bytes += sizeof(uuid) + o.property.size() + (o.value ? o.value->size() : 0);
    }
    return bytes;
}

// What it counts against an account's bound.
inline std::size_t size_of(const fork_version& side) noexcept {
    return 64 + 4 * (side.own.size() + side.dropped.size());
}

}  // namespace callsign
