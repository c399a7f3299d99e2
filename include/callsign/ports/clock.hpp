#pragma once
// Time: the system's clocks (platform/real.hpp), or those of a simulation.

#include <callsign/base/time.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>

namespace callsign {

// A timer for one waiter at a time. It belongs to one executor and is used only from it.
class timer {
  public:
    virtual ~timer() = default;

    // Returns true when the span has passed, false if cancelled before. A cancel() without a wait
    // in progress is kept for the next wait, so that no wake-up between two waits is lost.
    virtual boost::asio::awaitable<bool> wait(milliseconds span) = 0;
    virtual void cancel() = 0;
};

class clock {
  public:
    virtual ~clock() = default;

    // The wall clock: may be set in either direction. Any thread.
    virtual time_point now() const = 0;
    // The monotonic clock, since an arbitrary instant; measures deadlines and other spans. Includes
    // time in which the machine was suspended. Any thread.
    virtual milliseconds elapsed() const = 0;
    // Spans are measured by the monotonic clock.
    virtual std::unique_ptr<timer> make_timer(boost::asio::any_io_executor executor) = 0;
};

}  // namespace callsign
