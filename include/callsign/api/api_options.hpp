#pragma once
// How the REST API is offered, beside what it does.

#include <cstdint>
#include <string>
#include <vector>

namespace callsign::api {

struct api_options {
    // Web pages from these origins may read answers (the Fetch standard's CORS):
    // scheme://host[:port] each, or "*" for all. None: browsers keep answers from every page but
    // the server's own.
    std::vector<std::string> cors_origins{};
    // Where clients reach the server: https://tasks.example.org, without a slash at its end. Empty:
    // whoever asks knows it, and named it in Host.
    std::string public_url{};
    bool speaks_tls = false;
    // Of one account's tokens, in any minute, bursts included. More: 429. 0: as many as its shares
    // of the engine let through.
    std::int64_t account_requests_per_minute = 0;
};

}  // namespace callsign::api
