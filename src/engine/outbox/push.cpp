// Sending what waits in the outbox, and settling its outcome.

#include "replica.hpp"

#include <algorithm>
#include <utility>

namespace callsign {

using boost::asio::awaitable;
using event_kind = outbox_event::kind;

namespace {

// Edits in one version; further ones wait for the next.
constexpr std::size_t edits_at_once_max = 128;

}  // namespace

awaitable<outbox_event> replica::take() {
    std::vector<edit_ptr> ready;
    std::erase_if(edits_, [](const edit_ptr& e) { return e->answer.is_set(); });
    for (const edit_ptr& e : edits_) {
        if (ready.size() < edits_at_once_max && e->asked < confirmed_) {
            ready.push_back(e);
        }
    }
    take_delivery command{.account = remote_.account,
                          .effects_max = machine_.effects_max(),
                          .forestalled = std::exchange(forestalled_, {}),
                          .attempts_max = with_.options.attempts_max};
    for (const edit_ptr& e : ready) command.edits.push_back(e->command);
    has_effects_ = false;
    auto done = co_await with_.engine.submit(std::move(command));
    if (!done) {
        has_effects_ = true;
        co_return failed(done.error());
    }
    if (std::holds_alternative<no_remote>(*done) || std::holds_alternative<remote_halted>(*done)) {
        co_return moved();
    }
    auto& taken = std::get<take_delivery::taken>(*done);
    if (taken.parent != remote_.cursor) co_return moved();
    has_effects_ = has_effects_ || taken.has_more;
    for (auto& [i, rejection] : taken.answered) ready[i]->answer.set(std::move(rejection));
    const bool is_fence = !fences_.empty();
    const bool is_nothing = taken.parts.empty() && !is_fence;
    if (!is_nothing) {
        for (const delivery_part& part : taken.parts) {
            if (part.edit) ready[*part.edit]->is_sent = true;
        }
        sent_ = sent_version{taken.parent, std::move(taken.operations), std::move(taken.parts),
                             std::move(ready), is_fence};
    }
    std::erase_if(edits_, [](const edit_ptr& e) { return e->answer.is_set() || e->is_sent; });
    if (is_nothing) co_return outbox_event{.what = event_kind::nothing};
    const bool is_single = sent_->parts.size() == 1 && sent_->parts.front().effect;
    co_return outbox_event{.what = event_kind::taken, .is_single = is_single};
}

awaitable<outbox_event> replica::send(bool again) {
    tell_state(remote_status::state::sending);
    if (again && !sent_) co_return moved();
    const milliseconds asked = with_.clock.elapsed();
    const std::uint64_t question = ++asked_;
    std::vector<operation> copy = sent_->operations;
    auto outcome = co_await sink_->add_version(sent_->parent, std::move(copy));
    if (const auto* const accepted = std::get_if<sink_accepted>(&outcome)) {
        with_.probe.delivered(outbox_probe::delivery::accepted);
        accepted_ = accepted->version;
        up_to_date_at_ = std::max(up_to_date_at_, asked);
        confirmed_ = std::max(confirmed_, question);
        co_return outbox_event{.what = event_kind::accepted};
    }
    if (std::holds_alternative<sink_conflict>(outcome)) {
        with_.probe.delivered(outbox_probe::delivery::conflict);
        co_return outbox_event{.what = event_kind::conflict};
    }
    const auto& failure = std::get<sink_failure>(outcome);
    using failed_as = sink_failure::kind;
    using outcome_of = outbox_probe::delivery;
    with_.probe.delivered(failure.why == failed_as::rejected      ? outcome_of::rejected
                          : failure.why == failed_as::unreachable ? outcome_of::unreachable
                                                                  : outcome_of::lost);
    co_return failed(failure);
}

awaitable<outbox_event> replica::settle() {
    callsign::settle command{remote_.account, sent_->parent, accepted_, sent_->operations,
                             sent_->parts};
    auto done = co_await with_.engine.submit(std::move(command));
    if (!done) co_return failed(done.error());
    auto* const settled = std::get_if<callsign::settle::settled>(&*done);
    if (settled == nullptr) co_return moved();
    const sent_version sent = std::move(*sent_);
    sent_.reset();
    come_to(accepted_);
    auto edited = settled->edited.begin();
    for (const delivery_part& part : sent.parts) {
        if (!part.edit) continue;
        const edit_ptr& e = sent.edits[*part.edit];
        task now = std::move(*edited++);
        if (size_of(now.attributes) > e->command.shown_bytes_max) now.attributes = attributes();
        e->answer.set(edit_task::answer(edit_task::edited{std::move(now)}));
    }
    if (sent.is_fence) {
        with_.probe.fenced();
        answer_calls(fences_, true);
    }
    co_return outbox_event{.what = event_kind::settled};
}

awaitable<outbox_event> replica::disband() {
    // If it is unknown whether a copy will arrive, callers get outcome_unknown.
    if (sent_)
        drop_sent(machine_.is_uncertain() ? errc::outcome_unknown : errc::remote_unavailable);
    has_effects_ = true;
    co_return outbox_event{.what = event_kind::disbanded};
}

awaitable<outbox_event> replica::give_up() {
    const auto effect = sent_->parts.front().effect;
    sent_.reset();
    suspend_effect command{remote_.account, *effect, with_.options.attempts_max};
    const auto done = co_await with_.engine.submit(command);
    if (!done) co_return failed(done.error());
    has_effects_ = true;
    co_return outbox_event{.what = event_kind::disbanded};
}

// Creations and keys of it remain in the outbox.
void replica::drop_sent(errc why) {
    for (const delivery_part& part : sent_->parts) {
        if (part.edit) sent_->edits[*part.edit]->answer.set(why);
    }
    sent_.reset();
    has_effects_ = true;
}

}  // namespace callsign
