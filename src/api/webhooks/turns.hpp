#pragma once
// Limits concurrent turns, in total and per account. The account with the fewest turns is next, and
// among several the one that waits longest. Network executor.
//
// Accounts whose turns were long have a lower limit together, so that they do not take all turns
// while others wait. Only past turns count: a new account is quick.

#include <callsign/base/strong_id.hpp>
#include <callsign/engine/engine.hpp>

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <memory>
#include <utility>

namespace callsign::api {

struct turns_options {
    std::size_t at_once = 1;
    std::size_t account_at_once = 1;
    // Limit of all slow accounts together. An account is slow after a turn longer than `slow_turn`,
    // until a shorter one ends at least `slow_for` after the last long one: quick turns in between
    // do not hide slow ones.
    std::size_t slow_at_once = at_once;
    milliseconds slow_turn{0};
    milliseconds slow_for{0};
};

class turns {
    struct state;

  public:
    turns(clock& clock, turns_options options);

    // The destructor returns the turn.
    class turn {
      public:
        turn() = default;
        turn(std::shared_ptr<state> of, account_id account, bool is_slow)
            : of_(std::move(of)), account_(account), is_slow_(is_slow) {}
        turn(turn&& other) noexcept = default;
        turn& operator=(turn&&) = delete;
        ~turn();

      private:
        std::shared_ptr<state> of_;
        account_id account_;
        bool is_slow_ = false;  // when it began
    };

    boost::asio::awaitable<turn> take(account_id account);
    // Reports how long one of the account's turns was. Requires: the turn is not returned yet.
    void took(account_id account, milliseconds span);

  private:
    clock& clock_;
    // Shared: a turn may outlive this, in a frame that is destroyed at shutdown.
    std::shared_ptr<state> state_;
};

}  // namespace callsign::api
