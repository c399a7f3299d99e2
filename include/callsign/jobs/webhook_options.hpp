#pragma once
// Options of webhooks (docs/api.md).

#include <callsign/base/time.hpp>

#include <cstddef>
#include <cstdint>

namespace callsign::jobs {

struct webhook_options {
    // Of one account. More: 409.
    std::size_t account_max = 10;
    // Concurrent deliveries, in all and for one account: limits connections and bodies, and a slow
    // server delays its own account's deliveries first.
    std::size_t at_once = 16;
    std::size_t account_at_once = 2;
    // Threads for lookups of names: a name server that does not respond blocks one.
    std::size_t lookup_threads = 8;
    // Changes in one body. Fewer where tasks are large.
    std::size_t changes_max = 100;
    // Exponential back-off after failures: first and maximum pause.
    milliseconds retry_min{std::chrono::seconds{5}};
    milliseconds retry_max{std::chrono::hours{1}};
    // Successive failures that disable a webhook: with the pauses above after some two days.
    std::int64_t failures_max = 50;
};

// Counts since the start.
struct delivery_counts {
    std::int64_t delivered = 0;
    std::int64_t failed = 0;
};

}  // namespace callsign::jobs
