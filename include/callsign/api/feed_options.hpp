#pragma once
// Options of the change feed (docs/api.md).

#include <callsign/base/time.hpp>

#include <cstddef>

namespace callsign::api {

struct feed_options {
    // The longest silence towards a follower: either end detects by it that the other is gone, and
    // proxies keep the connection.
    milliseconds heartbeat{std::chrono::seconds{15}};
    // Long polls, event streams and WebSockets together. More: 503. Each is a connection too, and
    // counts against http.connections_max.
    std::size_t followers_max = 16'384;
    // Of one account.
    std::size_t account_followers_max = 1'024;
};

}  // namespace callsign::api
