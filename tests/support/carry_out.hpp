#pragma once
// Operations carried out one by one, as a client does it: what the server's own replay is held
// against (domain/replay.hpp).

#include <callsign/domain/version.hpp>

namespace callsign {

// False: it is without effect, and nothing was changed.
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
