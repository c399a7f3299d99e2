#include "replica.hpp"

#include <callsign/base/assert.hpp>

#include <algorithm>
#include <utility>

namespace callsign {

using boost::asio::awaitable;
using event_kind = outbox_event::kind;

namespace {

// Not while something pulled or sent is being processed, nor before a step that may end in a
// pause: the pause ends at once if the row has changed, and only then is the row read.
bool may_reload(event_kind came) {
    return came == event_kind::rested || came == event_kind::moved || came == event_kind::settled ||
           came == event_kind::applied;
}

}  // namespace

outbox_limits limits_of(const outbox_options& options) {
    return {.poll_interval = options.poll_interval,
            .retry_min = options.retry_min,
            .retry_max = options.retry_max,
            .effects_max = options.effects_max};
}

void answer_calls(std::vector<call_ptr>& calls, bool outcome) {
    for (const call_ptr& each : std::exchange(calls, {})) each->outcome.set(outcome);
}

replica::replica(account_id account, outbox_context& with)
    : with_(with), machine_(limits_of(with.options)), changed_(with.clock, with.network) {
    remote_.account = account;
}

// ---- for others ----

void replica::effect_waits() {
    has_effects_ = true;
    wake();
}

void replica::row_changed() {
    is_stale_ = true;
    wake();
}

void replica::reload_limits() {
    machine_.reload(limits_of(with_.options));
    wake();
}

void replica::stop() {
    wake();
    if (sink_) sink_->cancel();
}

edit_ptr replica::add(edit_task wanted) {
    if (with_.stopped || status_.halted != remote_halt::none) return nullptr;
    edits_.push_back(std::make_shared<waiting_edit>(std::move(wanted), asked_, with_));
    wake();
    return edits_.back();
}

call_ptr replica::add_to(std::vector<call_ptr>& calls) {
    if (with_.stopped || status_.halted != remote_halt::none) return nullptr;
    calls.push_back(std::make_shared<waiting_call>(asked_, with_));
    wake();
    return calls.back();
}

void replica::drop(const call_ptr& call) {
    std::erase(lookups_, call);
    std::erase(fences_, call);
}

// ---- steps ----

awaitable<void> replica::run() {
    outbox_event came{.what = event_kind::rested};
    while (!with_.stopped && !is_gone_) {
        if (is_stale_ && may_reload(came.what)) {
            co_await reload();
            continue;
        }
        came.verify_due = is_verify_due();
        came.has_work = has_work();
        came.pull_first = needs_pull();
        const outbox_action next = machine_.resume(came, draw_byte(with_.entropy));
        if (next.step == outbox_step::rest) note_doubt(came.what);
        const bool idles = next.step == outbox_step::rest || next.step == outbox_step::halt;
        if (idles) permit_ = {};
        if (!idles) co_await take_permit();
        if (with_.stopped) break;
        came = co_await perform(next);
    }
    permit_ = {};
    end();
}

// Fails all that still waits for the account.
void replica::end() {
    for (const edit_ptr& e : edits_) e->answer.set(errc::remote_unavailable);
    if (sent_) drop_sent(errc::outcome_unknown);
    answer_calls(lookups_, false);
    answer_calls(fences_, false);
}

awaitable<outbox_event> replica::perform(outbox_action next) {
    switch (next.step) {
    case outbox_step::verify: return verify();
    case outbox_step::pull: return pull();
    case outbox_step::apply: return apply();
    case outbox_step::restart: return restart();
    case outbox_step::take: return take();
    case outbox_step::send: return send(false);
    case outbox_step::resend: return send(true);
    case outbox_step::settle: return settle();
    case outbox_step::disband: return disband();
    case outbox_step::give_up: return give_up();
    case outbox_step::rest: return rest(next);
    case outbox_step::halt: return halt(next.why);
    }
    CALLSIGN_ASSERT(!"a step that there is not");
}

// Reads the account's row again, and opens its sink.
awaitable<void> replica::reload() {
    const auto looked = changed_.now();
    is_stale_ = false;
    callsign::find_remote question{remote_.account};
    auto read = co_await with_.engine.ask(question);
    if (!read) {
        is_stale_ = true;
        fail_calls(read.error().message());
        co_await changed_.wait(looked, with_.options.retry_min);
        co_return;
    }
    if (!*read) {
        is_gone_ = true;
        co_return;
    }
    const remote_chain& now = (*read)->remote;
    if (sent_ && sent_->parent != now.cursor) drop_sent(errc::outcome_unknown);
    remote_ = now;
    status_.halted = now.halted;
    child_.reset();
    from_beginning_ = false;
    verified_at_.reset();
    sink_ = with_.make(now);
    tell_state(now.halted == remote_halt::none ? remote_status::state::starting
                                               : remote_status::state::halted);
}

awaitable<void> replica::take_permit() {
    if (!permit_) permit_ = co_await with_.active.take(remote_.account);
}

bool replica::is_verify_due() const {
    if (remote_.before.is_nil() || !remote_.partial.is_nil()) return false;
    return !verified_at_ || with_.clock.elapsed() - *verified_at_ >= with_.options.verify_interval;
}

bool replica::has_work() const {
    return has_effects_ || !edits_.empty() || !fences_.empty();
}

// An edit's result depends on what the remote has after the edit was requested.
bool replica::needs_pull() const {
    return std::ranges::any_of(edits_, [&](const edit_ptr& e) { return e->asked >= confirmed_; });
}

// ---- rest ----

awaitable<outbox_event> replica::rest(outbox_action next) {
    const milliseconds until = with_.clock.elapsed() + next.pause;
    for (milliseconds left = next.pause; left > milliseconds{0} && !with_.stopped && !is_stale_;
         left = std::min(until - with_.clock.elapsed(), with_.options.retry_max)) {
        const bool has_changed = co_await changed_.wait(seen_, left);
        seen_ = changed_.now();
        if (!has_changed || !next.is_patient) break;
    }
    co_return outbox_event{.what = event_kind::rested};
}

awaitable<outbox_event> replica::halt(remote_halt why) {
    if (remote_.halted == remote_halt::none) {
        halt_remote command{remote_.account, why, remote_};
        const auto done = co_await with_.engine.submit(std::move(command));
        if (!done) co_return failed(done.error());
        if (!std::holds_alternative<remote_chain>(*done)) {
            is_stale_ = true;
            co_return outbox_event{.what = event_kind::rested};
        }
    }
    permit_ = {};
    remote_.halted = status_.halted = why;
    fail_calls("The remote account is halted: " + std::string(to_string(why)) + ".");
    tell_state(remote_status::state::halted);
    while (!with_.stopped && remote_.halted != remote_halt::none) {
        const auto looked = changed_.now();
        // The event of the halt itself is handled here, too.
        if (is_stale_) co_await reload();
        if (is_gone_) break;
        if (is_stale_) continue;  // it could not be read, or has changed again
        if (remote_.halted == remote_halt::none) break;
        for (const edit_ptr& e : std::exchange(edits_, {})) {
            e->answer.set(errc::remote_unavailable);
        }
        fail_calls(status_.last_error);
        co_await changed_.wait(looked, longest_wait);
    }
    co_return outbox_event{.what = event_kind::rested};
}

// ---- results of steps ----

outbox_event replica::moved() {
    is_stale_ = true;
    return outbox_event{.what = event_kind::moved};
}

outbox_event replica::failed(const boost::system::error_code& error) {
    return failed({sink_failure::kind::busy, "Local error: " + error.message() + ".", {}});
}

outbox_event replica::too_large(const task_too_large& grown) {
    return failed({sink_failure::kind::unreadable,
                   "Task " + to_string(grown.task) + " is larger than this server's limit.",
                   {}});
}

outbox_event replica::failed(const sink_failure& failure) {
    fail_calls(failure.text);
    tell_state(remote_status::state::waiting);
    return {.what = event_kind::failed, .failure = failure.why, .retry_in = failure.retry_in};
}

// The remote reports what would halt the account, and is not believed yet.
void replica::note_doubt(event_kind said) {
    if (said == event_kind::diverged) {
        status_.last_error = "The remote server reports missing versions; rechecking.";
    } else if (said == event_kind::incomplete) {
        status_.last_error =
            "The remote server reports an incomplete history without a snapshot; rechecking.";
    } else {
        return;
    }
    status_.last_error_at = with_.clock.now();
    tell_state(remote_status::state::waiting);
}

void replica::fail_calls(const std::string& why) {
    status_.last_error = why;
    status_.last_error_at = with_.clock.now();
    answer_calls(lookups_, false);
    answer_calls(fences_, false);
}

void replica::tell_state(remote_status::state now) {
    status_.now = now;
    with_.probe.state_changed(remote_.account, status_);
}

}  // namespace callsign
