#pragma once
// The lines a new device's .taskrc gets, ready to paste. Pure.

#include <string>
#include <string_view>

namespace callsign::api {

// Where the client that asks reaches this server: what it named in Host. Empty: `host` is no host
// and port, and must not get into a file.
std::string url_of_server(std::string_view host, bool tls);

struct taskrc_values {
    std::string url;  // empty: a word in its place that says what is missing
    std::string client_id;
    std::string encryption_secret;
    std::string key_attribute;  // empty: the key is not shown
};

// Each line with its end.
std::string taskrc_of(const taskrc_values& values);

}  // namespace callsign::api
