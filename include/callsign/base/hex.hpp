#pragma once
// Hexadecimal digits, either case.

namespace callsign {

// 0 to 15; -1 for what is no hexadecimal digit.
constexpr int hex_value(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace callsign
