#include "turns.hpp"

#include <boost/asio/this_coro.hpp>
#include <chrono>
#include <list>
#include <unordered_map>

namespace callsign::api {

struct turns::state {
    struct waiter {
        account_id account;
        timer* woken_by = nullptr;
        bool has_turn = false;
        bool is_slow = false;  // when it got its turn
    };

    std::size_t of(account_id account) const {
        const auto own = of_accounts.find(account);
        return own == of_accounts.end() ? 0 : own->second;
    }
    bool is_slow(account_id account) const { return slow_since.contains(account); }
    bool may_begin(account_id account) const {
        return under_way < options.at_once && of(account) < options.account_at_once &&
               (!is_slow(account) || slow_under_way < options.slow_at_once);
    }
    // Returns whether the turn counts as slow.
    bool begin(account_id account) {
        const bool slow = is_slow(account);
        ++under_way;
        ++of_accounts[account];
        if (slow) ++slow_under_way;
        return slow;
    }
    void give_back(account_id account, bool slow) {
        --under_way;
        if (slow) --slow_under_way;
        const auto own = of_accounts.find(account);
        if (--own->second == 0) of_accounts.erase(own);
        // More than one, if the account is no longer slow.
        while (wake_next()) {
        }
    }
    bool wake_next() {
        auto next = waiting.end();
        for (auto at = waiting.begin(); at != waiting.end(); ++at) {
            if (at->has_turn || !may_begin(at->account)) continue;
            if (next == waiting.end() || of(at->account) < of(next->account)) next = at;
        }
        if (next == waiting.end()) return false;
        next->has_turn = true;
        next->is_slow = begin(next->account);
        next->woken_by->cancel();
        return true;
    }

    const turns_options options;
    std::size_t under_way = 0;
    std::size_t slow_under_way = 0;
    std::unordered_map<account_id, std::size_t> of_accounts{};  // turns per account, if any
    std::unordered_map<account_id, milliseconds> slow_since{};  // end of the last long turn
    std::list<waiter> waiting{};
};

turns::turns(clock& clock, turns_options options)
    : clock_(clock), state_(std::make_shared<state>(state{options})) {}

turns::turn::~turn() {
    if (of_) of_->give_back(account_, is_slow_);
}

boost::asio::awaitable<turns::turn> turns::take(account_id account) {
    const std::shared_ptr<state> all = state_;
    if (all->may_begin(account)) {
        const bool slow = all->begin(account);
        co_return turn(all, account, slow);
    }
    const auto executor = co_await boost::asio::this_coro::executor;
    const auto woken = clock_.make_timer(executor);
    const auto me = all->waiting.insert(all->waiting.end(), {account, woken.get()});
    // Runs also if this frame is destroyed.
    const std::shared_ptr<void> afterwards(nullptr, [&](void*) { all->waiting.erase(me); });
    while (!me->has_turn) co_await woken->wait(std::chrono::hours{24});
    co_return turn(all, account, me->is_slow);
}

void turns::took(account_id account, milliseconds span) {
    const milliseconds now = clock_.elapsed();
    const turns_options& o = state_->options;
    if (span > o.slow_turn) {
        state_->slow_since[account] = now;
        return;
    }
    const auto since = state_->slow_since.find(account);
    if (since != state_->slow_since.end() && now - since->second >= o.slow_for) {
        state_->slow_since.erase(since);
    }
}

}  // namespace callsign::api
