#include <callsign/domain/webhook.hpp>

namespace callsign {

std::string_view to_string(webhook_end why) noexcept {
    switch (why) {
    case webhook_end::by_request: return "by-request";
    case webhook_end::failures: return "failures";
    case webhook_end::gone: return "gone";
    case webhook_end::cursor_expired: return "cursor-expired";
    case webhook_end::cursor_unknown: return "cursor-unknown";
    case webhook_end::unreadable: return "unreadable";
    }
    return {};
}

}  // namespace callsign
