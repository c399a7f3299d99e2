#include <callsign/domain/backup.hpp>

#include <algorithm>

namespace callsign {
namespace {

constexpr std::string_view before = "callsign-";
constexpr std::size_t hour_ends_at = 13, minute_ends_at = 16;  // in an instant's text

}  // namespace

std::string backup_name(time_point at) {
    std::string name = to_rfc3339(at);
    std::ranges::replace(name, ':', '-');
    return std::string(before) + name;
}

std::optional<time_point> time_of_backup(std::string_view name) {
    if (!name.starts_with(before)) return std::nullopt;
    std::string text(name.substr(before.size()));
    if (text.size() <= minute_ends_at) return std::nullopt;
    text[hour_ends_at] = text[minute_ends_at] = ':';
    const auto at = parse_rfc3339(text);
    if (!at || backup_name(*at) != name) return std::nullopt;
    return at;
}

}  // namespace callsign
