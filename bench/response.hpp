#pragma once
// A minimal, cheap parser of HTTP/1.1 responses: a status, a Content-Length body, and the headers
// that load generators need. It rejects chunked bodies, trailers and 1xx responses as malformed.

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <strings.h>

namespace callsign::bench {

struct response {
    unsigned status = 0;
    bool replayed = false;  // Idempotent-Replayed: true
    bool close = false;     // Connection: close
    // Views of the parsed bytes.
    std::string_view body;
    std::string_view version;  // X-Version-Id
    std::string_view parent;   // X-Parent-Version-Id
};

enum class parse_outcome : std::uint8_t { incomplete, complete, broken };

namespace detail {

inline bool same_word(std::string_view a, std::string_view b) {
    return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

// Parses one "Name: value" line; returns false if parsing cannot continue.
inline bool read_field(std::string_view line, response& out, std::size_t& body_bytes) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return false;
    const std::string_view name = line.substr(0, colon);
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    // Compares lengths first, since most headers are irrelevant.
    switch (name.size()) {
    case 14:
        if (!same_word(name, "Content-Length")) return true;
        return std::from_chars(value.data(), value.data() + value.size(), body_bytes).ec ==
               std::errc{};
    case 10:
        if (same_word(name, "Connection")) out.close = same_word(value, "close");
        return true;
    case 12:
        if (same_word(name, "X-Version-Id")) out.version = value;
        return true;
    case 19:
        if (same_word(name, "Idempotent-Replayed")) out.replayed = same_word(value, "true");
        if (same_word(name, "X-Parent-Version-Id")) out.parent = value;
        return true;
    case 17: return !same_word(name, "Transfer-Encoding");
    default: return true;
    }
}

}  // namespace detail

// Parses one response at the front of `bytes`. Complete: sets `out`, and `used` to its size.
// Incomplete responses are parsed again from the start once there is more data, which is rare.
inline parse_outcome parse_response(std::string_view bytes, response& out, std::size_t& used) {
    constexpr std::string_view version = "HTTP/1.1 ";
    const auto head_end = bytes.find("\r\n\r\n");
    if (head_end == std::string_view::npos) return parse_outcome::incomplete;
    if (!bytes.starts_with(version)) return parse_outcome::broken;

    out = response{};
    const char* digits = bytes.data() + version.size();
    if (std::from_chars(digits, digits + 3, out.status).ptr != digits + 3 || out.status < 200)
        return parse_outcome::broken;

    std::size_t body_bytes = 0;
    std::size_t at = bytes.find("\r\n") + 2;
    while (at < head_end + 2) {
        const auto line_end = bytes.find("\r\n", at);
        if (!detail::read_field(bytes.substr(at, line_end - at), out, body_bytes))
            return parse_outcome::broken;
        at = line_end + 2;
    }
    used = head_end + 4 + body_bytes;
    if (bytes.size() < used) return parse_outcome::incomplete;
    out.body = bytes.substr(head_end + 4, body_bytes);
    return parse_outcome::complete;
}

}  // namespace callsign::bench
