#include <callsign/engine/permits.hpp>

#include <boost/asio/this_coro.hpp>
#include <list>
#include <unordered_map>

namespace callsign {

struct permits::state {
    struct waiter {
        payer who;
        wakeup changed;
        bool has_permit = false;
        bool is_slow = false;  // when it got its permit
    };

    std::size_t of(payer who) const {
        const auto own = of_payers.find(who);
        return own == of_payers.end() ? 0 : own->second;
    }
    bool is_slow(payer who) const { return slow_since.contains(who); }
    bool may_begin(payer who) const {
        return in_use < limits.at_once && of(who) < limits.payer_at_once &&
               (!is_slow(who) || slow_in_use < limits.slow_at_once);
    }
    // Returns whether the permit counts as slow.
    bool begin(payer who) {
        const bool slow = is_slow(who);
        ++in_use;
        ++of_payers[who];
        if (slow) ++slow_in_use;
        return slow;
    }
    void give_back(payer who, bool slow) {
        --in_use;
        if (slow) --slow_in_use;
        const auto own = of_payers.find(who);
        if (--own->second == 0) of_payers.erase(own);
        wake_all();
    }
    // More than one, if there are more permits, or a payer is no longer slow.
    void wake_all() {
        while (wake_next()) {
        }
    }
    bool wake_next() {
        auto next = waiting.end();
        for (auto at = waiting.begin(); at != waiting.end(); ++at) {
            if (at->has_permit || !may_begin(at->who)) continue;
            if (next == waiting.end() || of(at->who) < of(next->who)) next = at;
        }
        if (next == waiting.end()) return false;
        next->has_permit = true;
        next->is_slow = begin(next->who);
        next->changed.notify();
        return true;
    }

    permit_limits limits;
    bool stopped = false;
    std::size_t in_use = 0;
    std::size_t slow_in_use = 0;
    std::unordered_map<payer, std::size_t> of_payers{};    // if any
    std::unordered_map<payer, milliseconds> slow_since{};  // end of the last long permit
    std::list<waiter> waiting{};
};

permits::permits(clock& clock, const permit_limits& limits)
    : clock_(clock), state_(std::make_shared<state>(state{limits})) {}

permits::permit::~permit() {
    if (of_) of_->give_back(who_, is_slow_);
}

boost::asio::awaitable<permits::permit> permits::take(payer who, milliseconds timeout) {
    const std::shared_ptr<state> all = state_;
    if (all->stopped) co_return permit();
    if (all->may_begin(who)) {
        const bool slow = all->begin(who);
        co_return permit(all, who, slow);
    }
    const auto executor = co_await boost::asio::this_coro::executor;
    const auto me = all->waiting.insert(all->waiting.end(), {who, wakeup(clock_, executor)});
    // Runs also if this frame is destroyed.
    const std::shared_ptr<void> afterwards(nullptr, [&](void*) {
        if (me->has_permit) all->give_back(me->who, me->is_slow);
        all->waiting.erase(me);
    });
    co_await me->changed.until([&] { return me->has_permit || all->stopped; }, timeout);
    if (!std::exchange(me->has_permit, false)) co_return permit();
    co_return permit(all, who, me->is_slow);
}

void permits::report_span(payer who, milliseconds span) {
    const milliseconds now = clock_.elapsed();
    const permit_limits& o = state_->limits;
    if (span > o.slow_span) {
        state_->slow_since[who] = now;
        return;
    }
    const auto since = state_->slow_since.find(who);
    if (since != state_->slow_since.end() && now - since->second >= o.slow_for) {
        state_->slow_since.erase(since);
    }
}

void permits::limit(std::size_t at_once) {
    state_->limits.at_once = at_once;
    state_->wake_all();
}

void permits::stop() {
    state_->stopped = true;
    for (state::waiter& each : state_->waiting) each.changed.notify();
}

}  // namespace callsign
