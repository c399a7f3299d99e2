#include "store_time.hpp"

#include <callsign/base/assert.hpp>

#include <algorithm>
#include <iterator>

namespace callsign {

void store_time::read(time_point wall, milliseconds elapsed) {
    wall_ = wall;
    jumped_ = milliseconds{0};
    if (stretches_.empty()) {
        start_wall_ = wall;
        elapsed_ = elapsed;
        now_ = std::max(last_moment_, wall);
        return begin_stretch({now_, elapsed});
    }
    elapsed_ = std::max(elapsed_, elapsed);
    const stretch& current = stretches_.back();
    const time_point expected = current.at(elapsed_);
    const milliseconds ahead = wall - expected;
    now_ = expected;
    if (ahead > tolerance) {
        jumped_ = ahead;
        now_ = wall;
        begin_stretch({wall, elapsed_});
    } else if (ahead < -tolerance && current.tenths == 10) {
        begin_stretch({expected, elapsed_, 9});
    } else if (ahead >= milliseconds{0} && current.tenths != 10) {
        begin_stretch({expected, elapsed_});
    }
}

void store_time::begin_stretch(const stretch& next) {
    // Drops the second oldest: stamps before the first are of earlier runs. The first covers its
    // time, at the slower pace of the two, so that no stamp seems older than it is.
    if (stretches_.size() == stretches_max) {
        const auto second = std::next(stretches_.begin());
        stretches_.front().tenths = std::min(stretches_.front().tenths, second->tenths);
        stretches_.erase(second);
    }
    stretches_.push_back(next);
}

time_point store_time::stamped_before(milliseconds span) const {
    CALLSIGN_ASSERT(!stretches_.empty());
    const milliseconds reading = elapsed_ - span;
    const stretch& start = stretches_.front();
    if (reading < start.elapsed) return stamped_before_start(start.elapsed - reading);
    const auto after =
        std::upper_bound(stretches_.begin(), stretches_.end(), reading,
                         [](milliseconds r, const stretch& s) { return r < s.elapsed; });
    return std::prev(after)->at(reading);
}

// What is stamped before the result was `before_start` old when this run began.
time_point store_time::stamped_before_start(milliseconds before_start) const {
    const milliseconds uptime = elapsed_ - stretches_.front().elapsed;
    if (uptime < trust_after_) return time_point::min();
    // If the store is ahead of the wall clock, its stamps are of a wrong one, and its last moment
    // is no better a reference.
    return start_wall_ - before_start;
}

milliseconds store_time::age_of(time_point stamp) const {
    CALLSIGN_ASSERT(!stretches_.empty());
    if (stamp < stretches_.front().now) return age_before_start(stamp);
    const auto after = std::upper_bound(stretches_.begin(), stretches_.end(), stamp,
                                        [](time_point t, const stretch& s) { return t < s.now; });
    const stretch& in = *std::prev(after);
    milliseconds reading = in.elapsed + (stamp - in.now) * 10 / in.tenths;
    // No stamp lies in the gap that a step of the wall clock leaves.
    if (after != stretches_.end()) reading = std::min(reading, after->elapsed);
    return std::max(elapsed_ - reading, milliseconds{0});
}

milliseconds store_time::age_before_start(time_point stamp) const {
    const milliseconds uptime = elapsed_ - stretches_.front().elapsed;
    if (uptime < trust_after_ || stamp >= start_wall_) return uptime;
    return uptime + (start_wall_ - stamp);
}

}  // namespace callsign
