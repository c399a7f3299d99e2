// Slots of all accounts, and what the reaper does with them.

#include "answers.hpp"
#include "handlers.hpp"

#include <callsign/domain/query.hpp>

namespace callsign::api {
namespace {

callsign::list_slots read_filter(const request_context& c, wire::faults& found) {
    const query asked(c.request.query(), {"state", "account", "pageSize", "pageToken"}, found);
    callsign::list_slots filter;
    filter.page = read_page(asked, found);
    if (const auto name = asked.get("account"); !name.empty()) filter.account = name;
    if (const auto text = asked.get("state"); !text.empty()) {
        filter.state = parse_slot_state(text);
        if (!filter.state) {
            found.push_back(
                {"state", "invalid", "A state is pending, in_flight, committed or failed."});
        }
    }
    return filter;
}

// What an operator sees of a slot beyond what its owner does.
v1::Slot to_message(const listed_slot& row) {
    v1::Slot message = wire::to_message(row.slot, row.receipt);
    message.set_account(row.account);
    message.set_idempotency_key(row.slot.key);
    if (row.slot.settled_at)
        wire::set_timestamp(*message.mutable_settled_at(), *row.slot.settled_at);
    return message;
}

// ---- the reaper ----

v1::SweepResult to_message(const sweep_result& swept) {
    v1::SweepResult message;
    message.set_scanned(swept.scanned);
    message.set_committed(swept.committed);
    message.set_failed(swept.failed);
    message.set_forgotten(swept.forgotten);
    return message;
}

// Which way to turn the window. Too short shows as retries that came too late; too long as slots
// that wait for nobody; a slot past the window means that sweeps do not keep up.
std::string advise(const reaper_options& options, std::int64_t late_retries,
                   milliseconds oldest_age) {
    const std::string window = "reaper.window (" + to_duration_text(options.window) + ")";
    if (late_retries > 0) {
        return std::to_string(late_retries) + (late_retries == 1 ? " retry" : " retries") +
               " came after the slot had been failed: lengthen " + window + ".";
    }
    if (oldest_age > options.window + 3 * options.interval) {
        return "A slot is pending longer than " + window +
               " allows: sweeps do not keep up; shorten reaper.interval or enlarge reaper.batch.";
    }
    constexpr milliseconds patience = std::chrono::minutes{1};
    if (oldest_age > std::max(options.window / 2, patience)) {
        return "Slots wait long for clients that do not come back, and no retry came late: " +
               window + " may be shorter.";
    }
    return "Nothing to change: no retry came too late, and no slot waits long.";
}

v1::ReaperStatus describe(const reaper_status& status, const count_pending_slots::answer& pending,
                          std::int64_t late_retries, time_point now) {
    v1::ReaperStatus message;
    message.set_interval(to_duration_text(status.options.interval));
    message.set_window(to_duration_text(status.options.window));
    message.set_retention(to_duration_text(status.options.retention));
    message.set_batch(status.options.batch);
    message.set_pending(pending.count);
    if (pending.oldest) wire::set_timestamp(*message.mutable_oldest_pending(), *pending.oldest);
    message.set_late_retries(late_retries);
    message.set_sweeps(status.sweeps);
    if (status.last_sweep) {
        wire::set_timestamp(*message.mutable_last_sweep(), *status.last_sweep);
        *message.mutable_last_result() = to_message(status.last_result);
    }
    const milliseconds age = pending.oldest ? now - *pending.oldest : milliseconds{0};
    message.set_advice(advise(status.options, late_retries, age));
    if (status.clock_behind >= clock_behind_noticed) {
        message.set_clock_behind(to_duration_text(status.clock_behind));
    }
    return message;
}

}  // namespace

awaitable<http_response> list_slots(admin_context& a, request_context& c) {
    wire::faults wrong;
    callsign::list_slots question = read_filter(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    const auto found = co_await a.engine.ask(std::move(question));
    if (!found) co_return answer_error(c, found.error());
    if (!*found) co_return answer_no_account(c);
    v1::SlotList message;
    message.set_next_page_token(next_page_token(**found));
    for (const listed_slot& row : (*found)->rows) *message.add_slots() = to_message(row);
    co_return answer_message(c, 200, message);
}

awaitable<http_response> show_reaper(admin_context& a, request_context& c) {
    const auto pending = co_await a.engine.ask(count_pending_slots{});
    if (!pending) co_return answer_error(c, pending.error());
    co_return answer_message(c, 200,
                             describe(a.reaper.status(), *pending, a.late_retries, a.clock.now()));
}

awaitable<http_response> sweep_now(admin_context& a, request_context& c) {
    const auto swept = co_await a.reaper.sweep_once();
    if (!swept) co_return answer_error(c, swept.error());
    co_return answer_message(c, 200, to_message(*swept));
}

}  // namespace callsign::api
