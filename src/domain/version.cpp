#include <callsign/domain/version.hpp>

namespace callsign {

std::string mark_of_version(const uuid& id) {
    return to_string(id).substr(24);
}

bool is_effective(const operation& o, bool task_is_there) noexcept {
    return (o.kind == operation_kind::create) != task_is_there;
}

bool carry_out(task_map& tasks, const operation& o) {
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
