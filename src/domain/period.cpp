#include <callsign/domain/period.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <date/tz.h>
#include <stdexcept>
#include <utility>

namespace callsign {
namespace {

constexpr std::pair<std::string_view, reset_policy> policies[] = {
    {"never", reset_policy::never},
    {"daily", reset_policy::daily},
    {"monthly", reset_policy::monthly},
    {"yearly", reset_policy::yearly},
};

// Returns nullptr if there is no zone of that name.
const date::time_zone* find_zone(std::string_view name) {
    try {
        return date::locate_zone(name);
    } catch (const std::runtime_error&) {
        return nullptr;
    }
}

date::year_month_day day_of(time_point at, std::string_view zone) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(at);
    const date::time_zone* const found = find_zone(zone);
    const auto offset = found ? found->get_info(seconds).offset : std::chrono::seconds{0};
    return date::year_month_day{
        date::sys_days{std::chrono::floor<std::chrono::days>(seconds + offset)}};
}

}  // namespace

std::string_view to_string(reset_policy reset) noexcept {
    for (const auto& [name, policy] : policies) {
        if (policy == reset) return name;
    }
    return {};
}

std::optional<reset_policy> parse_reset_policy(std::string_view text) noexcept {
    for (const auto& [name, policy] : policies) {
        if (name == text) return policy;
    }
    return std::nullopt;
}

bool is_time_zone(std::string_view name) {
    // "localtime" is a different zone on each machine.
    return name != "localtime" && find_zone(name) != nullptr;
}

std::string period_of(time_point at, reset_policy reset, std::string_view time_zone) {
    if (reset == reset_policy::never) return {};
    const date::year_month_day day = day_of(at, time_zone);
    std::array<char, 16> text;
    const int length =
        std::snprintf(text.data(), text.size(), "%04d%02u%02u", static_cast<int>(day.year()),
                      static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
    std::string period(text.data(), static_cast<std::size_t>(std::min(length, 8)));
    if (reset == reset_policy::monthly) period.resize(6);
    if (reset == reset_policy::yearly) period.resize(4);
    return period;
}

}  // namespace callsign
