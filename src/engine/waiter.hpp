#pragma once
// A request in the engine: its place in a queue, the share that it holds, and its handler.

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

// Lives in the frame of the coroutine that awaits it, until `done` is called.
class waiter {
  public:
    explicit waiter(const claim& asks)
        : who(asks.who), price(asks.price), weight(price.weight()), deadline(asks.deadline) {}
    waiter(const waiter&) = delete;
    waiter& operator=(const waiter&) = delete;

    payer who;
    cost price;
    std::size_t weight;                    // of `price`
    std::optional<milliseconds> deadline;  // by clock::elapsed(); dropped if not begun by then
    held_share share;
    boost::system::error_code error;  // why it failed
    // Never move-assigned: for this type Boost 1.81's move assignment recurses without end.
    std::optional<boost::asio::any_completion_handler<void()>> done;

    bool is_expired(milliseconds now) const { return deadline && *deadline < now; }

    // Empties `done` first: the handler owns the frame that this lives in.
    boost::asio::any_completion_handler<void()> take_handler() {
        auto taken = std::move(*done);
        done.reset();
        return taken;
    }

  protected:
    ~waiter() = default;
};

// Destroys the handlers, and with them the coroutine frames that wait, waiters included.
template <class Waiter>
void abandon_handlers(std::span<Waiter* const> waiters) {
    for (Waiter* w : waiters) w->take_handler();
}

// Waiters that are on another executor, or on the way back. If that executor is destroyed first,
// they are abandoned rather than leaked.
template <class Waiter>
class carried {
  public:
    explicit carried(std::vector<Waiter*> these) : these_(std::move(these)) {}
    carried(carried&& other) noexcept : these_(std::exchange(other.these_, {})) {}
    carried& operator=(carried&&) = delete;
    ~carried() { abandon_handlers<Waiter>(these_); }

    std::span<Waiter* const> look() const { return these_; }
    // From here on the caller completes them.
    std::vector<Waiter*> take() { return std::exchange(these_, {}); }

  private:
    std::vector<Waiter*> these_;
};

}  // namespace callsign
