#pragma once
// Waits until something has changed since it was looked at, or a span has passed. A timer keeps one
// cancel, and whichever wait comes next takes it; here each wait says what it has seen, so a change
// that comes between looking and waiting ends the wait, whatever waits there were in between:
//
//     const auto seen = changed.now();     // before looking
//     if (!is_there()) co_await changed.wait(seen, span);
//
// One waiter at a time. Lives on one executor and is used from it only. `clock` outlives it.

#include <callsign/ports/clock.hpp>

#include <cstdint>

namespace callsign {

class wakeup {
  public:
    // How many changes there have been.
    enum class moment : std::uint64_t {};

    wakeup(clock& clock, boost::asio::any_io_executor executor)
        : clock_(clock), timer_(clock.make_timer(std::move(executor))) {}

    moment now() const noexcept { return moment{changes_}; }

    void notify() {
        ++changes_;
        timer_->cancel();
    }

    // True: there was a change after `seen`, at once if that was before the wait began. False: the
    // span has passed.
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
