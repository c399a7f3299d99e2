#include "replica.hpp"

#include <callsign/domain/work.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace callsign {

using boost::asio::awaitable;
using event_kind = outbox_event::kind;

namespace {

bool contains(const std::vector<operation>& all, std::span<const operation> some) {
    return std::ranges::all_of(
        some, [&](const operation& o) { return std::ranges::find(all, o) != all.end(); });
}

}  // namespace

awaitable<outbox_event> replica::verify() {
    auto found = co_await sink_->get_child(remote_.before);
    if (auto* const failure = std::get_if<sink_failure>(&found)) co_return failed(*failure);
    const auto* const child = std::get_if<sink_child>(&found);
    // The version before may have been deleted, as some servers do with old ones: then pull()
    // decides, by the cursor.
    const bool is_kept =
        std::holds_alternative<sink_gone>(found) || (child && child->version == remote_.cursor);
    if (is_kept) verified_at_ = with_.clock.elapsed();
    co_return outbox_event{.what = is_kept ? event_kind::confirmed : event_kind::diverged};
}

awaitable<outbox_event> replica::pull() {
    if (remote_.halted != remote_halt::none) co_return co_await halt(remote_.halted);
    if (!sink_) {
        sink_failure none{
            sink_failure::kind::wrong_secret,
            "The master key is missing or wrong: the account's secret cannot be decrypted.",
            {}};
        co_return failed(none);
    }
    const bool is_first = remote_.cursor.is_nil() && remote_.partial.is_nil();
    const bool is_known = from_beginning_ || remote_.moving;
    if (is_first && !is_known) co_return outbox_event{.what = event_kind::gone};
    if (machine_.is_uncertain()) with_.probe.looked_up();
    const milliseconds asked = with_.clock.elapsed();
    const std::uint64_t question = ++asked_;
    auto found = co_await sink_->get_child(remote_.cursor);
    if (auto* const failure = std::get_if<sink_failure>(&found)) co_return failed(*failure);
    if (std::holds_alternative<sink_gone>(found)) {
        co_return outbox_event{.what = event_kind::gone};
    }
    if (std::holds_alternative<sink_up_to_date>(found)) {
        if (!remote_.partial.is_nil()) {
            co_return outbox_event{.what = event_kind::gone};  // the remote lost that version
        }
        up_to_date(asked, question);
        co_return outbox_event{.what = event_kind::up_to_date};
    }
    auto& child = std::get<sink_child>(found);
    if (!remote_.partial.is_nil() && remote_.partial != child.version) {
        co_return outbox_event{.what = event_kind::gone};
    }
    if (is_ours(child)) {
        with_.probe.delivered(outbox_probe::delivery::found);
        accepted_ = child.version;
        co_return outbox_event{.what = event_kind::own_child};
    }
    with_.probe.version_pulled();
    ++status_.pulled;
    if (status_.pulled % versions_between_reports == 0) {
        with_.probe.progressed(remote_.account, status_.pulled);
    }
    tell_state(remote_status::state::pulling);
    child_taken_ = static_cast<std::size_t>(remote_.partial_operations);
    if (child_taken_ > child.operations.size()) {
        co_return outbox_event{.what = event_kind::gone};
    }
    child_ = std::move(child);
    co_return outbox_event{.what = event_kind::child};
}

bool replica::is_ours(const sink_child& child) const {
    return sent_ && remote_.partial.is_nil() && sent_->parent == remote_.cursor &&
           sent_->operations == child.operations;
}

awaitable<outbox_event> replica::apply() {
    sink_child& child = *child_;
    const auto rest = std::span(child.operations).subspan(child_taken_);
    const auto some = rest.first(step_of(rest));
    apply_remote_version command{.account = remote_.account,
                                 .parent = remote_.cursor,
                                 .version = child.version,
                                 .operations = {some.begin(), some.end()},
                                 .before = static_cast<std::int64_t>(child_taken_),
                                 .is_end = some.size() == rest.size()};
    const auto done = co_await with_.engine.submit(std::move(command));
    if (!done) co_return failed(done.error());
    if (const auto* const grown = std::get_if<task_too_large>(&*done)) {
        co_return too_large(*grown);
    }
    const auto* const part = std::get_if<apply_remote_version::applied>(&*done);
    if (part == nullptr) co_return moved();
    child_taken_ += part->taken;
    if (child_taken_ < child.operations.size()) {
        remote_.partial = child.version;
        remote_.partial_operations = static_cast<std::int64_t>(child_taken_);
        co_return outbox_event{.what = event_kind::applied_part};
    }
    const sink_child whole = std::move(child);
    child_.reset();
    if (sent_) co_await resolve_sent(whole);
    come_to(whole.version);
    co_return outbox_event{.what = event_kind::applied};
}

// Another version is the child of the parent of ours. A server that rebases stale versions may
// have included operations of ours in it; the rest is taken again.
awaitable<void> replica::resolve_sent(const sink_child& whole) {
    sent_version sent = std::move(*sent_);
    sent_.reset();
    std::span<const operation> rest = sent.operations;
    for (const delivery_part& part : sent.parts) {
        const auto own = rest.first(part.operations);
        rest = rest.subspan(part.operations);
        if (part.effect) forestalled_.push_back(*part.effect);
        if (!part.edit) continue;
        const edit_ptr& e = sent.edits[*part.edit];
        if (e->answer.is_set()) continue;
        if (!contains(whole.operations, own)) {
            e->is_sent = false;
            edits_.push_front(e);
            continue;
        }
        callsign::find_task question{remote_.account, own.front().uuid};
        auto found = co_await with_.engine.ask(std::move(question));
        auto* const now = found ? std::get_if<task>(&*found) : nullptr;
        if (now != nullptr) {
            e->answer.set(edit_task::answer(edit_task::edited{std::move(*now)}));
        } else {
            e->answer.set(errc::outcome_unknown);
        }
    }
    has_effects_ = true;
}

void replica::come_to(const uuid& version) {
    remote_.before = std::exchange(remote_.cursor, version);
    remote_.partial = {};
    remote_.partial_operations = 0;
    if (!verified_at_) verified_at_ = with_.clock.elapsed();
}

void replica::up_to_date(milliseconds asked, std::uint64_t question) {
    confirmed_ = std::max(confirmed_, question);
    up_to_date_at_ = std::max(up_to_date_at_, asked);
    status_.up_to_date_at = with_.clock.now();
    status_.pulled = 0;
    status_.last_error.clear();
    tell_state(remote_status::state::up_to_date);
    std::erase_if(lookups_, [&](const call_ptr& c) {
        if (c->asked >= question) return false;
        c->outcome.set(true);
        return true;
    });
}

}  // namespace callsign
