#pragma once
// How changes are posted to the URLs that accounts name (product.md section 8).

#include <callsign/base/time.hpp>

#include <cstddef>
#include <cstdint>

namespace callsign::api {

struct webhook_options {
    // One account's. More: 409.
    std::size_t account_max = 10;
    // Posted to at once, in all and for one account: so many connections and bodies are there at
    // most, and a server that is slow to answer holds up its own account's first.
    std::size_t at_once = 16;
    std::size_t account_at_once = 2;
    // Threads that look names up: each is held up by a server of names that does not answer.
    std::size_t lookup_threads = 8;
    // Changes in one body. Fewer where tasks are large.
    std::size_t changes_max = 100;
    // What failed is tried again after a pause that doubles from the first to the second.
    milliseconds retry_min{std::chrono::seconds{5}};
    milliseconds retry_max{std::chrono::hours{1}};
    // So many failures in a row disable a webhook: with the pauses above after some two days.
    std::int64_t failures_max = 50;
};

// Since the start.
struct delivery_counts {
    std::int64_t delivered = 0;
    std::int64_t failed = 0;
};

}  // namespace callsign::api
