#pragma once
// Applies operations one by one, as a client does: the reference for the server's own replay
// (domain/replay.hpp).

#include <callsign/domain/version.hpp>

namespace callsign {

// Returns false if the operation has no effect.
inline bool carry_out(task_map& tasks, const operation& o) {
    const auto found = tasks.find(o.uuid);
    if (!is_effective(o, found != tasks.end())) return false;
    if (o.kind == operation_kind::create) {
        tasks.emplace(o.uuid, attributes{});
    } else if (o.kind == operation_kind::remove) {
        tasks.erase(found);
    } else if (o.value) {
        found->second.insert_or_assign(o.property, *o.value);
    } else {
        found->second.erase(o.property);
    }
    return true;
}

}  // namespace callsign
