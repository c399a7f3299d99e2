#include <callsign/domain/version.hpp>

namespace callsign {

std::string mark_of_version(const uuid& id) {
    return to_string(id).substr(24);
}

bool is_effective(const operation& o, bool task_is_there) noexcept {
    return (o.kind == operation_kind::create) != task_is_there;
}

}  // namespace callsign
