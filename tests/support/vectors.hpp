#pragma once
// Uploads of a real client (tests/wire/vectors), for byte-wise comparisons.

#include "support/hex.hpp"

#include <callsign/base/uuid.hpp>

#include <array>
#include <boost/json.hpp>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace callsign::testing {

struct client_vector {
    bool is_snapshot = false;
    callsign::uuid client_id{};
    std::string encryption_secret;
    std::string derived_key;
    callsign::uuid place{};
    std::string sealed;
    std::string plaintext;
};

inline std::string from_base64(std::string_view text) {
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    std::uint32_t bits = 0;
    int held = 0;
    for (char c : text) {
        if (c == '=') break;
        bits = (bits << 6) | static_cast<std::uint32_t>(digits.find(c));
        held += 6;
        if (held < 8) continue;
        held -= 8;
        bytes.push_back(static_cast<char>((bits >> held) & 0xFF));
    }
    return bytes;
}

inline std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline const std::vector<client_vector>& client_vectors() {
    static const std::vector<client_vector> all = [] {
        std::vector<client_vector> read;
        const auto text = read_file(CALLSIGN_VECTORS_DIR "/taskwarrior-3.5.json");
        const boost::json::value document = boost::json::parse(text);
        for (const boost::json::value& entry : document.as_array()) {
            const auto field = [&](std::string_view name) {
                return std::string(entry.at(name).as_string());
            };
            read.push_back({field("kind") == "snapshot", *parse_uuid(field("client_id")),
                            field("encryption_secret"), from_hex(field("derived_key_hex")),
                            *parse_uuid(field("aad_version_id")),
                            from_base64(field("sealed_base64")), field("plaintext")});
        }
        return read;
    }();
    return all;
}

}  // namespace callsign::testing
