#include "taskrc.hpp"

#include <algorithm>
#include <cctype>

namespace callsign::api {
namespace {

// The longest DNS name, and a port.
constexpr std::size_t host_bytes_max = 253 + 6;

// Returns whether the text consists of characters of names, addresses and ports: no line end, and
// nothing that begins a comment in .taskrc.
bool is_host(std::string_view text) {
    const auto allowed = [](unsigned char c) {
        return std::isalnum(c) != 0 ||
               std::string_view(".-_:[]").find(static_cast<char>(c)) != std::string_view::npos;
    };
    return !text.empty() && text.size() <= host_bytes_max &&
           std::all_of(text.begin(), text.end(), allowed);
}

}  // namespace

std::string url_of_server(std::string_view host, bool tls) {
    if (!is_host(host)) return {};
    return std::string(tls ? "https://" : "http://").append(host);
}

std::string taskrc_of(const taskrc_values& values) {
    std::string lines;
    lines += "sync.server.url=" + (values.url.empty() ? "URL-OF-THIS-SERVER" : values.url) + "\n";
    lines += "sync.server.client_id=" + values.client_id + "\n";
    lines += "sync.encryption_secret=" + values.encryption_secret + "\n";
    if (values.key_attribute.empty()) return lines;
    lines += "uda." + values.key_attribute + ".type=string\n";
    lines += "uda." + values.key_attribute + ".label=Key\n";
    return lines;
}

}  // namespace callsign::api
