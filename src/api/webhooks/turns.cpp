#include "turns.hpp"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <chrono>

namespace callsign::api {

bool turns::may_begin(account_id account) const {
    const auto own = of_accounts_.find(account);
    return under_way_ < at_once_ && (own == of_accounts_.end() || own->second < account_at_once_);
}

boost::asio::awaitable<turns::turn> turns::take(account_id account) {
    if (may_begin(account)) {
        begin(account);
        co_return turn(*this, account);
    }
    const auto executor = co_await boost::asio::this_coro::executor;
    const auto woken = clock_.make_timer(executor);
    const auto me = waiting_.insert(waiting_.end(), {account, woken.get()});
    while (!me->has_turn) co_await woken->wait(std::chrono::hours{24});
    waiting_.erase(me);
    co_return turn(*this, account);
}

// Whoever waits longest among those whose account may begin one goes next.
void turns::give_back(account_id account) {
    --under_way_;
    const auto own = of_accounts_.find(account);
    if (--own->second == 0) of_accounts_.erase(own);
    const auto next = std::find_if(waiting_.begin(), waiting_.end(), [this](const waiter& w) {
        return !w.has_turn && may_begin(w.account);
    });
    if (next == waiting_.end()) return;
    next->has_turn = true;
    begin(next->account);
    next->woken_by->cancel();
}

}  // namespace callsign::api
