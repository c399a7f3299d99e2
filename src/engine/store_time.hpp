#pragma once
// The store's time: the timestamps of rows, and their ages.
//
// It follows the wall clock where that goes forwards, and the monotonic clock otherwise: it never
// goes back. While the wall clock is behind, the store's time is a tenth slower than the monotonic
// clock, until the wall clock has caught up. While the process that wrote a stamp runs, the stamp's
// age does not depend on the wall clock: each step of that is recorded, so that a stamp maps to a
// reading of the monotonic clock. One wrong reading makes nothing older or younger.
//
// The ages of earlier runs' stamps, and of the time between runs, are by the wall clock alone. It
// is not trusted until this run has lasted `trust_after`: until then those stamps are as old as the
// run.
//
// Pure: readings are passed in. Writer's thread.

#include <callsign/rules/rules.hpp>

#include <cstddef>
#include <vector>

namespace callsign {

class store_time final : public rules::age_source {
  public:
    // `last_moment`: the latest timestamp in the store.
    store_time(time_point last_moment, milliseconds trust_after)
        : last_moment_(last_moment), trust_after_(trust_after), now_(last_moment) {}

    // Takes one reading of both clocks. `elapsed` never goes back.
    void read(time_point wall, milliseconds elapsed);

    // As of the last reading; never before an earlier one.
    time_point now() const noexcept { return now_; }
    // The wall clock, as of the last reading.
    time_point wall() const noexcept { return wall_; }
    // How far the wall clock is behind; zero: not behind.
    milliseconds lead() const noexcept { return std::max(now_ - wall_, milliseconds{0}); }
    // By how much the wall clock was set forwards since the reading before; zero: it was not.
    milliseconds jumped() const noexcept { return jumped_; }

    // Rows stamped before the result are at least `span` old. Requires: a reading.
    time_point stamped_before(milliseconds span) const override;
    // Never negative. Requires: a reading.
    milliseconds age_of(time_point stamp) const override;

    // A smaller difference from the wall clock is ignored: clocks are always slewed a little.
    static constexpr milliseconds tolerance{100};
    // Recorded steps of the wall clock. With more, stamps between the oldest ones seem younger than
    // they are.
    static constexpr std::size_t stretches_max = 256;

  private:
    // Between two steps of the wall clock: `now` is linear in `elapsed`.
    struct stretch {
        time_point now;
        milliseconds elapsed{0};
        int tenths = 10;  // of the monotonic clock's pace

        time_point at(milliseconds reading) const {
            return now + (reading - elapsed) * tenths / 10;
        }
    };

    void begin_stretch(const stretch& next);
    time_point stamped_before_start(milliseconds before_start) const;
    milliseconds age_before_start(time_point stamp) const;

    time_point last_moment_;
    milliseconds trust_after_;
    time_point now_;
    time_point wall_{};
    time_point start_wall_{};
    milliseconds elapsed_{0};
    milliseconds jumped_{0};
    std::vector<stretch> stretches_;  // in order; empty before the first reading
};

}  // namespace callsign
