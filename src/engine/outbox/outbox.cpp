#include "replica.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <map>
#include <utility>

namespace callsign {

namespace asio = boost::asio;
using asio::awaitable;

class outbox::impl {
  public:
    impl(engine& engine, clock& clock, entropy& entropy, const asio::any_io_executor& network,
         outbox_options options, sink_maker make, outbox_probe& probe)
        : with_{engine,  clock,           entropy, network,
                options, std::move(make), probe,   permits(clock, {.at_once = options.at_once})},
          ended_(clock, network) {
        events_ = engine.events().subscribe([this](const event& e) { hear(e); });
    }

    void reload(outbox_options options) {
        with_.options = options;
        with_.active.limit(options.at_once);
        for (auto& [id, r] : replicas_) r->reload_limits();
    }

    awaitable<result<void>> start() {
        for (account_id after{};;) {
            list_remotes question{after};
            const auto some = co_await with_.engine.ask(question);
            if (!some) co_return some.error();
            for (const remote_chain& r : *some) begin(r.account);
            if (std::ssize(*some) < question.limit) co_return result<void>();
            after = some->back().account;
        }
    }

    void stop() {
        with_.stopped = true;
        for (auto& [id, r] : replicas_) r->stop();
        with_.active.stop();
    }

    awaitable<void> stopped() {
        co_await ended_.until([this] { return running_ == 0; });
    }

    bool is_remote(account_id account) const { return replicas_.contains(account); }

    awaitable<result<edit_task::answer>> edit(edit_task c) {
        using answered = result<edit_task::answer>;
        replica* const r = find(c.account);
        if (r == nullptr || with_.stopped) co_return answered(errc::remote_unavailable);
        if (!r->may_add()) co_return answered(errc::overloaded);
        const edit_ptr mine = r->add(std::move(c));
        if (mine == nullptr) co_return answered(errc::remote_unavailable);
        const auto* const given = co_await mine->answer.get(with_.engine.request_deadline());
        if (given != nullptr) co_return *given;
        mine->answer.set(errc::remote_unavailable);  // its caller no longer waits
        co_return answered(mine->is_sent ? errc::outcome_unknown : errc::remote_unavailable);
    }

    awaitable<bool> pull_now(account_id account) {
        return await_call(account, &replica::add_lookup);
    }
    awaitable<bool> push_now(account_id account) {
        return await_call(account, &replica::add_fence);
    }

    std::vector<account_id> accounts() const {
        std::vector<account_id> all;
        for (const auto& [id, r] : replicas_) all.push_back(id);
        return all;
    }

    std::optional<remote_status> status(account_id account) const {
        const auto found = replicas_.find(account);
        if (found == replicas_.end()) return std::nullopt;
        return found->second->status();
    }

    outbox_totals totals() const {
        outbox_totals all;
        const milliseconds now = with_.clock.elapsed();
        for (const auto& [id, r] : replicas_) {
            const remote_status& its = r->status();
            ++all.accounts;
            if (its.halted != remote_halt::none) ++all.halted;
            if (!its.last_error.empty()) ++all.failing;
            all.versions_pulled += its.pulled;
            const milliseconds since = std::max(r->up_to_date_at(), started_);
            all.lag = std::max(all.lag, now - since);
        }
        return all;
    }

    const outbox_options& options() const { return with_.options; }

  private:
    void hear(const event& e) {
        if (const auto* const waiting = std::get_if<events::effect_waiting>(&e)) {
            if (replica* const r = find(waiting->account)) r->effect_waits();
        } else if (const auto* const changed = std::get_if<events::remote_changed>(&e)) {
            if (replica* const r = find(changed->account)) {
                r->row_changed();
            } else {
                begin(changed->account);
            }
        } else if (std::holds_alternative<events::key_contested>(e)) {
            with_.probe.key_contested();
        }
    }

    replica* find(account_id account) {
        const auto found = replicas_.find(account);
        return found == replicas_.end() ? nullptr : found->second.get();
    }

    void begin(account_id account) {
        if (with_.stopped) return;
        replica& r =
            *replicas_.emplace(account, std::make_unique<replica>(account, with_)).first->second;
        ++running_;
        asio::co_spawn(with_.network, r.run(), [this, account](const std::exception_ptr& e) {
            --running_;
            ended_.notify();
            if (e) std::rethrow_exception(e);
            const auto its = replicas_.find(account);
            if (!its->second->is_gone()) return;
            const bool again = its->second->may_be_there_again();
            replicas_.erase(its);
            if (again) begin(account);
        });
    }

    awaitable<bool> await_call(account_id account, call_ptr (replica::*add)()) {
        replica* const r = find(account);
        const call_ptr mine = r ? (r->*add)() : nullptr;
        if (mine == nullptr) co_return false;
        const bool* const outcome = co_await mine->outcome.get(with_.engine.request_deadline());
        if (outcome != nullptr) co_return *outcome;
        if (replica* const there = find(account)) there->drop(mine);
        co_return false;
    }

    outbox_context with_;
    hub::subscription events_;
    milliseconds started_ = with_.clock.elapsed();
    std::map<account_id, std::unique_ptr<replica>> replicas_;
    int running_ = 0;
    wakeup ended_;  // a coroutine has
};

outbox::outbox(engine& engine, clock& clock, entropy& entropy, const asio::any_io_executor& network,
               outbox_options options, sink_maker make, outbox_probe& probe)
    : impl_(std::make_unique<impl>(engine, clock, entropy, network, options, std::move(make),
                                   probe)) {}

outbox::~outbox() = default;

void outbox::reload(outbox_options options) {
    impl_->reload(options);
}

awaitable<result<void>> outbox::start() {
    return impl_->start();
}

void outbox::stop() {
    impl_->stop();
}

awaitable<void> outbox::stopped() {
    return impl_->stopped();
}

bool outbox::is_remote(account_id account) const {
    return impl_->is_remote(account);
}

awaitable<result<edit_task::answer>> outbox::edit(edit_task c) {
    return impl_->edit(std::move(c));
}

awaitable<bool> outbox::pull_now(account_id account) {
    return impl_->pull_now(account);
}

awaitable<bool> outbox::push_now(account_id account) {
    return impl_->push_now(account);
}

std::vector<account_id> outbox::accounts() const {
    return impl_->accounts();
}

std::optional<remote_status> outbox::status(account_id account) const {
    return impl_->status(account);
}

outbox_totals outbox::totals() const {
    return impl_->totals();
}

const outbox_options& outbox::options() const noexcept {
    return impl_->options();
}

}  // namespace callsign
