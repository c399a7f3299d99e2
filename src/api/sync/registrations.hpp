#pragma once
// Limits how many anonymous clients register per hour, all together, where registration is open.
// Instants are those of a monotonic clock. Network executor.

#include <callsign/base/time.hpp>

#include <cstddef>
#include <deque>
#include <optional>

namespace callsign::api {

class registrations {
  public:
    explicit registrations(std::size_t hourly_max) : hourly_max_(hourly_max) {}

    // Takes a place. If there is none, returns the time until one is free.
    std::optional<milliseconds> enter(milliseconds now) {
        while (!taken_.empty() && now - taken_.front() >= hour) taken_.pop_front();
        if (taken_.size() >= hourly_max_) return hour - (now - taken_.front());
        taken_.push_back(now);
        return std::nullopt;
    }
    // Frees the place of a registration that failed.
    void give_back() {
        if (!taken_.empty()) taken_.pop_back();
    }

  private:
    static constexpr milliseconds hour = std::chrono::hours{1};

    std::size_t hourly_max_;
    std::deque<milliseconds> taken_;
};

}  // namespace callsign::api
