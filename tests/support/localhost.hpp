#pragma once
// Names of this host. A minimal system without /etc/hosts does not know `localhost`.

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

// Prefers a name, so that name resolution is tested.
inline std::string own_name() {
    return knows_localhost() ? "localhost" : "127.0.0.1";
}

// The address, and the name if there is one.
inline std::vector<std::string> own_names() {
    std::vector<std::string> all{"127.0.0.1"};
    if (knows_localhost()) all.emplace_back("localhost");
    return all;
}

}  // namespace callsign::testing
