#pragma once
// Limits concurrency: a maximum of permits in total, and of each payer. The payer with the fewest
// permits is next, and among several the one that waits longest. Threads: one executor, that of the
// coroutines which call take().
//
// Payers whose permits were in use for long (report_span) have a lower limit together, so that they
// do not take all permits while others wait. A new payer is quick.

#include <callsign/base/payer.hpp>
#include <callsign/engine/wakeup.hpp>

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <memory>
#include <utility>

namespace callsign {

struct permit_limits {
    std::size_t at_once = 1;        // permits in use, in total
    std::size_t payer_at_once = 1;  // permits in use of one payer
    // Limit of all slow payers together. A payer is slow after a permit held longer than
    // `slow_span`, until a shorter one ends at least `slow_for` after the last long one: quick ones
    // in between do not hide slow ones.
    std::size_t slow_at_once = at_once;
    milliseconds slow_span{0};
    milliseconds slow_for{0};
};

class permits {
    struct state;

  public:
    permits(clock& clock, const permit_limits& limits);

    // A permit in use, or empty. Its destructor returns it; it may outlive `permits`.
    class permit {
      public:
        permit() = default;
        permit(std::shared_ptr<state> of, payer who, bool is_slow)
            : of_(std::move(of)), who_(who), is_slow_(is_slow) {}
        permit(permit&& other) noexcept = default;
        permit& operator=(permit&& other) noexcept {
            std::swap(of_, other.of_);
            std::swap(who_, other.who_);
            std::swap(is_slow_, other.is_slow_);
            return *this;
        }
        ~permit();

        // False: empty.
        explicit operator bool() const noexcept { return of_ != nullptr; }

      private:
        std::shared_ptr<state> of_;
        payer who_ = payer::system();
        bool is_slow_ = false;  // when it began
    };

    // Waits for a permit. Empty: none within `timeout` (monotonic clock), or stop() was called.
    boost::asio::awaitable<permit> take(payer who, milliseconds timeout = longest_wait);
    // Reports for how long a permit of the payer has been in use. Requires: it is not returned yet.
    void report_span(payer who, milliseconds span);
    // Changes the maximum; permits in use stay.
    void limit(std::size_t at_once);
    // Every take(), waiting or later, returns an empty permit.
    void stop();

  private:
    clock& clock_;
    // Shared: a permit may outlive this, in a frame that is destroyed at shutdown.
    std::shared_ptr<state> state_;
};

}  // namespace callsign
