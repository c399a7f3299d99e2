// The Idempotency-Key header: an Item of RFC 9651 that is a String, or a bare key, as most clients
// send it. Parameters of the Item have no meaning here, but must be well formed.

#include <callsign/base/text.hpp>
#include <callsign/domain/slot.hpp>
#include <callsign/wire/convert.hpp>

#include <algorithm>

namespace callsign::wire {
namespace {

constexpr std::string_view digits = "0123456789";
constexpr std::string_view lower_hex = "0123456789abcdef";
constexpr std::string_view name_starts = "abcdefghijklmnopqrstuvwxyz*";
constexpr std::string_view name_chars = "abcdefghijklmnopqrstuvwxyz*0123456789_-.";
constexpr std::string_view token_starts = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ*";
constexpr std::string_view token_chars =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~:/";
constexpr std::string_view base64_chars =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=";

constexpr bool is_printable(char c) noexcept {
    return c >= 0x20 && c <= 0x7E;
}

bool begins_with(std::string_view rest, std::string_view chars) noexcept {
    return !rest.empty() && chars.find(rest.front()) != chars.npos;
}

// The functions below remove an element from the front of `rest` and return whether it was there.

bool take(std::string_view& rest, std::string_view sign) noexcept {
    if (!rest.starts_with(sign)) return false;
    rest.remove_prefix(sign.size());
    return true;
}

std::size_t take_all_of(std::string_view& rest, std::string_view chars) noexcept {
    const std::size_t count = std::min(rest.find_first_not_of(chars), rest.size());
    rest.remove_prefix(count);
    return count;
}

// After the opening quote. Quotes and backslashes inside are escaped by a backslash.
bool take_string(std::string_view& rest, std::string& out) {
    while (!rest.empty() && is_printable(rest.front())) {
        if (take(rest, "\"")) return true;
        if (take(rest, "\\") && !begins_with(rest, "\"\\")) return false;
        out += rest.front();
        rest.remove_prefix(1);
    }
    return false;
}

// After the opening quote. Characters that are not printable are % and two digits.
bool take_display_string(std::string_view& rest) {
    const std::string_view text = rest.substr(0, rest.find('"'));
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (!is_printable(text[i])) return false;
        if (text[i] != '%') continue;
        const std::string_view escape = text.substr(i + 1, 2);
        if (escape.size() < 2 || escape.find_first_not_of(lower_hex) != escape.npos) return false;
    }
    rest.remove_prefix(text.size());
    return take(rest, "\"");
}

// Up to 15 digits, or 12 and a fraction of up to 3.
bool take_number(std::string_view& rest, bool may_have_fraction) {
    take(rest, "-");
    const std::size_t whole = take_all_of(rest, digits);
    if (whole == 0 || whole > 15) return false;
    if (!may_have_fraction || !take(rest, ".")) return true;
    const std::size_t fraction = take_all_of(rest, digits);
    return whole <= 12 && fraction >= 1 && fraction <= 3;
}

bool take_value(std::string_view& rest) {
    std::string ignored;
    if (take(rest, "\"")) return take_string(rest, ignored);
    if (take(rest, "%\"")) return take_display_string(rest);
    if (take(rest, "?")) return take(rest, "0") || take(rest, "1");
    if (take(rest, ":")) {
        take_all_of(rest, base64_chars);
        return take(rest, ":");
    }
    if (take(rest, "@")) return take_number(rest, false);
    if (!begins_with(rest, token_starts)) return take_number(rest, true);
    take_all_of(rest, token_chars);
    return true;
}

// Any number of ;name or ;name=value.
bool take_parameters(std::string_view& rest) {
    while (take(rest, ";")) {
        take_all_of(rest, " ");
        if (!begins_with(rest, name_starts)) return false;
        take_all_of(rest, name_chars);
        if (take(rest, "=") && !take_value(rest)) return false;
    }
    return true;
}

}  // namespace

std::variant<std::string, key_missing, key_malformed> parse_idempotency_key(
    const std::vector<std::string_view>& values) {
    if (values.empty()) return key_missing{};
    if (values.size() > 1) return key_malformed{"The header must be sent once."};

    std::string_view rest = trimmed(values.front());
    std::string key;
    if (take(rest, "\"")) {
        if (!take_string(rest, key)) {
            return key_malformed{"The quoted string is not closed or has an invalid character."};
        }
        if (!take_parameters(rest) || !rest.empty()) {
            return key_malformed{"Unexpected text follows the quoted string."};
        }
    } else {
        key = rest;
    }
    if (!is_valid_idempotency_key(key)) {
        return key_malformed{"The key must be 1 to 255 visible ASCII characters."};
    }
    return key;
}

}  // namespace callsign::wire
