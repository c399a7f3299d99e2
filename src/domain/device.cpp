#include <callsign/domain/device.hpp>

namespace callsign {

std::string_view to_string(resync::state state) noexcept {
    switch (state) {
    case resync::state::expected: return "expected";
    case resync::state::seen: return "seen";
    case resync::state::returned: return "returned";
    }
    return "";
}

}  // namespace callsign
