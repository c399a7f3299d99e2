#include "handlers.hpp"
#include "sync/known_clients.hpp"

#include <unordered_map>

namespace callsign::api {
namespace {

// ---- accounts ----

v1::CreateAccount read_account(const call& c, wire::faults& found) {
    v1::CreateAccount message;
    if (!read_body(c, message, found)) return message;
    if (message.name().empty()) {
        add_fault(found, {"name", "required", "An account has a name."});
    } else if (!is_valid_name(message.name())) {
        add_fault(found, {"name", "malformed",
                          "A name is up to 63 letters, digits, dots, hyphens and underscores, a "
                          "letter or digit first."});
    }
    if (message.prefix().empty()) {
        add_fault(found, {"prefix", "required", "An account's default series has a prefix."});
    } else if (!is_valid_prefix(message.prefix())) {
        add_fault(found, {"prefix", "malformed",
                          "A prefix is a capital letter and up to 9 more of A-Z, 0-9 and _."});
    }
    const bool opaque = message.mode() == to_string(account_mode::opaque);
    if (!opaque && !message.mode().empty() && message.mode() != to_string(account_mode::managed)) {
        add_fault(found, {"mode", "invalid", "An account is managed or opaque."});
    }
    if (!message.client_id().empty() && !opaque) {
        add_fault(found, {"clientId", "invalid", "Only an opaque account is given a client id."});
    } else if (!message.client_id().empty() && !parse_uuid(message.client_id())) {
        add_fault(found, {"clientId", "malformed", "A client id is a UUID."});
    }
    return message;
}

std::optional<uuid> client_id_for(const v1::CreateAccount& wanted, entropy& source) {
    if (wanted.mode() != to_string(account_mode::opaque)) return std::nullopt;
    if (wanted.client_id().empty()) return draw_client_id(source);
    return parse_uuid(wanted.client_id());
}

// ---- slots ----

struct slot_filter {
    page where;
    std::optional<slot_state> state;
    std::string account;  // by name; empty: all
};

slot_filter read_filter(const call& c, wire::faults& found) {
    const query asked(c.request.query(), {"state", "account", "pageSize", "pageToken"}, found);
    slot_filter filter;
    filter.where = read_page(asked, found);
    filter.account = asked.get("account");
    if (const auto text = asked.get("state"); !text.empty()) {
        filter.state = parse_slot_state(text);
        if (!filter.state) {
            found.push_back({"state", "invalid", "A state is pending, committed or failed."});
        }
    }
    return filter;
}

// What an operator sees of a slot beyond what its owner does.
v1::Slot describe(read_tx& tx, const slot& s, std::unordered_map<account_id, std::string>& names) {
    auto& name = names[s.account];
    if (name.empty()) {
        if (const auto owner = tx.find_account(s.account)) name = owner->name;
    }
    const auto receipt =
        s.state == slot_state::committed ? tx.find_receipt(s) : std::optional<callsign::receipt>();
    v1::Slot message = wire::to_message(s, receipt);
    message.set_account(name);
    message.set_idempotency_key(s.key);
    if (s.settled_at) wire::set_timestamp(*message.mutable_settled_at(), *s.settled_at);
    return message;
}

// nullopt: no such account.
std::optional<v1::SlotList> read_slots(read_tx& tx, const slot_filter& filter) {
    std::optional<account_id> account;
    if (!filter.account.empty()) {
        const auto owner = tx.find_account(filter.account);
        if (!owner) return std::nullopt;
        account = owner->id;
    }
    // One more than asked for tells whether there is a next page.
    auto rows = tx.slots(slot_id{filter.where.after}, filter.where.size + 1, filter.state, account);
    v1::SlotList message;
    message.set_next_page_token(cut_to_page(rows, filter.where));
    std::unordered_map<account_id, std::string> names;
    for (const slot& s : rows) *message.add_slots() = describe(tx, s, names);
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

struct pending_slots {
    static constexpr std::int64_t counted_max = 10'000;

    std::int64_t count = 0;
    std::optional<time_point> oldest;
};

pending_slots count_pending(read_tx& tx) {
    const auto rows =
        tx.slots(slot_id{}, pending_slots::counted_max, slot_state::pending, std::nullopt);
    pending_slots counted;
    counted.count = static_cast<std::int64_t>(rows.size());
    if (!rows.empty()) counted.oldest = rows.front().created_at;
    return counted;
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

v1::ReaperStatus describe(const reaper_status& status, const pending_slots& pending,
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

awaitable<http_response> list_accounts(rooms& r, call& c) {
    wire::faults wrong;
    const page p = read_page(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    auto question = [](read_tx& tx) { return tx.accounts(); };
    auto found = co_await r.engine.ask({c.payer(), many_rows}, std::move(question));
    if (!found) co_return answer_error(c, found.error());
    v1::AccountList message;
    message.set_next_page_token(cut_to_page(*found, p));
    for (const account& a : *found) *message.add_accounts() = wire::to_message(a);
    co_return answer_message(c, 200, message);
}

awaitable<http_response> add_account(rooms& r, call& c) {
    wire::faults wrong;
    const v1::CreateAccount wanted = read_account(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    std::string secret = make_token(r.entropy);
    const seal::wiped afterwards(secret);
    const auto client_id = client_id_for(wanted, r.entropy);
    create_account command{wanted.name(), wanted.prefix(), "default", sha256(secret), client_id};
    const auto made = co_await r.engine.submit(std::move(command));
    if (!made) co_return answer_error(c, made.error());
    if (std::holds_alternative<client_id_taken>(*made)) {
        co_return answer_problem(c, problems::client_id_taken, "A client id opens one account.");
    }
    const auto* given = std::get_if<account>(&*made);
    if (given == nullptr) {
        co_return answer_problem(c, problems::name_taken, "Another account has this name.");
    }
    v1::Account message = wire::to_message(*given);
    message.set_token(secret);
    if (client_id) {
        message.set_client_id(to_string(*client_id));
        r.clients.remember(*client_id, {.account = given->id});
    }
    co_return answer_secret(c, 201, message);
}

awaitable<http_response> list_slots(rooms& r, call& c) {
    wire::faults wrong;
    const slot_filter filter = read_filter(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    auto question = [&filter](read_tx& tx) { return read_slots(tx, filter); };
    const auto found = co_await r.engine.ask({c.payer(), many_rows}, std::move(question));
    if (!found) co_return answer_error(c, found.error());
    if (!*found) co_return answer_no_account(c);
    co_return answer_message(c, 200, **found);
}

awaitable<http_response> show_reaper(rooms& r, call& c) {
    auto question = [](read_tx& tx) { return count_pending(tx); };
    const auto pending = co_await r.engine.ask({c.payer(), many_rows}, std::move(question));
    if (!pending) co_return answer_error(c, pending.error());
    co_return answer_message(c, 200,
                             describe(r.reaper.status(), *pending, r.late_retries, r.clock.now()));
}

awaitable<http_response> sweep_now(rooms& r, call& c) {
    const auto swept = co_await r.reaper.sweep_once();
    if (!swept) co_return answer_error(c, swept.error());
    co_return answer_message(c, 200, to_message(*swept));
}

}  // namespace callsign::api
