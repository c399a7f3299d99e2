#pragma once
// Names that this machine has for itself. A minimal system, without /etc/hosts, knows no
// `localhost`.

#include <netdb.h>
#include <string>
#include <vector>

namespace callsign::testing {

inline bool knows_localhost() {
    addrinfo* found = nullptr;
    if (::getaddrinfo("localhost", nullptr, nullptr, &found) != 0) return false;
    ::freeaddrinfo(found);
    return true;
}

inline constexpr const char* no_localhost =
    "this machine does not know localhost: /etc/hosts lacks the line \"127.0.0.1 localhost\"";

// A name if it has one: what goes by names is tried by one.
inline std::string own_name() {
    return knows_localhost() ? "localhost" : "127.0.0.1";
}

// Its address, and its name if it has one.
inline std::vector<std::string> own_names() {
    std::vector<std::string> all{"127.0.0.1"};
    if (knows_localhost()) all.emplace_back("localhost");
    return all;
}

}  // namespace callsign::testing
