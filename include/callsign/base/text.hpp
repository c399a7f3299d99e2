#pragma once
// Text from outside: numbers, white space, case and UTF-8.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace callsign {

constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

// Returns `text` without the characters of `blank` at its ends; by default without HTTP's optional
// white space (RFC 9110, 5.6.3).
constexpr std::string_view trimmed(std::string_view text, std::string_view blank = " \t") noexcept {
    const std::size_t first = text.find_first_not_of(blank);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

// Removes the text before the next `mark`, and the mark. Returns that text, trimmed. Without a
// `mark` it is the whole text.
constexpr std::string_view take_until(std::string_view& text, char mark,
                                      std::string_view blank = " \t") noexcept {
    const std::size_t end = text.find(mark);
    const std::string_view taken = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return trimmed(taken, blank);
}

// Returns the length in bytes of the well-formed UTF-8 character at the front (RFC 3629: no
// surrogates, no overlong forms, nothing above U+10FFFF), or 0 if there is none.
constexpr std::size_t utf8_length(std::string_view text) noexcept {
    if (text.empty()) return 0;
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = at(0);
    if (lead < 0x80) return 1;
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
    // These lead bytes restrict the second byte: overlong forms, surrogates, the last plane.
    const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (at(1) < low || at(1) > high) return 0;
    for (std::size_t i = 2; i < length; ++i) {
        if ((at(i) & 0xC0) != 0x80) return 0;
    }
    return length;
}

constexpr bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

// Returns the integer that the whole text represents, which may have a minus sign; nullopt if it is
// not one or is out of range.
std::optional<std::int64_t> parse_integer(std::string_view text) noexcept;

// Returns `text` with ASCII letters in upper case.
std::string upper(std::string_view text);

// Returns equal texts for texts that differ only in case: each UTF-8 character in its lower-case
// form, if Unicode has one of a single character. Bytes that are not UTF-8 are kept.
std::string folded(std::string_view text);

}  // namespace callsign
