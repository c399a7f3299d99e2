#pragma once
// Waits for a change, or for a time. A timer stores one cancel, which the next wait consumes,
// whichever that is. Here each wait names the state that was seen, so that a change between looking
// and waiting ends the wait, whatever other waits came between:
//
//     const auto seen = changed.now();     // before looking
//     if (!is_there()) co_await changed.wait(seen, span);
//
// One waiter at a time, on one executor. `clock` must outlive this object.

#include <callsign/ports/clock.hpp>

#include <cstdint>

namespace callsign {

class wakeup {
  public:
    // The number of changes so far.
    enum class moment : std::uint64_t {};

    wakeup(clock& clock, boost::asio::any_io_executor executor)
        : clock_(clock), timer_(clock.make_timer(std::move(executor))) {}

    moment now() const noexcept { return moment{changes_}; }

    void notify() {
        ++changes_;
        timer_->cancel();
    }

    // True: there was a change after `seen`, even before the call. False: the span has passed.
    boost::asio::awaitable<bool> wait(moment seen, milliseconds span) {
        const milliseconds until = clock_.elapsed() + span;
        while (now() == seen) {
            const milliseconds left = until - clock_.elapsed();
            if (left <= milliseconds{0}) co_return false;
            co_await timer_->wait(left);
        }
        co_return true;
    }

  private:
    clock& clock_;
    std::unique_ptr<timer> timer_;
    std::uint64_t changes_ = 0;
};

}  // namespace callsign
