#include <callsign/base/assert.hpp>
#include <callsign/domain/slot.hpp>

#include <algorithm>

namespace callsign {
namespace {

constexpr std::size_t idempotency_key_bytes_max = 255;

}  // namespace

std::string_view to_string(slot_state state) noexcept {
    switch (state) {
    case slot_state::pending: return "pending";
    case slot_state::committed: return "committed";
    case slot_state::failed: return "failed";
    case slot_state::in_flight: return "in_flight";
    }
    CALLSIGN_ASSERT(!"a slot state without a name");
}

std::optional<slot_state> parse_slot_state(std::string_view text) noexcept {
    for (const slot_state state :
         {slot_state::pending, slot_state::in_flight, slot_state::committed, slot_state::failed}) {
        if (text == to_string(state)) return state;
    }
    return std::nullopt;
}

std::string_view to_string(failure_reason reason) noexcept {
    switch (reason) {
    case failure_reason::none: return "";
    case failure_reason::window_passed: return "window-passed";
    case failure_reason::not_delivered: return "not-delivered";
    }
    CALLSIGN_ASSERT(!"a failure reason without a name");
}

bool is_valid_idempotency_key(std::string_view text) noexcept {
    return !text.empty() && text.size() <= idempotency_key_bytes_max &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x21 && c <= 0x7E; });
}

}  // namespace callsign
