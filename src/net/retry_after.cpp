#include <callsign/base/text.hpp>
#include <callsign/net/retry_after.hpp>

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>
#include <string>

namespace callsign::net {
namespace {

// HTTP-date, the obsolete forms too (RFC 9110 section 5.6.7).
std::optional<std::chrono::sys_seconds> read_date(const std::string& text) {
    constexpr std::array forms{"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT",
                               "%a %b %e %H:%M:%S %Y"};
    for (const char* form : forms) {
        std::tm parts{};
        const char* end = ::strptime(text.c_str(), form, &parts);
        if (end && *end == '\0') {
            return std::chrono::sys_seconds{std::chrono::seconds{::timegm(&parts)}};
        }
    }
    return std::nullopt;
}

}  // namespace

milliseconds retry_after(const http_answer& answer) {
    const std::string field = answer.header("Retry-After");
    std::chrono::seconds pause{0};
    if (const auto seconds = parse_integer(field)) {
        pause = std::chrono::seconds{*seconds};
    } else if (const auto until = read_date(field)) {
        const auto sent = read_date(answer.header("Date"));
        if (sent) pause = *until - *sent;
    }
    return std::clamp(pause, std::chrono::seconds{0}, retry_after_max);
}

}  // namespace callsign::net
