#pragma once
// One link of an account's chain. Every accepted change of a task, from any surface, is a version;
// version n has seq n, and its parent is version n-1 (the first one's parent is the nil UUID).

#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/task.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace callsign {

// A TaskChampion operation (docs/src/sync-model of that project): what replicas exchange. Its time
// decides which of two updates holds, on every replica alike, so it is kept to the nanosecond, as
// clients write it.
struct operation {
    enum class kind : std::uint8_t { create = 1, remove = 2, update = 3 };

    kind what = kind::create;
    callsign::uuid uuid{};
    std::string property;              // update only
    std::optional<std::string> value;  // update only; none: the property is removed
    precise_time at;                   // update only

    friend bool operator==(const operation&, const operation&) = default;
};

// Whether an operation does something where its task is there, or is not: a Create of a task that
// is, a Delete or Update of one that is not, are without effect. An Update that sets what is set
// already counts: its time is newer, and decides against others.
bool is_effective(const operation& o, bool task_is_there) noexcept;

// Carries it out. False: it is without effect, and nothing was changed.
bool carry_out(task_map& tasks, const operation& o);

struct version {
    std::int64_t seq = 0;
    callsign::uuid id{};
    callsign::uuid parent{};
    time_point created_at;
    std::vector<operation> operations;
};

// What a device has that sent a version late: the chain as it knew it, and its own operations. Not
// on the chain, but with an edge that leads back to it: the chain's version `seq` is its child, and
// to that device its operations are these.
struct side_version {
    callsign::uuid id{};
    callsign::uuid parent{};   // what the device had before: on the chain, or beside it too
    std::int64_t left_at = 0;  // where it was last on the chain itself
    std::int64_t seq = 0;
    time_point created_at;
    // None: what it lacked at `parent`, and the chain's versions from there to before `seq`, which
    // is so whenever nobody else has touched the tasks it is about.
    std::optional<std::vector<operation>> operations;
};

}  // namespace callsign
