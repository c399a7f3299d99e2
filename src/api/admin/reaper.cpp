// Status and sweeps of the reaper.

#include "handlers.hpp"
#include "shared/answers.hpp"
#include "window_advice.hpp"

#include <callsign/domain/query.hpp>

#include <array>
#include <charconv>
#include <cmath>

namespace callsign::api {
namespace {

v1::SweepResult sweep_message(const sweep_result& swept) {
    v1::SweepResult message;
    message.set_scanned(swept.scanned);
    message.set_committed(swept.committed);
    message.set_failed(swept.failed);
    message.set_forgotten(swept.forgotten);
    message.set_scrubbed(swept.scrubbed);
    return message;
}

// Two digits after the point, whatever the locale.
std::string decimal_text(double value) {
    std::array<char, 400> digits;
    const auto made =
        std::to_chars(digits.begin(), digits.end(), value, std::chars_format::fixed, 2);
    return {digits.data(), made.ptr};
}

std::string readable(std::optional<milliseconds> span) {
    return span ? to_duration_text(rounded_up(*span)) : std::string();
}

v1::ReaperWindow window_message(account_class accounts, const window_status& w,
                                const auto_window_options& options) {
    v1::ReaperWindow message;
    message.set_accounts(std::string(to_string(accounts)));
    message.set_window(to_duration_text(w.choice.window));
    message.set_reason(std::string(to_string(w.choice.reason)));
    message.set_because(reason_text(w, options));
    message.set_wanted(to_duration_text(w.choice.wanted));
    message.set_samples(std::llround(w.samples));
    message.set_p50(readable(w.p50));
    message.set_p90(readable(w.p90));
    message.set_p99(readable(w.p99));
    message.set_failed(std::llround(w.failed));
    message.set_failed_retried(std::llround(w.late));
    message.set_changes(w.changes);
    if (w.changed_at) wire::set_timestamp(*message.mutable_changed_at(), *w.changed_at);
    for (const auto& [window, would_have] : w.others) {
        auto& other = *message.add_others();
        other.set_window(to_duration_text(window));
        other.set_failed_retried(std::llround(would_have.failed));
        other.set_pending(decimal_text(would_have.pending));
    }
    for (const auto& [retries, up_to] : w.retries) {
        auto& bucket = *message.add_retries();
        bucket.set_up_to(to_duration_text(up_to.window));
        bucket.set_retries(decimal_text(retries));
        bucket.set_failed_retried(std::llround(up_to.would_have.failed));
        bucket.set_pending(decimal_text(up_to.would_have.pending));
    }
    return message;
}

// A window without data is shown only for local accounts.
bool is_shown(account_class accounts, const window_status& w) {
    return accounts == account_class::local || w.samples > 0 || w.failed > 0;
}

v1::ReaperStatus reaper_message(const reaper_status& status,
                                const count_pending_slots::answer& pending,
                                std::int64_t late_retries, time_point now) {
    v1::ReaperStatus message;
    message.set_interval(to_duration_text(status.options.interval));
    message.set_window(to_duration_text(status.windows.local.choice.window));
    message.set_window_setting(status.options.window ? to_duration_text(*status.options.window)
                                                     : "auto");
    message.set_retention(to_duration_text(status.options.retention));
    message.set_account_grace(to_duration_text(status.options.account_grace));
    message.set_batch(status.options.batch);
    message.set_pending(pending.count);
    if (pending.oldest) wire::set_timestamp(*message.mutable_oldest_pending(), *pending.oldest);
    message.set_late_retries(late_retries);
    message.set_sweeps(status.sweeps);
    if (status.last_sweep) {
        wire::set_timestamp(*message.mutable_last_sweep(), *status.last_sweep);
        *message.mutable_last_result() = sweep_message(status.last_result);
    }
    const milliseconds age = pending.oldest ? now - *pending.oldest : milliseconds{0};
    message.set_advice(advise(status, age));
    if (status.clock_behind >= clock_behind_noticed) {
        message.set_clock_behind(to_duration_text(status.clock_behind));
    }
    for (const account_class c : account_classes) {
        if (!is_shown(c, status.windows[c])) continue;
        *message.add_windows() = window_message(c, status.windows[c], status.options.automatic);
    }
    return message;
}

}  // namespace

awaitable<http_response> get_reaper(admin_context& a, request_context& c) {
    const auto pending = co_await a.engine.ask(count_pending_slots{});
    if (!pending) co_return answer_error(c, pending.error());
    v1::ReaperStatus message =
        reaper_message(a.reaper.status(), *pending, a.late_retries, a.clock.now());
    const auto in_flight = co_await a.engine.ask(list_in_flight{});
    if (!in_flight) co_return answer_error(c, in_flight.error());
    for (const auto& [account, waiting] : *in_flight) {
        v1::InFlight& shown = *message.add_in_flight();
        shown.set_account(account);
        shown.set_creations(waiting.creations);
        wire::set_timestamp(*shown.mutable_oldest(), *waiting.oldest);
    }
    co_return answer_message(c, 200, message);
}

awaitable<http_response> post_sweep(admin_context& a, request_context& c) {
    note_action note{"swept"};
    actor by = c.by();
    const auto noted = co_await a.engine.submit(std::move(note), std::move(by));
    if (!noted) co_return answer_error(c, noted.error());
    const auto swept = co_await a.reaper.sweep_once();
    if (!swept) co_return answer_error(c, swept.error());
    co_return answer_message(c, 200, sweep_message(*swept));
}

}  // namespace callsign::api
