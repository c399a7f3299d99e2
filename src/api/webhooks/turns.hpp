#pragma once
// Who may post now: so many at once, and so many of one account. Of those who wait, the one goes
// next whose account has fewest, and among these the one who waits longest. Network executor.

#include <callsign/base/strong_id.hpp>
#include <callsign/engine/engine.hpp>

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <utility>

namespace callsign::api {

class turns {
    struct state;

  public:
    turns(clock& clock, std::size_t at_once, std::size_t account_at_once);

    // Gives it back.
    class turn {
      public:
        turn() = default;
        turn(std::shared_ptr<state> of, account_id account)
            : of_(std::move(of)), account_(account) {}
        turn(turn&& other) noexcept = default;
        turn& operator=(turn&&) = delete;
        ~turn();

      private:
        std::shared_ptr<state> of_;
        account_id account_;
    };

    boost::asio::awaitable<turn> take(account_id account);

  private:
    clock& clock_;
    // Shared: a turn may outlive this, in a frame that is dropped at the end.
    std::shared_ptr<state> state_;
};

}  // namespace callsign::api
