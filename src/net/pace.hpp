#pragma once
// The deadline of a transfer by a peer with a minimum rate: it may fall behind the rate by a grace
// period, never by more. So each byte extends the deadline by its own time, and none restarts it.
// Pure: the time is passed in.

#include <callsign/base/time.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace callsign::net {

class pace {
  public:
    using steady = std::chrono::steady_clock;

    // `rate_min`: bytes a second; 0: none, only a stall of `grace` ends the transfer.
    void begin(steady::time_point now, milliseconds grace, std::size_t rate_min) {
        grace_ = grace;
        rate_min_ = rate_min;
        deadline_ = now + grace;
    }

    void moved(std::size_t bytes, steady::time_point now) {
        const steady::time_point latest = now + grace_;
        if (rate_min_ == 0) {
            deadline_ = latest;
            return;
        }
        const std::chrono::duration<double> bought(static_cast<double>(bytes) /
                                                   static_cast<double>(rate_min_));
        // Time beyond `latest` is not granted, whatever the size.
        const auto left = std::chrono::duration<double>(latest - deadline_);
        deadline_ = bought >= left
                        ? latest
                        : deadline_ + std::chrono::duration_cast<steady::duration>(bought);
    }

    steady::time_point deadline() const noexcept { return deadline_; }

  private:
    milliseconds grace_{0};
    std::size_t rate_min_ = 0;
    steady::time_point deadline_;
};

}  // namespace callsign::net
