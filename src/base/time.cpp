#include <callsign/base/instant_bounds.hpp>
#include <callsign/base/time.hpp>

#include <array>
#include <charconv>
#include <cstdint>

namespace callsign {
namespace {

namespace chrono = std::chrono;

constexpr int day_ms = 24 * 60 * 60 * 1000;

void put_digits(char* out, unsigned value, int digits) noexcept {
    for (int i = digits - 1; i >= 0; --i, value /= 10) out[i] = static_cast<char>('0' + value % 10);
}

// Reads exactly `digits` decimal digits at the front of `text` and removes them.
bool take_digits(std::string_view& text, int digits, int& value) noexcept {
    if (text.size() < static_cast<std::size_t>(digits)) return false;
    value = 0;
    for (int i = 0; i < digits; ++i) {
        if (text[i] < '0' || text[i] > '9') return false;
        value = value * 10 + (text[i] - '0');
    }
    text.remove_prefix(digits);
    return true;
}

bool take(std::string_view& text, char expected, char other) noexcept {
    if (text.empty() || (text.front() != expected && text.front() != other)) return false;
    text.remove_prefix(1);
    return true;
}

// Returns "2026-11-20T12:48:00", the first `digits` digits of the nanoseconds, and "Z".
std::string to_text(chrono::sys_seconds at, std::int64_t nanoseconds, int digits) {
    const auto day = chrono::floor<chrono::days>(at);
    const chrono::year_month_day date{day};
    const chrono::hh_mm_ss time{at - day};
    std::string text = "0000-00-00T00:00:00";
    put_digits(&text[0], static_cast<unsigned>(static_cast<int>(date.year())), 4);
    put_digits(&text[5], static_cast<unsigned>(date.month()), 2);
    put_digits(&text[8], static_cast<unsigned>(date.day()), 2);
    put_digits(&text[11], static_cast<unsigned>(time.hours().count()), 2);
    put_digits(&text[14], static_cast<unsigned>(time.minutes().count()), 2);
    put_digits(&text[17], static_cast<unsigned>(time.seconds().count()), 2);
    if (digits > 0) {
        std::array<char, 9> fraction{};
        put_digits(fraction.data(), static_cast<unsigned>(nanoseconds), 9);
        text.append(".").append(fraction.data(), static_cast<std::size_t>(digits));
    }
    return text.append("Z");
}

struct instant {
    chrono::sys_seconds seconds;
    std::int64_t nanoseconds = 0;
};

std::optional<instant> parse_instant(std::string_view text) noexcept {
    int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, nanoseconds = 0;
    if (!take_digits(text, 4, year) || !take(text, '-', '-') || !take_digits(text, 2, month) ||
        !take(text, '-', '-') || !take_digits(text, 2, day) || !take(text, 'T', 't') ||
        !take_digits(text, 2, hour) || !take(text, ':', ':') || !take_digits(text, 2, minute) ||
        !take(text, ':', ':') || !take_digits(text, 2, second)) {
        return std::nullopt;
    }
    if (take(text, '.', '.')) {
        int digits = 0;
        for (int digit = 0; take_digits(text, 1, digit); ++digits) {
            if (digits < 9) nanoseconds = nanoseconds * 10 + digit;
        }
        if (digits == 0) return std::nullopt;
        for (; digits < 9; ++digits) nanoseconds *= 10;
    }
    int offset_minutes = 0;
    if (!take(text, 'Z', 'z')) {
        const bool west = !text.empty() && text.front() == '-';
        int hours = 0, minutes = 0;
        if (!take(text, '+', '-') || !take_digits(text, 2, hours) || !take(text, ':', ':') ||
            !take_digits(text, 2, minutes) || hours > 23 || minutes > 59) {
            return std::nullopt;
        }
        offset_minutes = (hours * 60 + minutes) * (west ? -1 : 1);
    }
    const chrono::year_month_day date{chrono::year{year}, chrono::month(month), chrono::day(day)};
    if (!text.empty() || !date.ok() || hour > 23 || minute > 59 || second > 60) return std::nullopt;
    const chrono::sys_seconds at = chrono::sys_days{date} + chrono::hours{hour} +
                                   chrono::minutes{minute - offset_minutes} +
                                   chrono::seconds{second};
    if (!is_instant(at)) return std::nullopt;
    return instant{at, nanoseconds};
}

struct unit {
    std::string_view name;
    std::int64_t ms;
};

constexpr std::array<unit, 5> units{
    {{"d", day_ms}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};

}  // namespace

std::string to_rfc3339(time_point at) {
    const auto seconds = chrono::floor<chrono::seconds>(at);
    return to_text(seconds, chrono::nanoseconds{at - seconds}.count(), 3);
}

std::optional<time_point> parse_rfc3339(std::string_view text) noexcept {
    const std::optional<instant> found = parse_instant(text);
    if (!found) return std::nullopt;
    return found->seconds + milliseconds{found->nanoseconds / 1'000'000};
}

std::string to_precise_rfc3339(precise_time at) {
    const auto seconds = chrono::floor<chrono::seconds>(at);
    const std::int64_t rest = (at - seconds).count();
    const int digits = rest == 0 ? 0 : rest % 1'000'000 == 0 ? 3 : rest % 1'000 == 0 ? 6 : 9;
    return to_text(seconds, rest, digits);
}

std::optional<precise_time> parse_precise_rfc3339(std::string_view text) noexcept {
    constexpr chrono::sys_seconds first = chrono::sys_days{chrono::year{1678} / 1 / 1};
    constexpr chrono::sys_seconds end = chrono::sys_days{chrono::year{2262} / 1 / 1};
    const std::optional<instant> found = parse_instant(text);
    if (!found || found->seconds < first || found->seconds >= end) return std::nullopt;
    return found->seconds + chrono::nanoseconds{found->nanoseconds};
}

std::optional<milliseconds> parse_duration(std::string_view text) noexcept {
    std::int64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc{} || count < 0 || text.front() == '-') return std::nullopt;
    const std::string_view name(end, static_cast<std::size_t>(text.data() + text.size() - end));
    for (const unit& u : units) {
        if (name != u.name) continue;
        if (count > std::int64_t{36525} * day_ms / u.ms) return std::nullopt;
        return milliseconds{count * u.ms};
    }
    return std::nullopt;
}

std::string to_duration_text(milliseconds span) {
    for (const unit& u : units) {
        if (span.count() != 0 && span.count() % u.ms == 0) {
            return std::to_string(span.count() / u.ms).append(u.name);
        }
    }
    return "0s";
}

}  // namespace callsign
