#include <callsign/base/base64url.hpp>

#include <cstdint>

namespace callsign {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

}  // namespace

std::string to_base64url(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() * 4 + 2) / 3);
    std::uint32_t held = 0;
    int bits = 0;
    for (const char c : bytes) {
        held = held << 8 | static_cast<std::uint8_t>(c);
        for (bits += 8; bits >= 6;) text += alphabet[(held >> (bits -= 6)) & 63];
    }
    if (bits > 0) text += alphabet[(held << (6 - bits)) & 63];
    return text;
}

std::optional<std::string> from_base64url(std::string_view text) {
    if (text.size() % 4 == 1) return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() * 3 / 4);
    std::uint32_t held = 0;
    int bits = 0;
    for (const char c : text) {
        const auto value = alphabet.find(c);
        if (value == std::string_view::npos) return std::nullopt;
        held = held << 6 | static_cast<std::uint32_t>(value);
        if ((bits += 6) >= 8) bytes += static_cast<char>(held >> (bits -= 8));
    }
    return bytes;
}

}  // namespace callsign
