#include "json_text.hpp"

#include <callsign/base/text.hpp>

#include <array>
#include <cstddef>

namespace callsign::wire {
namespace {

// How a byte is escaped: 0 not at all, 'u' as \u00XX, otherwise by a backslash and the letter.
constexpr std::array<char, 256> make_escapes() {
    std::array<char, 256> table{};
    for (std::size_t i = 0; i < 0x20; ++i) table[i] = 'u';
    table['"'] = '"';
    table['\\'] = '\\';
    table['\b'] = 'b';
    table['\f'] = 'f';
    table['\n'] = 'n';
    table['\r'] = 'r';
    table['\t'] = 't';
    return table;
}
constexpr std::array<char, 256> escapes = make_escapes();

}  // namespace

// Appends unescaped bytes in runs; nearly every text is a single run.
void write_text(std::string_view text, std::string& out) {
    constexpr std::string_view hex = "0123456789abcdef";
    out += '"';
    std::size_t run = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const char escape = escapes[byte];
        if (escape == 0) continue;
        out.append(text, run, i - run);
        run = i + 1;
        out += '\\';
        out += escape;
        if (escape == 'u') out.append("00").append({hex[byte >> 4], hex[byte & 15]});
    }
    out.append(text, run);
    out += '"';
}

std::string_view sound_text(std::string_view text, std::string& copy) {
    std::size_t sound = 0;
    while (sound < text.size()) {
        const std::size_t size = utf8_length(text.substr(sound));
        if (size == 0) break;
        sound += size;
    }
    if (sound == text.size()) return text;
    copy.assign(text, 0, sound);
    while (sound < text.size()) {
        const std::size_t size = utf8_length(text.substr(sound));
        if (size == 0) {
            copy.append("\xEF\xBF\xBD");
        } else {
            copy.append(text, sound, size);
        }
        sound += size == 0 ? 1 : size;
    }
    return copy;
}

}  // namespace callsign::wire
