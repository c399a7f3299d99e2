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
    };

    std::size_t of(account_id account) const {
        const auto own = of_accounts.find(account);
        return own == of_accounts.end() ? 0 : own->second;
    }
    bool may_begin(account_id account) const {
        return under_way < at_once && of(account) < account_at_once;
    }
    void begin(account_id account) {
        ++under_way;
        ++of_accounts[account];
    }
    void give_back(account_id account) {
        --under_way;
        const auto own = of_accounts.find(account);
        if (--own->second == 0) of_accounts.erase(own);
        auto next = waiting.end();
        for (auto at = waiting.begin(); at != waiting.end(); ++at) {
            if (at->has_turn || !may_begin(at->account)) continue;
            if (next == waiting.end() || of(at->account) < of(next->account)) next = at;
        }
        if (next == waiting.end()) return;
        next->has_turn = true;
        begin(next->account);
        next->woken_by->cancel();
    }

    const std::size_t at_once;
    const std::size_t account_at_once;
    std::size_t under_way = 0;
    std::unordered_map<account_id, std::size_t> of_accounts{};  // of those that have one
    std::list<waiter> waiting{};
};

turns::turns(clock& clock, std::size_t at_once, std::size_t account_at_once)
    : clock_(clock), state_(std::make_shared<state>(at_once, account_at_once)) {}

turns::turn::~turn() {
    if (of_) of_->give_back(account_);
}

boost::asio::awaitable<turns::turn> turns::take(account_id account) {
    const std::shared_ptr<state> all = state_;
    if (all->may_begin(account)) {
        all->begin(account);
        co_return turn(all, account);
    }
    const auto executor = co_await boost::asio::this_coro::executor;
    const auto woken = clock_.make_timer(executor);
    const auto me = all->waiting.insert(all->waiting.end(), {account, woken.get()});
    while (!me->has_turn) co_await woken->wait(std::chrono::hours{24});
    all->waiting.erase(me);
    co_return turn(all, account);
}

}  // namespace callsign::api
