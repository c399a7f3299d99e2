#include <callsign/base/assert.hpp>
#include <callsign/domain/remote_chain.hpp>

namespace callsign {

std::string_view to_string(remote_halt why) noexcept {
    switch (why) {
    case remote_halt::none: return "";
    case remote_halt::history_lost: return "history-lost";
    case remote_halt::history_incomplete: return "history-incomplete";
    }
    CALLSIGN_ASSERT(!"a halt without a name");
}

}  // namespace callsign
