#include <callsign/base/back_off.hpp>
#include <callsign/engine/wakeup.hpp>
#include <callsign/jobs/webhook_deliverer.hpp>
#include <callsign/net/retry_after.hpp>
#include <callsign/seal/at_rest.hpp>
#include <callsign/seal/webhook_signature.hpp>
#include <callsign/wire/convert.hpp>
#include <callsign/wire/cursor.hpp>
#include <callsign/wire/filter_parameters.hpp>
#include <callsign/wire/media_types.hpp>

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <utility>

namespace callsign::jobs {

namespace asio = boost::asio;

namespace {

// Pause while the store or the server is overloaded.
constexpr milliseconds overloaded_pause{1'000};
// Fewer than there are threads: names without a response delay their own account only. Accounts
// with slow names share half of the threads.
constexpr std::size_t account_lookups_at_once = 1;
constexpr std::size_t slow_lookups_part = 2;
constexpr milliseconds slow_lookup{500};
constexpr milliseconds slow_lookup_remembered{std::chrono::minutes{5}};
constexpr std::int64_t load_rows = 256;
// Number of versions without a change for a webhook, after which its place is made durable: a
// restart reads at most these again.
constexpr std::int64_t unsaved_seqs_max = 1'000;
// Time without another change, after which the place is made durable too.
constexpr milliseconds look_wait_max{30'000};

// How long a test waits for its account's deliveries.
constexpr milliseconds test_wait_max{std::chrono::seconds{10}};
// Between two tests of an account.
constexpr milliseconds test_pause{std::chrono::seconds{5}};

constexpr const char* no_secret =
    "the server cannot decrypt the secret: the master key is missing or wrong";

// Returns why there was no response, for the webhook's owner.
std::string text_of(const net::http_failure& failure) {
    if (failure.timed_out()) return "no response within the timeout";
    // Does not reveal which names exist in the server's network.
    const bool is_unknown = failure.error.category() == asio::error::get_netdb_category() ||
                            failure.error.category() == asio::error::get_addrinfo_category() ||
                            failure.error == asio::error::access_denied;
    if (is_unknown) return "the host has no permitted address";
    return failure.error.message();
}

// Returns the ID of a delivery, with marks, because seqs are assigned again after a restore.
std::string id_of(const uuid& webhook, const task_change& first, const task_change& last) {
    return to_string(webhook) + "_" + wire::cursor_text(first.place, first.mark) + "_" +
           wire::cursor_text(last.place, last.mark);
}

webhook_start place_behind(const read_changes::part& part) {
    return {part.next, part.mark};
}

}  // namespace

struct webhook_deliverer::hook {
    account_id account;
    callsign::uuid uuid{};

    // The row is to be read: at the beginning, and after a change by its owner.
    bool is_stale = true;
    bool is_gone = false;
    webhook row{};                           // its place may be ahead of the durable one
    std::optional<net::outgoing_url> url{};  // none: it or the filter is no longer valid
    std::optional<task_filter> filter{};
    std::optional<seal::webhook_secrets> secrets{};

    std::int64_t heard = 0;  // the account's highest announced seq
    feed_place saved{};      // the durable place
    // Changes in the failed attempt: the next one has as many, so that it is the same.
    std::optional<std::size_t> again{};
    milliseconds asked_pause{0};  // Retry-After of the receiver

    // Only while it runs.
    bool is_resting = false;          // up to date, but its place is not durable
    std::optional<wakeup> changed{};  // notified by an edit, and at shutdown
    asio::cancellation_signal cut{};

    bool is_running() const { return changed.has_value(); }
};

webhook_deliverer::webhook_deliverer(engine& engine, clock& clock, entropy& entropy,
                                     feed_pages& pages, const webhook_options& options,
                                     const seal::key_ring* master, const std::string& key_attribute)
    : engine_(engine),
      clock_(clock),
      entropy_(entropy),
      pages_(pages),
      options_(options),
      master_(master),
      key_attribute_(key_attribute),
      deliveries_(clock, {.at_once = options.at_once, .payer_at_once = options.account_at_once}),
      lookups_(clock, {.at_once = options.lookup_threads,
                       .payer_at_once = account_lookups_at_once,
                       .slow_at_once =
                           std::max<std::size_t>(options.lookup_threads / slow_lookups_part, 1),
                       .slow_span = slow_lookup,
                       .slow_for = slow_lookup_remembered}) {}

webhook_deliverer::~webhook_deliverer() = default;

void webhook_deliverer::start(net::outgoing& calls, std::shared_ptr<net::body_budget> bodies,
                              const asio::any_io_executor& executor) {
    calls_ = &calls;
    bodies_ = std::move(bodies);
    executor_ = executor;
    ended_.emplace(clock_, executor_);
    ++in_progress_;
    asio::co_spawn(executor_, load(), [this](const std::exception_ptr& e) {
        ended();
        if (e) std::rethrow_exception(e);
    });
}

void webhook_deliverer::follow(const event& happened) {
    if (calls_ == nullptr || stopped_) return;
    if (const auto* const appended = std::get_if<events::version_appended>(&happened)) {
        const auto own = of_accounts_.find(appended->account);
        if (own == of_accounts_.end()) return;
        for (const auto& h : own->second) {
            h->heard = std::max(h->heard, appended->seq);
            if (h->is_resting) h->changed->notify();
            if (!h->is_running() && (h->is_stale || !h->row.disabled)) begin(h);
        }
    }
    if (const auto* const changed = std::get_if<events::webhook_changed>(&happened)) {
        wake(changed->account, changed->uuid);
    }
    if (const auto* const changed = std::get_if<events::account_state_changed>(&happened)) {
        const auto own = of_accounts_.find(changed->account);
        if (own == of_accounts_.end()) return;
        for (const auto& h : std::vector(own->second)) wake(h->account, h->uuid);
    }
}

// Adds the webhook if it is new.
void webhook_deliverer::wake(account_id account, const uuid& id) {
    auto& h = hooks_[id];
    if (!h) {
        h = std::make_shared<hook>();
        h->account = account;
        h->uuid = id;
        of_accounts_[account].push_back(h);
    }
    h->is_stale = true;
    if (h->is_running()) {
        h->changed->notify();
    } else {
        begin(h);
    }
}

asio::awaitable<void> webhook_deliverer::stop() {
    stopped_ = true;
    if (calls_ == nullptr) co_return;
    calls_->stop();
    deliveries_.stop();
    lookups_.stop();
    ended_->notify();
    // A cancelled coroutine may end at once and remove its hook from the map.
    std::vector<std::shared_ptr<hook>> all;
    for (const auto& [id, h] : hooks_) all.push_back(h);
    for (const auto& h : all) {
        if (!h->is_running()) continue;
        h->changed->notify();
        h->cut.emit(asio::cancellation_type::terminal);
    }
    co_await ended_->until([this] { return in_progress_ == 0; });
}

void webhook_deliverer::ended() {
    --in_progress_;
    ended_->notify();
}

// ---- loading ----

asio::awaitable<void> webhook_deliverer::load() {
    webhook_id after{};
    while (!stopped_) {
        const auto some = co_await engine_.ask(list_active_webhooks{after, load_rows});
        if (!some) {
            co_await ended_->until([this] { return stopped_; }, overloaded_pause);
            continue;
        }
        // Rows may change before their turn, and are read again then.
        for (const webhook& w : *some) wake(w.account, w.uuid);
        if (std::ssize(*some) < load_rows) co_return;
        after = some->back().id;
    }
}

void webhook_deliverer::begin(const std::shared_ptr<hook>& h) {
    h->changed.emplace(clock_, executor_);
    ++in_progress_;
    // Shared: the webhook may be removed concurrently.
    const auto done = [this, h](const std::exception_ptr& e) {
        h->changed.reset();
        if (h->is_gone) forget(*h);
        // Only this webhook stops, until the account's next change.
        if (e) ++counts_.failed;
        ended();
    };
    asio::co_spawn(executor_, run(h), asio::bind_cancellation_slot(h->cut.slot(), done));
}

void webhook_deliverer::forget(const hook& h) {
    const auto own = of_accounts_.find(h.account);
    std::erase_if(own->second, [&](const auto& other) { return other.get() == &h; });
    if (own->second.empty()) of_accounts_.erase(own);
    hooks_.erase(h.uuid);
}

// ---- one webhook ----

// Runs until the webhook is up to date, its owner disables it, or the server stops.
asio::awaitable<void> webhook_deliverer::run(std::shared_ptr<hook> h) {
    // Cancelled operations return errors; an exception could leave a step half done.
    co_await asio::this_coro::throw_if_cancelled(false);
    while (!stopped_) {
        const auto looked = h->changed->now();
        const step next = co_await deliver_next(*h);
        if (stopped_ || next == step::over) co_return;
        switch (next) {
        case step::go_on:
        case step::over: break;
        case step::done: {
            if (h->is_stale || h->heard > h->row.after.seq) break;
            if (h->row.after == h->saved) co_return;
            h->is_resting = true;
            const bool has_changed = co_await h->changed->wait(h->changed->now(), look_wait_max);
            h->is_resting = false;
            if (!has_changed && !stopped_) co_await save(*h);
            break;
        }
        case step::busy: co_await h->changed->wait(looked, overloaded_pause); break;
        case step::failed:
            if (!h->row.disabled) co_await h->changed->wait(looked, pause_after(*h));
            break;
        }
    }
}

// Returns false if it cannot be read now.
asio::awaitable<bool> webhook_deliverer::reload(hook& h) {
    h.is_stale = false;
    const find_webhook question{h.account, h.uuid};
    auto found = co_await engine_.ask(question);
    if (!found) {
        h.is_stale = true;
        co_return false;
    }
    h.is_gone = !*found;
    if (h.is_gone) co_return true;
    h.row = **std::move(found);
    h.saved = h.row.after;
    h.again.reset();
    h.asked_pause = milliseconds{0};
    read_settings(h);
    co_return true;
}

void webhook_deliverer::read_settings(hook& h) const {
    wire::field_errors wrong;
    const wire::parameters asked(h.row.filter, wire::with_filter_parameters({}), wrong,
                                 wire::repeatable_parameters);
    h.filter = wire::read_feed_filter(asked, wrong);
    auto url = net::parse_outgoing_url(h.row.url);
    auto* const valid = std::get_if<net::outgoing_url>(&url);
    h.url.reset();
    if (wrong.empty() && valid != nullptr) h.url = std::move(*valid);
    h.secrets.reset();
    if (master_ == nullptr) return;
    const seal::belongs_to owner{seal::purpose::webhook_secret, h.account, h.uuid};
    auto opened = master_->open(owner, h.row.sealed_secret);
    if (const auto* const stored = std::get_if<seal::secret_bytes>(&opened)) {
        h.secrets = seal::unpacked(*stored);
    }
}

asio::awaitable<webhook_deliverer::step> webhook_deliverer::deliver_next(hook& h) {
    // Held until the end: meanwhile other webhooks of the account find it.
    std::shared_ptr<feed_page> page;
    std::optional<settle_delivery> command;
    auto next = step::done;
    {
        const permits::permit mine = co_await deliveries_.take(h.account);
        if (stopped_) co_return step::go_on;
        if (h.is_stale) {
            const bool is_read = co_await reload(h);
            if (!is_read) co_return step::busy;
            if (h.is_stale) co_return step::go_on;  // changed again since
        }
        if (h.is_gone || h.row.disabled || h.row.is_closed) co_return step::over;
        next = co_await read_and_post(h, page, command);
    }
    if (!command) co_return next;
    const step settled = co_await settle(h, std::move(*command));
    co_return settled == step::go_on ? next : settled;
}

// Makes the place durable that was reached without a change for the webhook.
asio::awaitable<void> webhook_deliverer::save(hook& h) {
    settle_delivery command = settling(h);
    co_await settle(h, std::move(command));
}

// Returns the command that records the webhook's place.
settle_delivery webhook_deliverer::settling(const hook& h) const {
    return {.account = h.account,
            .uuid = h.uuid,
            .edits = h.row.edits,
            .reached = webhook_start{h.row.after, h.row.mark},
            .failures_max = options_.failures_max};
}

// Sets what is to be made durable, if anything. Returns the next step after that.
asio::awaitable<webhook_deliverer::step> webhook_deliverer::read_and_post(
    hook& h, std::shared_ptr<feed_page>& page, std::optional<settle_delivery>& command) {
    if (!h.url) {
        command = settling(h);
        command->disable = webhook_end::unreadable;
        co_return step::go_on;
    }
    read_changes question{.account = h.account,
                          .after = h.row.after,
                          .limit = h.again.value_or(options_.changes_max),
                          .filter = h.filter,
                          .now = clock_.now(),
                          // States of tasks take more work to read the older they are.
                          .work_max = h.again ? step_work_max : first_look_work_max};
    if (!h.row.mark.empty()) question.mark = h.row.mark;
    net::body_lease room(bodies_, h.account);
    page = co_await pages_.read(std::move(question), std::move(room));
    if (!page->read() || !page->has_room()) co_return step::busy;
    const auto* const part = std::get_if<read_changes::part>(&*page->read());
    if (part == nullptr) {
        command = settling(h);
        command->disable = std::holds_alternative<read_changes::expired>(*page->read())
                               ? webhook_end::cursor_expired
                           : std::holds_alternative<read_changes::diverged>(*page->read())
                               ? webhook_end::cursor_unknown
                               : webhook_end::unreadable;
        co_return step::go_on;
    }
    if (!part->changes.empty()) {
        auto body = co_await body_of(h, *page);
        if (!body) co_return step::busy;
        command = settling(h);
        co_await post(h, *part, std::move(*body), *command);
    } else {  // no change is for this webhook
        const webhook_start reached = place_behind(*part);
        h.row.after = reached.after;
        h.row.mark = reached.mark;
        if (reached.after.seq - h.saved.seq >= unsaved_seqs_max) command = settling(h);
    }
    co_return part->has_more ? step::go_on : step::done;
}

// Returns nullopt if the changes cannot be encoded now.
asio::awaitable<std::optional<std::string>> webhook_deliverer::body_of(const hook& h,
                                                                       feed_page& page) {
    auto make = [&part = page.part(), &key_attribute = key_attribute_] {
        v1::WebhookEvents events;
        events.set_cursor(wire::cursor_text(part.changes.back().place, part.changes.back().mark));
        events.set_type("changes");
        for (const task_change& change : part.changes) {
            *events.add_changes() = wire::to_message(change, key_attribute);
        }
        return std::vector{wire::encode(wire::format::json, events)};
    };
    const auto error = co_await pages_.encode(page, page_form::webhook, std::move(make));
    if (error) co_return std::nullopt;
    // The webhook's ID comes first in the object; the rest is the same for all.
    std::string body = page.messages(page_form::webhook).front();
    body.insert(1, "\"webhookId\":\"" + to_string(h.uuid) + "\",");
    co_return body;
}

asio::awaitable<void> webhook_deliverer::post(hook& h, const read_changes::part& part,
                                              std::string body, settle_delivery& command) {
    webhook_delivery attempt{.id = id_of(h.uuid, part.changes.front(), part.changes.back()),
                             .at = clock_.now(),
                             .changes = std::ssize(part.changes)};
    h.again = part.changes.size();
    net::http_call call{"POST", {}, {}, std::move(body)};
    net::body_lease held(bodies_, h.account);
    held.resize_anyway(call.body.size());

    const milliseconds begun = clock_.elapsed();
    h.asked_pause = milliseconds{0};
    if (!h.secrets) {
        attempt.error = no_secret;
    } else {
        call.headers = headers_of(h, attempt.id, call.body);
        net::outgoing_url url = *h.url;
        const auto outcome = co_await exchange(h.account, std::move(url), std::move(call));
        record(attempt, outcome);
        if (outcome && !attempt.delivered) h.asked_pause = net::retry_after(*outcome);
        if (attempt.status == 410) command.disable = webhook_end::gone;
    }
    attempt.took = clock_.elapsed() - begun;
    // May be after changes that are not for this webhook.
    if (attempt.delivered) command.reached = place_behind(part);
    command.attempt = std::move(attempt);
}

asio::awaitable<net::http_outcome> webhook_deliverer::exchange(account_id account,
                                                               net::outgoing_url url,
                                                               net::http_call call) {
    std::vector<asio::ip::tcp::endpoint> addresses;
    {
        const permits::permit mine = co_await lookups_.take(account);
        if (!mine) co_return net::http_failure{asio::error::operation_aborted, false};
        const milliseconds begun = clock_.elapsed();
        auto found = co_await calls_->look_up(url);
        lookups_.report_span(account, clock_.elapsed() - begun);
        if (!found) co_return net::http_failure{found.error(), false};
        addresses = *std::move(found);
    }
    co_return co_await calls_->exchange(std::move(url), std::move(addresses), std::move(call));
}

net::http_field_list webhook_deliverer::headers_of(const hook& h, const std::string& id,
                                                   const std::string& body) const {
    const time_point now = clock_.now();
    const std::int64_t seconds =
        std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
    const seal::webhook_secrets& its = *h.secrets;
    std::string signatures = seal::webhook_signature(its.current.bytes(), id, seconds, body);
    if (its.former && h.row.former_until && now < *h.row.former_until) {
        signatures += " " + seal::webhook_signature(its.former->bytes(), id, seconds, body);
    }
    return {{"Content-Type", std::string(wire::media_type::json)},
            {"User-Agent", "callsignd/" CALLSIGN_VERSION},
            {"webhook-id", id},
            {"webhook-timestamp", std::to_string(seconds)},
            {"webhook-signature", std::move(signatures)}};
}

asio::awaitable<result<webhook_deliverer::test_outcome>> webhook_deliverer::test(
    account_id account, callsign::uuid uuid) {
    if (calls_ == nullptr || stopped_) co_return make_error_code(errc::shutting_down);
    const find_webhook question{account, uuid};
    auto found = co_await engine_.ask(question);
    if (!found) co_return found.error();
    if (!*found) co_return no_such_webhook{};
    const milliseconds now = clock_.elapsed();
    std::erase_if(tested_, [&](const auto& each) { return each.second <= now; });
    constexpr auto in_progress = milliseconds::max();
    const auto [its, may] = tested_.emplace(account, in_progress);
    if (!may) {
        co_return tested_lately{its->second == in_progress ? test_pause : its->second - now};
    }
    struct at_end {
        webhook_deliverer& self;
        account_id account;
        ~at_end() { self.tested_.insert_or_assign(account, self.clock_.elapsed() + test_pause); }
    } const pause{*this, account};
    auto attempt = co_await test(account, **std::move(found));
    if (!attempt) co_return attempt.error();
    co_return *std::move(attempt);
}

asio::awaitable<result<webhook_delivery>> webhook_deliverer::test(account_id account, webhook row) {
    const callsign::uuid uuid = row.uuid;
    hook h{.account = account, .uuid = uuid, .row = std::move(row)};
    read_settings(h);
    webhook_delivery attempt{.id = to_string(uuid) + "_test_" + to_string(draw_uuid(entropy_)),
                             .at = clock_.now()};
    if (!h.url || !h.secrets) {
        attempt.error = h.secrets ? "the URL or the filter is no longer valid" : no_secret;
        co_return attempt;
    }
    v1::WebhookEvents events;
    events.set_webhook_id(to_string(uuid));
    events.set_cursor(wire::cursor_text(h.row.after, h.row.mark));
    events.set_type("test");
    const permits::permit mine = co_await deliveries_.take(account, test_wait_max);
    if (!mine) co_return make_error_code(errc::overloaded);
    const milliseconds begun = clock_.elapsed();
    net::http_call call{"POST", {}, {}, wire::encode(wire::format::json, events)};
    call.headers = headers_of(h, attempt.id, call.body);
    net::outgoing_url url = *h.url;
    const auto outcome = co_await exchange(account, std::move(url), std::move(call));
    record(attempt, outcome);
    attempt.took = clock_.elapsed() - begun;
    co_return attempt;
}

void webhook_deliverer::record(webhook_delivery& attempt, const net::http_outcome& outcome) {
    if (!outcome) {
        attempt.error = text_of(outcome.error());
        return;
    }
    attempt.status = outcome->status;
    attempt.delivered = outcome->status / 100 == 2;
}

// Makes the place durable before anything more is posted.
asio::awaitable<webhook_deliverer::step> webhook_deliverer::settle(hook& h,
                                                                   settle_delivery command) {
    const bool was_cut = stopped_ && command.attempt && !command.attempt->delivered;
    if (was_cut) co_return step::done;  // cut off by the shutdown, not by the receiver
    for (;;) {
        const auto looked = h.changed->now();
        auto done = co_await engine_.submit(command);
        if (done) {
            if (command.attempt)
                ++(command.attempt->delivered ? counts_.delivered : counts_.failed);
            auto* const row = std::get_if<webhook>(&*done);
            if (row == nullptr) {
                h.is_stale = true;
                co_return step::go_on;
            }
            h.row = std::move(*row);
            h.saved = h.row.after;
            const bool has_failed = command.attempt && !command.attempt->delivered;
            if (!has_failed) h.again.reset();
            co_return has_failed ? step::failed : step::go_on;
        }
        if (stopped_ || done.error() == errc::shutting_down) co_return step::done;
        co_await h.changed->wait(looked, overloaded_pause);
    }
}

milliseconds webhook_deliverer::pause_after(const hook& h) {
    const back_off pauses{options_.retry_min, options_.retry_max};
    return pauses.after(h.row.failures, draw_byte(entropy_), h.asked_pause);
}

}  // namespace callsign::jobs
