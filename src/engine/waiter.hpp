#pragma once
// One thing on its way through the engine: its place in a queue, the share it holds meanwhile, and
// whoever waits for its end.

#include "shares.hpp"

#include <callsign/base/time.hpp>
#include <callsign/domain/claim.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace callsign {

// Lives in the frame of the coroutine that awaits it, from the start of its wait to the call of
// `done`.
class waiter {
  public:
    explicit waiter(const claim& asks)
        : who(asks.who), price(asks.price), weight(price.weight()), deadline(asks.deadline) {}
    waiter(const waiter&) = delete;
    waiter& operator=(const waiter&) = delete;

    payer who;
    cost price;
    std::size_t weight;                    // of `price`
    std::optional<milliseconds> deadline;  // by clock::elapsed(); not begun by then: dropped
    held_share share;
    boost::system::error_code error;  // why nothing was done
    // Moved by construction only: Boost 1.81's move assignment of this type calls itself for ever.
    std::optional<boost::asio::any_completion_handler<void()>> done;

    bool is_expired(milliseconds now) const { return deadline && *deadline < now; }

    // Empties `done` first: what it holds owns the frame this lives in.
    boost::asio::any_completion_handler<void()> take_handler() {
        auto taken = std::move(*done);
        done.reset();
        return taken;
    }

  protected:
    ~waiter() = default;
};

// Drops the handlers, and with them the coroutine frames that wait; what lives in those frames goes
// too.
template <class Waiter>
void abandon_handlers(std::span<Waiter* const> waiters) {
    for (Waiter* w : waiters) w->take_handler();
}

// Some that are on another executor, or on their way back from there. If that executor dies first,
// they are dropped rather than leaked.
template <class Waiter>
class carried {
  public:
    explicit carried(std::vector<Waiter*> these) : these_(std::move(these)) {}
    carried(carried&& other) noexcept : these_(std::exchange(other.these_, {})) {}
    carried& operator=(carried&&) = delete;
    ~carried() { abandon_handlers<Waiter>(these_); }

    std::span<Waiter* const> look() const { return these_; }
    // The caller answers them from here on.
    std::vector<Waiter*> take() { return std::exchange(these_, {}); }

  private:
    std::vector<Waiter*> these_;
};

}  // namespace callsign
