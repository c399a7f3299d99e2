#pragma once
// Who may post now: so many at once, and so many of one account, those who wait in their order.
// Network executor.

#include <callsign/api/webhook_options.hpp>
#include <callsign/base/strong_id.hpp>
#include <callsign/engine/engine.hpp>

#include <boost/asio/awaitable.hpp>
#include <list>
#include <memory>
#include <unordered_map>

namespace callsign::api {

class turns {
  public:
    turns(clock& clock, std::size_t at_once, std::size_t account_at_once)
        : clock_(clock), at_once_(at_once), account_at_once_(account_at_once) {}

    // Gives it back.
    class turn {
      public:
        turn(turns& of, account_id account) : of_(&of), account_(account) {}
        turn(turn&& other) noexcept
            : of_(std::exchange(other.of_, nullptr)), account_(other.account_) {}
        turn& operator=(turn&&) = delete;
        ~turn() {
            if (of_) of_->give_back(account_);
        }

      private:
        turns* of_;
        account_id account_;
    };

    boost::asio::awaitable<turn> take(account_id account);

  private:
    struct waiter {
        account_id account;
        timer* woken_by = nullptr;
        bool has_turn = false;
    };

    bool may_begin(account_id account) const;
    void begin(account_id account) {
        ++under_way_;
        ++of_accounts_[account];
    }
    void give_back(account_id account);

    clock& clock_;
    const std::size_t at_once_;
    const std::size_t account_at_once_;
    std::size_t under_way_ = 0;
    std::unordered_map<account_id, std::size_t> of_accounts_;  // of those that have one
    std::list<waiter> waiting_;
};

}  // namespace callsign::api
