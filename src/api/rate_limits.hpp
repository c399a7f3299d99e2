#pragma once
// How many requests an account may make in a minute. What is used comes back evenly: after a
// minute without requests all of it is there again (the generic cell rate algorithm, ITU-T I.371).
// Network executor.

#include <callsign/base/strong_id.hpp>
#include <callsign/base/time.hpp>

#include <cstdint>
#include <string>
#include <unordered_map>

namespace callsign::api {

class rate_limits {
  public:
    static constexpr milliseconds window = std::chrono::minutes{1};

    // `quota`: of one account, in a window. 0: any number.
    explicit rate_limits(std::int64_t quota) : quota_(quota) {}

    bool is_on() const noexcept { return quota_ > 0; }

    struct state {
        bool allowed = true;
        std::int64_t remaining = 0;
        std::chrono::seconds full_in{};   // until all of the quota is there
        std::chrono::seconds retry_in{};  // until the next request is allowed
    };
    // Takes one, if there is one. `now`: by clock::elapsed().
    state take(account_id account, milliseconds now);

    // draft-ietf-httpapi-ratelimit-headers-10: RateLimit-Policy and RateLimit.
    std::string policy() const;
    static std::string field_of(const state& s);

  private:
    using nanoseconds = std::chrono::nanoseconds;

    // More than that many are looked through for those that are as if they had never asked.
    static constexpr std::size_t known_max = 65'536;
    void forget_idle(nanoseconds now);

    std::int64_t quota_;
    // When all of an account's quota is there again.
    std::unordered_map<account_id, nanoseconds> full_at_;
};

}  // namespace callsign::api
