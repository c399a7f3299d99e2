#pragma once
// Lines on their way to a descriptor, written by a thread of their own: who puts one never waits
// for who reads. What waits is bounded; beyond it lines are left out, and counted.

#include <callsign/base/time.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace callsign::platform {

class line_output {
  public:
    // `descriptor` stays the caller's.
    line_output(int descriptor, std::size_t bytes_max);
    // Gives what waits a moment; a reader who does not read loses it.
    ~line_output();
    line_output(const line_output&) = delete;
    line_output& operator=(const line_output&) = delete;

    // Without its newline. False: it was left out, for there is no room. The last quarter of the
    // room is for what is important. Any thread.
    bool put(std::string_view line, bool important);
    // How many were left out since this was last asked.
    std::uint64_t take_left_out();
    // Until all that was put is written, or `patience` is over.
    void drain(milliseconds patience);

  private:
    struct state;
    // Shared with the thread, which may be held up in a write when this goes.
    std::shared_ptr<state> state_;
};

}  // namespace callsign::platform
