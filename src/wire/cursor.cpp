#include <callsign/base/text.hpp>
#include <callsign/wire/cursor.hpp>

#include <algorithm>

namespace callsign::wire {
namespace {

constexpr std::size_t mark_digits = 12;

bool is_mark(std::string_view text) noexcept {
    return text.size() == mark_digits && std::all_of(text.begin(), text.end(), [](char c) {
               return is_digit(c) || (c >= 'a' && c <= 'f');
           });
}

// Accepts only what cursor_text() writes.
std::optional<std::int64_t> parse_count(std::string_view text) noexcept {
    const auto count = parse_integer(text);
    return count && *count > 0 && text.front() != '0' ? count : std::nullopt;
}

}  // namespace

std::optional<cursor> parse_cursor(std::string_view text) {
    if (text == "0") return cursor{};
    if (text == "now") return cursor{.is_now = true};
    const auto take = [&] {
        const auto dot = std::min(text.find('.'), text.size());
        const std::string_view part = text.substr(0, dot);
        text.remove_prefix(std::min(dot + 1, text.size()));
        return part;
    };
    const bool is_whole = !text.empty() && text.back() != '.';
    const std::string_view mark = take();
    const auto seq = parse_count(take());
    if (!is_whole || !is_mark(mark) || !seq) return std::nullopt;
    cursor at{{*seq}, std::string(mark)};
    if (text.empty()) return at;
    const auto tasks = parse_count(text);
    if (!tasks) return std::nullopt;
    at.place.tasks = static_cast<std::size_t>(*tasks);
    return at;
}

std::string cursor_text(const feed_place& place, std::string_view mark) {
    if (place == feed_place{}) return "0";
    std::string text = std::string(mark) + "." + std::to_string(place.seq);
    if (place.tasks > 0) text += "." + std::to_string(place.tasks);
    return text;
}

}  // namespace callsign::wire
