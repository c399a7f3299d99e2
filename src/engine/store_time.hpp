#pragma once
// The store's own time: what rows are stamped with, and how old a stamp is.
//
// It follows the wall clock where that goes forwards, and the steady clock where it does not: a
// moment is never before an earlier one (product.md section 11). While the wall clock is behind,
// the store's time goes on a tenth slower than the steady clock, until the wall clock has caught
// up. How old a stamp is does not depend on the wall clock at all while the process that wrote it
// runs: each step of the wall clock is noted, so that a stamp leads back to a reading of the steady
// clock. One wrong reading makes nothing older or younger.
//
// For stamps of earlier runs there is only the wall clock's word, for the time between too. It is
// not taken until this run has lasted `trust_after`: until then they are as old as the run.
//
// Pure: readings come from outside. The writer's thread.

#include <callsign/rules/rules.hpp>

#include <cstddef>
#include <vector>

namespace callsign {

class store_time final : public rules::age_source {
  public:
    // `last_moment`: the latest stamp in the store.
    store_time(time_point last_moment, milliseconds trust_after)
        : last_moment_(last_moment), trust_after_(trust_after), now_(last_moment) {}

    // One reading of both clocks. `elapsed` never goes back.
    void read(time_point wall, milliseconds elapsed);

    // Of the last reading; never before an earlier one.
    time_point now() const noexcept { return now_; }
    // The wall clock's own.
    time_point wall() const noexcept { return wall_; }
    // How far the wall clock is behind; zero if it is not.
    milliseconds lead() const noexcept { return std::max(now_ - wall_, milliseconds{0}); }
    // By how much the wall clock was set forwards since the reading before; zero if it was not.
    milliseconds jumped() const noexcept { return jumped_; }

    // What is stamped before this has been there for `span`. Requires: a reading.
    time_point stamped_before(milliseconds span) const override;
    // Never negative. Requires: a reading.
    milliseconds age_of(time_point stamp) const override;

    // A smaller difference from the wall clock is let be: clocks are always slewed a little.
    static constexpr milliseconds tolerance{100};
    // Steps of the wall clock that are remembered. Beyond it stamps between two of the oldest seem
    // younger than they are.
    static constexpr std::size_t stretches_max = 256;

  private:
    // Between two steps of the wall clock: `now` is a straight line over `elapsed`.
    struct stretch {
        time_point now;
        milliseconds elapsed{0};
        int tenths = 10;  // of the steady clock's pace

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
