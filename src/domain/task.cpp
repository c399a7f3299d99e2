#include <callsign/base/sha256.hpp>
#include <callsign/base/text.hpp>
#include <callsign/domain/account.hpp>
#include <callsign/domain/task.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace callsign {
namespace {

// 18 digits always fit in an int64; real numbers have fewer.
constexpr std::size_t number_digits_max = 18;

bool all_digits(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// One spelling for each number: SYN-042 is not a key, because the server never issued it.
std::optional<std::int64_t> parse_number(std::string_view text) noexcept {
    if (text.empty() || text.size() > number_digits_max || !all_digits(text)) return std::nullopt;
    if (text.front() == '0' && text.size() > 1) return std::nullopt;
    return parse_integer(text);
}

// A year, a month or a day, as period_of() writes them.
bool is_period(std::string_view text) noexcept {
    return (text.size() == 4 || text.size() == 6 || text.size() == 8) && all_digits(text);
}

std::optional<task_key> parse_task_key(std::string_view text) {
    const std::size_t first = text.find('-');
    const std::size_t last = text.rfind('-');
    if (first == std::string_view::npos) return std::nullopt;
    task_key key{upper(text.substr(0, first)), {}, 0};
    if (!is_valid_prefix(key.prefix)) return std::nullopt;
    if (first != last) {
        const std::string_view period = text.substr(first + 1, last - first - 1);
        if (!is_period(period)) return std::nullopt;
        key.period = period;
    }
    const std::optional<std::int64_t> number = parse_number(text.substr(last + 1));
    if (!number) return std::nullopt;
    key.number = *number;
    return key;
}

}  // namespace

attribute_diff diff_between(const attributes& from, const attributes& to) {
    attribute_diff diff;
    auto& set = diff.set;
    auto old = from.begin();
    for (const auto& now : to) {
        for (; old != from.end() && old->first < now.first; ++old) {
            diff.absent.push_back(old->first);
        }
        const bool is_there = old != from.end() && old->first == now.first;
        if (!is_there || old->second != now.second) set.emplace_hint(set.end(), now);
        if (is_there) ++old;
    }
    for (; old != from.end(); ++old) diff.absent.push_back(old->first);
    return diff;
}

bool apply_diff(const attribute_diff& diff, attributes& state) {
    for (const std::string& name : diff.absent) {
        if (state.erase(name) == 0) return false;
    }
    for (const auto& [name, value] : diff.set) state.insert_or_assign(name, value);
    return true;
}

std::size_t size_of(const attribute_diff& diff) noexcept {
    std::size_t bytes = size_of(diff.set);
    for (const std::string& name : diff.absent) bytes += name.size();
    return bytes;
}

std::string format_key(std::string_view prefix, std::string_view period, std::int64_t number) {
    std::array<char, 20> buffer;
    const char* end = std::to_chars(buffer.begin(), buffer.end(), number).ptr;
    const std::string_view digits(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
    std::string key;
    key.reserve(prefix.size() + period.size() + digits.size() + 2);
    key.append(prefix).push_back('-');
    if (!period.empty()) key.append(period).push_back('-');
    key.append(digits);
    return key;
}

std::uint32_t stamp_of(const uuid& instance, std::string_view prefix) {
    const digest hash = sha256({to_string(instance), prefix});
    std::uint32_t stamp = 0;
    for (std::size_t i = 0; i < sizeof stamp; ++i) stamp = stamp << 8 | hash[i];
    return stamp;
}

namespace {

constexpr std::size_t stamp_digits = 8;

}  // namespace

std::string to_string(const task_tag& tag) {
    std::array<char, stamp_digits + 1> stamp{};
    std::snprintf(stamp.data(), stamp.size(), "%08x", static_cast<unsigned>(tag.stamp));
    return std::to_string(tag.seq) + "." + stamp.data();
}

std::string etag_of(const task_tag& tag) {
    return '"' + to_string(tag) + '"';
}

std::optional<task_tag> parse_task_tag(std::string_view text) {
    const std::string_view seq = text.substr(0, text.find('.'));
    if (text.size() != seq.size() + 1 + stamp_digits) return std::nullopt;
    task_tag tag{parse_integer(seq).value_or(-1)};
    const std::string_view stamp = text.substr(seq.size() + 1);
    std::from_chars(stamp.data(), stamp.data() + stamp.size(), tag.stamp, 16);
    return to_string(tag) == text ? std::optional(tag) : std::nullopt;
}

std::optional<task_ref> parse_task_ref(std::string_view text) {
    if (const std::optional<uuid> id = parse_uuid(text)) return task_ref{*id};
    if (std::optional<task_key> key = parse_task_key(text)) return task_ref{std::move(*key)};
    return std::nullopt;
}

std::string to_string(const task_ref& ref) {
    if (const uuid* id = std::get_if<uuid>(&ref)) return to_string(*id);
    const task_key& key = std::get<task_key>(ref);
    return format_key(key.prefix, key.period, key.number);
}

}  // namespace callsign
