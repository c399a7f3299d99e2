#pragma once
// Hexadecimal digits, either case.

namespace callsign {

// Returns 0 to 15, or -1 if `c` is not a hexadecimal digit.
constexpr int hex_value(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

}  // namespace callsign
