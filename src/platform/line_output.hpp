#pragma once
// Writes lines to a descriptor on a thread of its own, so that callers never wait for the reader.
// What waits is limited; beyond it lines are dropped, and counted.

#include <callsign/base/time.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace callsign::platform {

class line_output {
  public:
    // `descriptor` remains the caller's.
    line_output(int descriptor, std::size_t bytes_max);
    // Waits up to a second for unwritten lines, then drops them.
    ~line_output();
    line_output(const line_output&) = delete;
    line_output& operator=(const line_output&) = delete;

    // `line`: without its newline. False: dropped for lack of room. The last quarter of the room is
    // for important lines. Any thread.
    bool put(std::string_view line, bool important);
    // Returns how many lines were dropped since the last call.
    std::uint64_t take_left_out();
    // Waits until all lines are written, or for `timeout`.
    void drain(milliseconds timeout);

  private:
    struct state;
    // Shared with the thread, which may be blocked in a write when this object is destroyed.
    std::shared_ptr<state> state_;
};

}  // namespace callsign::platform
