#pragma once
// Whose turn it is: so many at once, and so many of one account. Of those who wait, the one goes
// next whose account has fewest, and among these the one who waits longest. Network executor.
//
// Accounts whose turns were long may have fewer at once between them, so that they do not have them
// all while others wait. Known by their turns alone: one with another name, or none yet, is quick.

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
    // Of slow accounts together, at most. An account is slow once it had a longer turn than this,
    // and until a shorter one that ends so long after the last longer one, or later: quick turns in
    // between do not hide slow ones.
    std::size_t slow_at_once = at_once;
    milliseconds slow_turn{0};
    milliseconds slow_for{0};
};

class turns {
    struct state;

  public:
    turns(clock& clock, turns_options options);

    // Gives it back.
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
    // How long one of the account's turns was. Before it is given back.
    void took(account_id account, milliseconds span);

  private:
    clock& clock_;
    // Shared: a turn may outlive this, in a frame that is dropped at the end.
    std::shared_ptr<state> state_;
};

}  // namespace callsign::api
