#pragma once
// One link of an account's chain. Every accepted change of a task, from any surface, is a version;
// version n has seq n, and its parent is version n-1 (the first one's parent is the nil UUID).

#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>

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

struct version {
    std::int64_t seq = 0;
    callsign::uuid id{};
    callsign::uuid parent{};
    time_point created_at;
    std::vector<operation> operations;
};

}  // namespace callsign
