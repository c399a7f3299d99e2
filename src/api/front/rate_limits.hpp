#pragma once
// Limits the requests of an account per minute. Quota returns evenly: after a minute without
// requests all of it is available (generic cell rate algorithm, ITU-T I.371). Network executor.

#include <callsign/base/strong_id.hpp>
#include <callsign/base/time.hpp>

#include <cstdint>
#include <string>
#include <unordered_map>

namespace callsign::api {

class rate_limits {
  public:
    static constexpr milliseconds window = std::chrono::minutes{1};

    // `quota`: of one account, per window. 0: no limit.
    explicit rate_limits(std::int64_t quota) : quota_(quota) {}

    bool is_on() const noexcept { return quota_ > 0; }

    struct state {
        bool allowed = true;
        std::int64_t remaining = 0;
        std::chrono::seconds full_in{};   // until the whole quota is available
        std::chrono::seconds retry_in{};  // until the next request is allowed
    };
    // Takes one request from the quota, if it is allowed. `now`: clock::elapsed().
    state take(account_id account, milliseconds now);

    // Values of RateLimit-Policy and RateLimit (draft-ietf-httpapi-ratelimit-headers-10).
    std::string policy() const;
    static std::string field_of(const state& s);

  private:
    using nanoseconds = std::chrono::nanoseconds;

    // From this number on, accounts whose quota is full are removed.
    static constexpr std::size_t known_max = 65'536;
    void forget_idle(nanoseconds now);

    std::int64_t quota_;
    // When each account's quota is full.
    std::unordered_map<account_id, nanoseconds> full_at_;
};

}  // namespace callsign::api
