#pragma once
// Limits what runs at once: a maximum of permits in all, and of each payer. The payer with the
// fewest permits is next, and among several the one that waits longest. One executor.
//
// Payers that held permits long have a lower limit together, so that they do not take all permits
// while others wait. Only past permits count: a new payer is quick.

#include <callsign/base/payer.hpp>
#include <callsign/engine/wakeup.hpp>

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <memory>
#include <utility>

namespace callsign {

struct permit_limits {
    std::size_t at_once = 1;
    std::size_t payer_at_once = 1;
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

    // The destructor returns it.
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

        // False: none, since it was not available in time, or after stop().
        explicit operator bool() const noexcept { return of_ != nullptr; }

      private:
        std::shared_ptr<state> of_;
        payer who_ = payer::system();
        bool is_slow_ = false;  // when it began
    };

    boost::asio::awaitable<permit> take(payer who, milliseconds span = no_timeout);
    // Reports how long one of the payer's permits was held. Requires: it is not returned yet.
    void held(payer who, milliseconds span);
    // Changes the maximum; permits in use stay.
    void limit(std::size_t at_once);
    // Those that wait, and any later ones, get none.
    void stop();

  private:
    clock& clock_;
    // Shared: a permit may outlive this, in a frame that is destroyed at shutdown.
    std::shared_ptr<state> state_;
};

}  // namespace callsign
