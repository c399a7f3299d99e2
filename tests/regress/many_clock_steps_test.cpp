// After more steps of the wall clock than store_time retains, a stamp from before them seemed older
// than it was, and the reaper failed slots that were still within the window.

#include "engine/store_time.hpp"
#include "support/virtual_clock.hpp"

#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace callsign {
namespace {

using namespace std::chrono_literals;

TEST(regress, many_clock_steps) {
    time_point wall = testing::virtual_start;
    milliseconds elapsed{12345};
    store_time time(wall - 1min, 1h);
    const auto read = [&](milliseconds wall_by, milliseconds span) {
        wall += wall_by;
        elapsed += span;
        time.read(wall, elapsed);
        return time.now();
    };
    const auto is_older = [&](time_point stamp, milliseconds span) {
        return stamp < time.stamped_before(span);
    };
    read(0ms, 0ms);
    std::vector<std::pair<time_point, milliseconds>> stamps;
    while (stamps.size() < 2 * store_time::stretches_max) {
        const time_point stamp = read(4s, 5s);  // the clock was set back by one second
        stamps.emplace_back(stamp, elapsed);
        read(20s, 20s);  // the clock has caught up
    }
    for (const auto& [stamp, at] : stamps) EXPECT_FALSE(is_older(stamp, elapsed - at));
    // Stamps of retained steps have their exact age.
    const auto& [stamp, at] = stamps[stamps.size() - store_time::stretches_max / 4];
    EXPECT_TRUE(is_older(stamp, elapsed - at - 1s));
}

}  // namespace
}  // namespace callsign
