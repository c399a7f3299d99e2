#pragma once
// Options of the REST API.

#include <cstdint>
#include <string>
#include <vector>

namespace callsign::api {

struct api_options {
    // Origins whose web pages may read responses (CORS, the Fetch standard): scheme://host[:port]
    // each, or "*" for all. None: only the server's own pages.
    std::vector<std::string> cors_origins{};
    // The base URL for clients: https://tasks.example.org, without a final slash. Empty: from the
    // request's Host.
    std::string public_url{};
    bool speaks_tls = false;
    // Maximum of requests by one account's tokens in any minute, bursts included. More: 429. 0:
    // limited by the account's shares of the engine alone.
    std::int64_t account_requests_per_minute = 0;
};

}  // namespace callsign::api
