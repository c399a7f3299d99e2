#pragma once
// The .taskrc lines of a new device. Pure.

#include <string>
#include <string_view>

namespace callsign::api {

// Returns this server's URL as the client reached it, by its Host field. Empty: `host` is no host
// and port, and must not get into a file.
std::string url_of_server(std::string_view host, bool tls);

struct taskrc_values {
    std::string url;  // empty: a placeholder is written
    std::string client_id;
    std::string encryption_secret;
    std::string key_attribute;  // empty: no lines for keys
};

// Returns lines with their line ends.
std::string taskrc_of(const taskrc_values& values);

}  // namespace callsign::api
