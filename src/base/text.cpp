#include <callsign/base/text.hpp>

#include <charconv>
#include <clocale>
#include <cwchar>
#include <cwctype>
#include <locale.h>

namespace callsign {
namespace {

// glibc's built-in tables, independent of the environment. Used until the process ends.
locale_t unicode() {
    static const locale_t found = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return found;
}

char32_t decoded(std::string_view character) {
    constexpr unsigned char lead_bits[] = {0x7F, 0x7F, 0x1F, 0x0F, 0x07};
    auto code = static_cast<char32_t>(static_cast<unsigned char>(character[0]) &
                                      lead_bits[character.size()]);
    for (const char c : character.substr(1)) {
        code = code << 6 | (static_cast<unsigned char>(c) & 0x3Fu);
    }
    return code;
}

void put(std::string& out, char32_t code) {
    const auto tail = [&](unsigned shift) {
        out += static_cast<char>(0x80 | (code >> shift & 0x3F));
    };
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xC0 | code >> 6);
        tail(0);
    } else if (code < 0x10000) {
        out += static_cast<char>(0xE0 | code >> 12);
        tail(6), tail(0);
    } else {
        out += static_cast<char>(0xF0 | code >> 18);
        tail(12), tail(6), tail(0);
    }
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) noexcept {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string upper(std::string_view text) {
    std::string out(text);
    for (char& c : out) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return out;
}

std::string folded(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        const std::string_view character = text.substr(0, length == 0 ? 1 : length);
        text.remove_prefix(character.size());
        const char first = character[0];
        if (length == 1) {
            out += first >= 'A' && first <= 'Z' ? static_cast<char>(first - 'A' + 'a') : first;
        } else if (length == 0 || !unicode()) {
            out += character;
        } else {
            put(out, static_cast<char32_t>(
                         towlower_l(static_cast<wint_t>(decoded(character)), unicode())));
        }
    }
    return out;
}

}  // namespace callsign
