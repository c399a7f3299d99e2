#pragma once
// How changes are followed (product.md section 8).

#include <callsign/base/time.hpp>

#include <cstddef>

namespace callsign::api {

struct feed_options {
    // A follower hears something at least so often: by it either end notices that the other has
    // gone, and what stands between them that the connection is in use.
    milliseconds heartbeat{std::chrono::seconds{15}};
    // Long polls, streams and sockets together. More: 503. Each is a connection too, of which there
    // are http.connections_max.
    std::size_t followers_max = 16'384;
    // One account's.
    std::size_t account_followers_max = 1'024;
};

}  // namespace callsign::api
