#pragma once
// Time from outside: the real one (platform/real.hpp), or a simulation's that moves only when told.

#include <callsign/base/time.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>

namespace callsign {

// One waiter at a time. Lives on one executor and is used from it only.
class timer {
  public:
    virtual ~timer() = default;

    // True when the span has passed; false when cancelled before. A cancel with no wait under way
    // is kept for the next one, so that a wake-up between two waits is not lost.
    virtual boost::asio::awaitable<bool> wait(milliseconds span) = 0;
    virtual void cancel() = 0;
};

class clock {
  public:
    virtual ~clock() = default;

    // Wall time: may be set, either way. Any thread.
    virtual time_point now() const = 0;
    // Since some instant of its own. Never goes back and is never set; what deadlines and other
    // spans are measured with. Time that the machine sleeps counts. Any thread.
    virtual milliseconds elapsed() const = 0;
    // Spans are measured on a clock that does not step.
    virtual std::unique_ptr<timer> make_timer(boost::asio::any_io_executor executor) = 0;
};

}  // namespace callsign
