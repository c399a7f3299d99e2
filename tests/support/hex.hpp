#pragma once
// The inverse of to_hex, for tests with literal bytes.

#include <string>
#include <string_view>

namespace callsign::testing {

inline std::string from_hex(std::string_view text) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        bytes.push_back(static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
    }
    return bytes;
}

}  // namespace callsign::testing
