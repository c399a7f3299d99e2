#include "outbox_machine.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/domain/replay.hpp>
#include <callsign/domain/work.hpp>
#include <callsign/engine/outbox.hpp>
#include <callsign/engine/wakeup.hpp>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <deque>
#include <list>
#include <map>
#include <type_traits>
#include <utility>

namespace callsign {

namespace asio = boost::asio;
using asio::awaitable;
using event_kind = outbox_event::kind;

namespace {

// Edits in one version; further ones wait for the next.
constexpr std::size_t edits_at_once_max = 128;
// Between two reports of the progress of a long history.
constexpr std::int64_t versions_between_words = 1'000;

// A waiting edit. Shared by its caller and the account's coroutine: either may end first.
struct waiting_edit {
    edit_task command;
    std::uint64_t asked = 0;  // replica::asked when it came
    std::unique_ptr<timer> patience;
    std::optional<result<edit_task::answer>> answer{};
    bool is_sent = false;
};
using edit_ptr = std::shared_ptr<waiting_edit>;

// A call that waits until the mirror is up to date, or for a fence. In its coroutine's frame.
struct waiting_call {
    std::uint64_t asked = 0;  // replica::asked when it came
    std::unique_ptr<timer> patience;
    std::optional<bool> outcome{};
};

// A version of ours, from its sending until the child of its parent is known.
struct sent_version {
    uuid parent{};
    std::vector<operation> operations;
    std::vector<delivery_part> parts;
    std::vector<edit_ptr> edits;  // by delivery_part::edit
    bool is_fence = false;
};

struct replica {
    replica(account_id account, const outbox_limits& limits) : machine(limits) {
        remote.account = account;
    }

    remote_chain remote;
    outbox_machine machine;
    std::unique_ptr<task_sink> sink{};
    std::optional<wakeup> changed{};  // emplaced by begin()
    wakeup::moment seen{};            // as of the last rest

    std::deque<edit_ptr> edits{};
    std::vector<waiting_call*> lookups{}, fences{};
    bool has_effects = true;  // until it is known
    bool is_stale = true;     // its row and its sink have to be read again
    bool is_gone = false;
    bool from_beginning = false;  // there is no snapshot to restart from
    bool has_permit = false;

    std::optional<sent_version> sent{};
    std::optional<sink_child> child{};     // being applied
    std::size_t child_taken = 0;           // its operations applied so far
    std::vector<effect_id> forestalled{};  // of versions that lost their place to another
    uuid accepted{};                       // the remote's ID of `sent`

    // Queries are numbered. A confirmed query covers an edit or call that came before it began:
    // whose `asked` is smaller.
    std::uint64_t asked = 0;
    std::uint64_t confirmed = 0;
    milliseconds up_to_date_at{-1};  // by clock::elapsed(), when its query began; < 0: never
    std::optional<milliseconds> verified_at{};
    remote_status status{};
};

bool contains(const std::vector<operation>& all, std::span<const operation> some) {
    return std::ranges::all_of(
        some, [&](const operation& o) { return std::ranges::find(all, o) != all.end(); });
}

}  // namespace

class outbox::impl {
  public:
    impl(engine& engine, clock& clock, entropy& entropy, const asio::any_io_executor& network,
         outbox_options options, sink_maker make, outbox_probe& probe)
        : engine_(engine),
          clock_(clock),
          entropy_(entropy),
          network_(network),
          options_(options),
          make_(std::move(make)),
          probe_(probe) {
        told_ = engine.events().subscribe([this](const event& e) { hear(e); });
    }

    // ---- interface ----

    void reload(outbox_options options) {
        options_ = options;
        for (auto& [id, r] : replicas_) {
            r->machine.reload(limits());
            r->changed->notify();
        }
        // More accounts may be active now.
        for (timer* t : permits_wanted_) t->cancel();
    }

    awaitable<result<void>> start() {
        for (account_id after{};;) {
            list_remotes question{after};
            const auto some = co_await engine_.ask(question);
            if (!some) co_return some.error();
            for (const remote_chain& r : *some) begin(r.account);
            if (std::ssize(*some) < question.limit) co_return result<void>();
            after = some->back().account;
        }
    }

    void stop() {
        stopped_ = true;
        for (auto& [id, r] : replicas_) {
            r->changed->notify();
            if (r->sink) r->sink->cancel();
        }
        for (timer* t : permits_wanted_) t->cancel();
        if (replicas_.empty() && at_rest_) at_rest_->cancel();
    }

    awaitable<void> stopped() {
        at_rest_ = clock_.make_timer(network_);
        while (running_ > 0) co_await at_rest_->wait(std::chrono::hours{1});
    }

    bool is_elsewhere(account_id account) const { return replicas_.contains(account); }

    awaitable<result<edit_task::answer>> edit(edit_task c) {
        using answered = result<edit_task::answer>;
        replica* const r = find(c.account);
        if (r == nullptr || stopped_) co_return answered(errc::remote_unavailable);
        if (r->edits.size() >= options_.edits_max) co_return answered(errc::overloaded);
        if (r->status.halted != remote_halt::none) co_return answered(errc::remote_unavailable);
        const auto mine = std::make_shared<waiting_edit>();
        mine->command = std::move(c);
        mine->asked = r->asked;
        mine->patience = clock_.make_timer(network_);
        r->edits.push_back(mine);
        r->changed->notify();
        co_await mine->patience->wait(engine_.request_deadline());
        if (mine->answer) co_return std::move(*mine->answer);
        mine->answer = answered(errc::remote_unavailable);  // its caller no longer waits
        co_return answered(mine->is_sent ? errc::outcome_unknown : errc::remote_unavailable);
    }

    awaitable<bool> look_up(account_id account) {
        replica* const r = find(account);
        if (r == nullptr) co_return false;
        co_return co_await await_call(*r, r->lookups);
    }

    awaitable<bool> fence(account_id account) {
        replica* const r = find(account);
        if (r == nullptr) co_return false;
        co_return co_await await_call(*r, r->fences);
    }

    std::vector<account_id> accounts() const {
        std::vector<account_id> all;
        for (const auto& [id, r] : replicas_) all.push_back(id);
        return all;
    }

    std::optional<remote_status> status(account_id account) const {
        const auto found = replicas_.find(account);
        if (found == replicas_.end()) return std::nullopt;
        return found->second->status;
    }

    outbox_totals totals() const {
        outbox_totals all;
        const milliseconds now = clock_.elapsed();
        for (const auto& [id, r] : replicas_) {
            ++all.accounts;
            if (r->status.halted != remote_halt::none) ++all.halted;
            if (!r->status.last_error.empty()) ++all.failing;
            all.versions_behind += r->status.pulled;
            const milliseconds since = std::max(r->up_to_date_at, started_);
            all.lag = std::max(all.lag, now - since);
        }
        return all;
    }

    const outbox_options& options() const { return options_; }

  private:
    // ---- accounts ----

    void hear(const event& e) {
        if (const auto* const waiting = std::get_if<events::effect_waiting>(&e)) {
            if (replica* const r = find(waiting->account)) {
                r->has_effects = true;
                r->changed->notify();
            }
        } else if (const auto* const changed = std::get_if<events::remote_changed>(&e)) {
            if (replica* const r = find(changed->account)) {
                r->is_stale = true;
                r->changed->notify();
            } else {
                begin(changed->account);
            }
        } else if (std::holds_alternative<events::key_contested>(e)) {
            probe_.key_contested();
        }
    }

    replica* find(account_id account) {
        const auto found = replicas_.find(account);
        return found == replicas_.end() ? nullptr : found->second.get();
    }

    outbox_limits limits() const {
        return {.poll_interval = options_.poll_interval,
                .retry_min = options_.retry_min,
                .retry_max = options_.retry_max,
                .effects_max = options_.effects_max};
    }

    void begin(account_id account) {
        if (stopped_) return;
        auto made = std::make_unique<replica>(account, limits());
        made->changed.emplace(clock_, network_);
        replica& r = *made;
        replicas_.emplace(account, std::move(made));
        ++running_;
        asio::co_spawn(network_, run(r), [this](const std::exception_ptr& e) {
            --running_;
            if (running_ == 0 && at_rest_) at_rest_->cancel();
            if (e) std::rethrow_exception(e);
        });
    }

    // ---- one account ----

    awaitable<void> run(replica& r) {
        outbox_event came{.what = event_kind::rested};
        while (!stopped_ && !r.is_gone) {
            if (r.is_stale && may_reload(came.what)) {
                co_await reload(r);
                continue;
            }
            came.verify_due = is_verify_due(r);
            came.has_work = has_work(r);
            came.pull_first = needs_pull(r);
            const outbox_action next = r.machine.resume(came, draw());
            if (next.step == outbox_step::rest) note_doubt(r, came.what);
            const bool idles = next.step == outbox_step::rest || next.step == outbox_step::halt;
            if (idles) give_back_permit(r);
            if (!idles) co_await take_permit(r);
            if (stopped_) break;
            came = co_await perform(r, next);
        }
        give_back_permit(r);
        end(r);
    }

    // Fails all that still waits for the account.
    void end(replica& r) {
        for (const edit_ptr& e : r.edits) answer(*e, errc::remote_unavailable);
        if (r.sent) drop_sent(r, errc::outcome_unknown);
        answer_calls(r.lookups, false);
        answer_calls(r.fences, false);
        if (!r.is_gone) return;
        const account_id account = r.remote.account;
        const bool may_be_there_again = r.is_stale;
        replicas_.erase(account);
        if (may_be_there_again) begin(account);
    }

    awaitable<outbox_event> perform(replica& r, outbox_action next) {
        switch (next.step) {
        case outbox_step::verify: return verify(r);
        case outbox_step::pull: return pull(r);
        case outbox_step::apply: return apply(r);
        case outbox_step::restart: return restart(r);
        case outbox_step::take: return take(r);
        case outbox_step::send: return send(r, false);
        case outbox_step::resend: return send(r, true);
        case outbox_step::settle: return settle(r);
        case outbox_step::disband: return disband(r);
        case outbox_step::give_up: return give_up(r);
        case outbox_step::rest: return rest(r, next);
        case outbox_step::halt: return halt(r, next.why);
        }
        CALLSIGN_ASSERT(!"a step that there is not");
    }

    // Not while something pulled or sent is being processed, nor before a step that may end in a
    // pause: the pause ends at once if the row has changed, and only then is the row read.
    static bool may_reload(event_kind came) {
        return came == event_kind::rested || came == event_kind::moved ||
               came == event_kind::settled || came == event_kind::applied;
    }

    // Reads the account's row again, and opens its sink.
    awaitable<void> reload(replica& r) {
        const auto looked = r.changed->now();
        r.is_stale = false;
        callsign::find_remote question{r.remote.account};
        auto read = co_await engine_.ask(question);
        if (!read) {
            r.is_stale = true;
            fail_calls(r, read.error().message());
            co_await r.changed->wait(looked, options_.retry_min);
            co_return;
        }
        if (!*read) {
            r.is_gone = true;
            co_return;
        }
        const remote_chain& now = (*read)->remote;
        if (r.sent && r.sent->parent != now.cursor) drop_sent(r, errc::outcome_unknown);
        r.remote = now;
        r.status.halted = now.halted;
        r.child.reset();
        r.from_beginning = false;
        r.verified_at.reset();
        r.sink = make_(now);
        tell_state(r, now.halted == remote_halt::none ? remote_status::state::starting
                                                      : remote_status::state::halted);
    }

    bool is_verify_due(const replica& r) const {
        if (r.remote.before.is_nil() || !r.remote.partial.is_nil()) return false;
        return !r.verified_at || clock_.elapsed() - *r.verified_at >= options_.verify_interval;
    }

    bool has_work(const replica& r) const {
        return r.has_effects || !r.edits.empty() || !r.fences.empty();
    }

    // An edit's result depends on what the remote has after the edit was requested.
    bool needs_pull(const replica& r) const {
        return std::ranges::any_of(r.edits,
                                   [&](const edit_ptr& e) { return e->asked >= r.confirmed; });
    }

    // ---- rest ----

    awaitable<outbox_event> rest(replica& r, outbox_action next) {
        const milliseconds until = clock_.elapsed() + next.pause;
        for (milliseconds left = next.pause; left > milliseconds{0} && !stopped_ && !r.is_stale;
             left = std::min(until - clock_.elapsed(), options_.retry_max)) {
            const bool has_changed = co_await r.changed->wait(r.seen, left);
            r.seen = r.changed->now();
            if (!has_changed || !next.is_patient) break;
        }
        co_return outbox_event{.what = event_kind::rested};
    }

    awaitable<outbox_event> halt(replica& r, remote_halt why) {
        if (r.remote.halted == remote_halt::none) {
            halt_remote command{r.remote.account, why, r.remote};
            const auto done = co_await engine_.submit(std::move(command));
            if (!done) co_return failed(r, done.error());
            if (!std::holds_alternative<remote_chain>(*done)) {
                r.is_stale = true;
                co_return outbox_event{.what = event_kind::rested};
            }
        }
        give_back_permit(r);
        r.remote.halted = r.status.halted = why;
        fail_calls(r, "The remote account is halted: " + std::string(to_string(why)) + ".");
        tell_state(r, remote_status::state::halted);
        while (!stopped_ && r.remote.halted != remote_halt::none) {
            const auto looked = r.changed->now();
            // The event of the halt itself is handled here, too.
            if (r.is_stale) co_await reload(r);
            if (r.is_gone) break;
            if (r.is_stale) continue;  // it could not be read, or has changed again
            if (r.remote.halted == remote_halt::none) break;
            for (const edit_ptr& e : std::exchange(r.edits, {})) {
                answer(*e, errc::remote_unavailable);
            }
            fail_calls(r, r.status.last_error);
            co_await r.changed->wait(looked, std::chrono::hours{1});
        }
        co_return outbox_event{.what = event_kind::rested};
    }

    // ---- pulling ----

    awaitable<outbox_event> verify(replica& r) {
        auto found = co_await r.sink->get_child(r.remote.before);
        if (auto* const failure = std::get_if<sink_failure>(&found)) co_return failed(r, *failure);
        const auto* const child = std::get_if<sink_child>(&found);
        // The version before may have been deleted, as some servers do with old ones: then pull()
        // decides, by the cursor.
        const bool is_kept = std::holds_alternative<sink_gone>(found) ||
                             (child && child->version == r.remote.cursor);
        if (is_kept) r.verified_at = clock_.elapsed();
        co_return outbox_event{.what = is_kept ? event_kind::confirmed : event_kind::diverged};
    }

    awaitable<outbox_event> pull(replica& r) {
        if (r.remote.halted != remote_halt::none) co_return co_await halt(r, r.remote.halted);
        if (!r.sink) {
            sink_failure none{
                sink_failure::kind::wrong_secret,
                "The master key is missing or wrong: the account's secret cannot be decrypted.",
                {}};
            co_return failed(r, none);
        }
        const bool is_first = r.remote.cursor.is_nil() && r.remote.partial.is_nil();
        const bool is_known = r.from_beginning || r.remote.moving;
        if (is_first && !is_known) co_return outbox_event{.what = event_kind::gone};
        if (r.machine.is_uncertain()) probe_.looked_up();
        const milliseconds asked = clock_.elapsed();
        const std::uint64_t question = ++r.asked;
        auto found = co_await r.sink->get_child(r.remote.cursor);
        if (auto* const failure = std::get_if<sink_failure>(&found)) co_return failed(r, *failure);
        if (std::holds_alternative<sink_gone>(found)) {
            co_return outbox_event{.what = event_kind::gone};
        }
        if (std::holds_alternative<sink_up_to_date>(found)) {
            if (!r.remote.partial.is_nil()) {
                co_return outbox_event{.what = event_kind::gone};  // the remote lost that version
            }
            up_to_date(r, asked, question);
            co_return outbox_event{.what = event_kind::up_to_date, .has_work = has_work(r)};
        }
        auto& child = std::get<sink_child>(found);
        if (!r.remote.partial.is_nil() && r.remote.partial != child.version) {
            co_return outbox_event{.what = event_kind::gone};
        }
        if (is_ours(r, child)) {
            probe_.delivered(outbox_probe::delivery::found, r.sent->parts.size());
            r.accepted = child.version;
            co_return outbox_event{.what = event_kind::own_child};
        }
        probe_.version_pulled();
        ++r.status.pulled;
        if (r.status.pulled % versions_between_words == 0) {
            probe_.progressed(r.remote.account, r.status.pulled);
        }
        tell_state(r, remote_status::state::pulling);
        r.child_taken = static_cast<std::size_t>(r.remote.partial_operations);
        if (r.child_taken > child.operations.size()) {
            co_return outbox_event{.what = event_kind::gone};
        }
        r.child = std::move(child);
        co_return outbox_event{.what = event_kind::child};
    }

    static bool is_ours(const replica& r, const sink_child& child) {
        return r.sent && r.remote.partial.is_nil() && r.sent->parent == r.remote.cursor &&
               r.sent->operations == child.operations;
    }

    awaitable<outbox_event> apply(replica& r) {
        sink_child& child = *r.child;
        const auto rest = std::span(child.operations).subspan(r.child_taken);
        const auto some = rest.first(step_of(rest));
        apply_remote_version command{.account = r.remote.account,
                                     .parent = r.remote.cursor,
                                     .version = child.version,
                                     .operations = {some.begin(), some.end()},
                                     .before = static_cast<std::int64_t>(r.child_taken),
                                     .is_end = some.size() == rest.size()};
        const auto done = co_await engine_.submit(std::move(command));
        if (!done) co_return failed(r, done.error());
        if (const auto* const grown = std::get_if<task_too_large>(&*done)) {
            co_return failed(
                r, {sink_failure::kind::unreadable,
                    "Task " + to_string(grown->task) + " is larger than this server's limit.",
                    {}});
        }
        const auto* const part = std::get_if<apply_remote_version::applied>(&*done);
        if (part == nullptr) co_return moved(r);
        r.child_taken += part->taken;
        if (r.child_taken < child.operations.size()) {
            r.remote.partial = child.version;
            r.remote.partial_operations = static_cast<std::int64_t>(r.child_taken);
            co_return outbox_event{.what = event_kind::applied_part};
        }
        const sink_child whole = std::move(child);
        r.child.reset();
        if (r.sent) co_await resolve_sent(r, whole);
        come_to(r, whole.version);
        co_return outbox_event{.what = event_kind::applied};
    }

    // Another version is the child of the parent of ours. A server that rebases stale versions may
    // have included operations of ours in it; the rest is taken again.
    awaitable<void> resolve_sent(replica& r, const sink_child& whole) {
        sent_version sent = std::move(*r.sent);
        r.sent.reset();
        std::span<const operation> rest = sent.operations;
        for (const delivery_part& part : sent.parts) {
            const auto own = rest.first(part.operations);
            rest = rest.subspan(part.operations);
            if (part.effect) r.forestalled.push_back(*part.effect);
            if (!part.edit) continue;
            const edit_ptr& e = sent.edits[*part.edit];
            if (e->answer) continue;
            if (!contains(whole.operations, own)) {
                e->is_sent = false;
                r.edits.push_front(e);
                continue;
            }
            callsign::find_task question{r.remote.account, own.front().uuid};
            auto found = co_await engine_.ask(std::move(question));
            auto* const now = found ? std::get_if<task>(&*found) : nullptr;
            if (now != nullptr) {
                answer(*e, edit_task::answer(edit_task::edited{std::move(*now)}));
            } else {
                answer(*e, errc::outcome_unknown);
            }
        }
        r.has_effects = true;
    }

    // ---- restarting from a snapshot, or the beginning ----

    struct remote_state {
        replay tasks;
        uuid head{}, before{};
        std::vector<uuid> versions;  // merged into `tasks`
    };

    awaitable<outbox_event> restart(replica& r) {
        auto snapshot = co_await r.sink->get_snapshot();
        if (auto* const failure = std::get_if<sink_failure>(&snapshot)) {
            co_return failed(r, *failure);
        }
        auto* const given = std::get_if<sink_snapshot>(&snapshot);
        callsign::find_remote question{r.remote.account};
        const auto mirror = co_await engine_.ask(question);
        if (!mirror) co_return failed(r, mirror.error());
        const bool is_new = *mirror && (*mirror)->seq == 0;
        if (given == nullptr && is_new) {
            r.from_beginning = true;
            co_return outbox_event{.what = event_kind::restarted};
        }
        remote_state state;
        if (given != nullptr) {
            state.tasks = replay(std::move(given->tasks));
            state.head = given->version;
            state.versions.push_back(given->version);
        }
        std::optional<outbox_event> ended = co_await follow(r, state);
        if (ended) co_return *ended;
        if (!r.remote.cursor.is_nil()) {
            // The cursor was not gone after all.
            if (std::ranges::find(state.versions, r.remote.cursor) != state.versions.end()) {
                co_return failed(r, {sink_failure::kind::not_a_server,
                                     "The remote server contradicts itself: a version that it "
                                     "reported missing exists.",
                                     {}});
            }
            const bool is_empty = state.versions.empty();
            knows_version known{r.remote.account, state.versions};
            const auto has_been_here = co_await engine_.ask(std::move(known));
            if (!has_been_here) co_return failed(r, has_been_here.error());
            if (is_empty || *has_been_here) co_return outbox_event{.what = event_kind::diverged};
        }
        ended = co_await take_over(r, std::move(state));
        if (ended) co_return *ended;
        co_return outbox_event{.what = event_kind::restarted};
    }

    // Reads up to the end of the remote's chain. None: it was reached.
    awaitable<std::optional<outbox_event>> follow(replica& r, remote_state& state) {
        std::size_t bytes = 0;
        for (const auto& [id, all] : state.tasks.tasks()) bytes += size_of(all);
        for (;;) {
            auto found = co_await r.sink->get_child(state.head);
            if (auto* const failure = std::get_if<sink_failure>(&found)) {
                co_return failed(r, *failure);
            }
            if (std::holds_alternative<sink_up_to_date>(found)) co_return std::nullopt;
            if (std::holds_alternative<sink_gone>(found)) {
                co_return outbox_event{.what = event_kind::incomplete};
            }
            auto& child = std::get<sink_child>(found);
            const cost its{.operations = 1 + child.operations.size() / 8};
            // They are freed there, too, which takes as long.
            auto work = [&state, all = std::move(child.operations)]() mutable {
                std::size_t more = 0;
                for (const auto some = std::exchange(all, {}); const operation& o : some) {
                    more += work_of(o);
                    state.tasks.carry_out(o);
                }
                return more;
            };
            const auto more = co_await in_pool(r.remote.account, its, std::move(work));
            if (!more) co_return failed(r, more.error());
            bytes += *more;
            if (bytes > options_.state_bytes_max) {
                co_return failed(r,
                                 {sink_failure::kind::unreadable,
                                  "The remote server's tasks exceed the size limit of an import.",
                                  {}});
            }
            state.before = std::exchange(state.head, child.version);
            state.versions.push_back(child.version);
            probe_.version_pulled();
            if (std::ssize(state.versions) % versions_between_words == 0) {
                probe_.progressed(r.remote.account, std::ssize(state.versions));
            }
        }
    }

    // Work of several milliseconds does not run on the network thread.
    template <class Work>
    awaitable<result<std::invoke_result_t<Work&>>> in_pool(account_id account, cost its,
                                                           Work work) {
        return engine_.offload_unless(its.weight() <= worked_at_once_max, {account, its},
                                      std::move(work));
    }
    static constexpr std::size_t worked_at_once_max = std::size_t{64} << 10;

    using imported_task = import_tasks::imported_task;

    // In the order of entry, in which they are numbered.
    static std::vector<imported_task> in_order(task_map&& tasks) {
        std::vector<imported_task> all;
        for (auto& [id, attributes] : tasks) all.push_back({id, std::move(attributes)});
        const auto entered = [](const imported_task& t) {
            const auto text = value_of(t.attributes, "entry");
            return std::pair(text.size(), text);
        };
        std::ranges::stable_sort(all, {}, entered);
        return all;
    }

    awaitable<std::optional<outbox_event>> take_over(replica& r, remote_state state) {
        auto settle = [&state] { return state.tasks.tasks().size(); };
        constexpr cost many{.rows = 500};
        const auto count = co_await in_pool(r.remote.account, many, std::move(settle));
        if (!count) co_return failed(r, count.error());
        std::vector<uuid> gone;
        // While the account's own tasks are being sent there, a task missing there is not deleted
        // here.
        std::optional<outbox_event> ended;
        if (!r.remote.moving) ended = co_await find_gone(r, state.tasks.tasks(), gone);
        if (ended) co_return ended;
        const apply_remote_state::end reached{state.head, state.before};
        const cost its{.rows = *count};
        auto sort = [&state] { return in_order(std::move(state.tasks.tasks())); };
        auto ordered = co_await in_pool(r.remote.account, its, std::move(sort));
        if (!ordered) co_return failed(r, ordered.error());
        std::vector<imported_task> all = std::move(*ordered);
        for (std::size_t at = 0; at < all.size();) {
            apply_remote_state step{.account = r.remote.account};
            for (std::size_t work = 0; at < all.size() && work < step_work_max; ++at) {
                work += work_of_task + 2 * work_of(all[at].attributes);
                step.tasks.push_back(std::move(all[at]));
            }
            ended = co_await submit(r, std::move(step));
            if (ended) co_return ended;
        }
        constexpr std::size_t gone_at_once = 500;
        for (std::size_t at = 0; at < gone.size(); at += gone_at_once) {
            apply_remote_state step{.account = r.remote.account};
            const auto end = std::min(gone.size(), at + gone_at_once);
            step.gone.assign(gone.begin() + static_cast<std::ptrdiff_t>(at),
                             gone.begin() + static_cast<std::ptrdiff_t>(end));
            ended = co_await submit(r, std::move(step));
            if (ended) co_return ended;
        }
        apply_remote_state last{.account = r.remote.account, .reached = reached};
        ended = co_await submit(r, std::move(last));
        if (ended) co_return ended;
        if (r.sent) drop_sent(r, errc::outcome_unknown);
        r.has_effects = true;
        r.remote.cursor = reached.cursor;
        r.remote.before = reached.before;
        r.remote.partial = {};
        r.remote.partial_operations = 0;
        r.from_beginning = r.remote.cursor.is_nil();
        co_return std::nullopt;
    }

    // Finds the mirror's tasks that the remote does not have.
    awaitable<std::optional<outbox_event>> find_gone(replica& r, const task_map& there,
                                                     std::vector<uuid>& gone) {
        for (std::optional<task_place> after;;) {
            read_tasks question{r.remote.account, after};
            const auto part = co_await engine_.ask(question);
            if (!part) co_return failed(r, part.error());
            for (const task& t : part->tasks) {
                if (!t.purged && !there.contains(t.uuid)) gone.push_back(t.uuid);
            }
            if (!part->next) co_return std::nullopt;
            after = part->next;
        }
    }

    // Submits all of the step.
    awaitable<std::optional<outbox_event>> submit(replica& r, apply_remote_state step) {
        do {
            apply_remote_state rest = step;
            const auto done = co_await engine_.submit(std::move(rest));
            if (!done) co_return failed(r, done.error());
            if (const auto* const grown = std::get_if<task_too_large>(&*done)) {
                co_return failed(
                    r, {sink_failure::kind::unreadable,
                        "Task " + to_string(grown->task) + " is larger than this server's limit.",
                        {}});
            }
            if (std::holds_alternative<no_remote>(*done)) co_return moved(r);
            const std::size_t taken = std::get<apply_remote_state::applied>(*done).taken;
            const std::size_t tasks = std::min(taken, step.tasks.size());
            const auto erase_first = [](auto& all, std::size_t count) {
                all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
            };
            erase_first(step.tasks, tasks);
            erase_first(step.gone, taken - tasks);
        } while (!step.tasks.empty() || !step.gone.empty());
        co_return std::nullopt;
    }

    // ---- sending ----

    awaitable<outbox_event> take(replica& r) {
        std::vector<edit_ptr> ready;
        std::erase_if(r.edits, [](const edit_ptr& e) { return e->answer.has_value(); });
        for (const edit_ptr& e : r.edits) {
            if (ready.size() < edits_at_once_max && e->asked < r.confirmed) {
                ready.push_back(e);
            }
        }
        take_delivery command{.account = r.remote.account,
                              .effects_max = r.machine.effects_max(),
                              .forestalled = std::exchange(r.forestalled, {}),
                              .attempts_max = options_.attempts_max};
        for (const edit_ptr& e : ready) command.edits.push_back(e->command);
        r.has_effects = false;
        auto done = co_await engine_.submit(std::move(command));
        if (!done) {
            r.has_effects = true;
            co_return failed(r, done.error());
        }
        if (std::holds_alternative<no_remote>(*done) ||
            std::holds_alternative<remote_halted>(*done)) {
            co_return moved(r);
        }
        auto& taken = std::get<take_delivery::taken>(*done);
        if (taken.parent != r.remote.cursor) co_return moved(r);
        r.has_effects = r.has_effects || taken.has_more;
        for (auto& [i, refusal] : taken.answered) answer(*ready[i], std::move(refusal));
        const bool is_fence = !r.fences.empty();
        const bool is_nothing = taken.parts.empty() && !is_fence;
        if (!is_nothing) {
            for (const delivery_part& part : taken.parts) {
                if (part.edit) ready[*part.edit]->is_sent = true;
            }
            r.sent = sent_version{taken.parent, std::move(taken.operations), std::move(taken.parts),
                                  std::move(ready), is_fence};
        }
        std::erase_if(r.edits,
                      [](const edit_ptr& e) { return e->answer.has_value() || e->is_sent; });
        if (is_nothing) co_return outbox_event{.what = event_kind::nothing};
        const bool is_single = r.sent->parts.size() == 1 && r.sent->parts.front().effect;
        co_return outbox_event{.what = event_kind::taken, .is_single = is_single};
    }

    awaitable<outbox_event> send(replica& r, bool again) {
        tell_state(r, remote_status::state::sending);
        if (again && !r.sent) co_return moved(r);
        const milliseconds asked = clock_.elapsed();
        const std::uint64_t question = ++r.asked;
        std::vector<operation> copy = r.sent->operations;
        auto outcome = co_await r.sink->add_version(r.sent->parent, std::move(copy));
        const std::size_t parts = r.sent->parts.size();
        if (const auto* const accepted = std::get_if<sink_accepted>(&outcome)) {
            probe_.delivered(outbox_probe::delivery::accepted, parts);
            r.accepted = accepted->version;
            r.up_to_date_at = std::max(r.up_to_date_at, asked);
            r.confirmed = std::max(r.confirmed, question);
            co_return outbox_event{.what = event_kind::accepted};
        }
        if (std::holds_alternative<sink_conflict>(outcome)) {
            probe_.delivered(outbox_probe::delivery::conflict, parts);
            co_return outbox_event{.what = event_kind::conflict};
        }
        const auto& failure = std::get<sink_failure>(outcome);
        using failed_as = sink_failure::kind;
        probe_.delivered(failure.why == failed_as::refused ? outbox_probe::delivery::refused
                         : failure.why == failed_as::unreachable
                             ? outbox_probe::delivery::unreachable
                             : outbox_probe::delivery::lost,
                         parts);
        co_return failed(r, failure);
    }

    awaitable<outbox_event> settle(replica& r) {
        callsign::settle command{r.remote.account, r.sent->parent, r.accepted, r.sent->operations,
                                 r.sent->parts};
        auto done = co_await engine_.submit(std::move(command));
        if (!done) co_return failed(r, done.error());
        auto* const settled = std::get_if<callsign::settle::settled>(&*done);
        if (settled == nullptr) co_return moved(r);
        const sent_version sent = std::move(*r.sent);
        r.sent.reset();
        come_to(r, r.accepted);
        auto edited = settled->edited.begin();
        for (const delivery_part& part : sent.parts) {
            if (!part.edit) continue;
            const edit_ptr& e = sent.edits[*part.edit];
            task now = std::move(*edited++);
            if (size_of(now.attributes) > e->command.shown_bytes_max) now.attributes = attributes();
            answer(*e, edit_task::answer(edit_task::edited{std::move(now)}));
        }
        if (sent.is_fence) {
            probe_.fenced();
            answer_calls(r.fences, true);
        }
        co_return outbox_event{
            .what = event_kind::settled, .has_work = has_work(r), .pull_first = needs_pull(r)};
    }

    awaitable<outbox_event> disband(replica& r) {
        // If it is unknown whether a copy will arrive, callers get outcome_unknown.
        if (r.sent)
            drop_sent(r,
                      r.machine.is_uncertain() ? errc::outcome_unknown : errc::remote_unavailable);
        r.has_effects = true;
        co_return outbox_event{.what = event_kind::disbanded, .has_work = true};
    }

    awaitable<outbox_event> give_up(replica& r) {
        const auto effect = r.sent->parts.front().effect;
        r.sent.reset();
        give_up_effect command{r.remote.account, *effect, options_.attempts_max};
        const auto done = co_await engine_.submit(command);
        if (!done) co_return failed(r, done.error());
        r.has_effects = true;
        co_return outbox_event{.what = event_kind::disbanded, .has_work = true};
    }

    // Creations and keys of it remain in the outbox.
    void drop_sent(replica& r, errc why) {
        for (const delivery_part& part : r.sent->parts) {
            if (part.edit) answer(*r.sent->edits[*part.edit], why);
        }
        r.sent.reset();
        r.has_effects = true;
    }

    // ---- helpers ----

    void come_to(replica& r, const uuid& version) {
        r.remote.before = std::exchange(r.remote.cursor, version);
        r.remote.partial = {};
        r.remote.partial_operations = 0;
        if (!r.verified_at) r.verified_at = clock_.elapsed();
    }

    void up_to_date(replica& r, milliseconds asked, std::uint64_t question) {
        r.confirmed = std::max(r.confirmed, question);
        r.up_to_date_at = std::max(r.up_to_date_at, asked);
        r.status.up_to_date_at = clock_.now();
        r.status.pulled = 0;
        r.status.last_error.clear();
        tell_state(r, remote_status::state::up_to_date);
        std::erase_if(r.lookups, [&](waiting_call* w) {
            if (w->asked >= question) return false;
            w->outcome = true;
            w->patience->cancel();
            return true;
        });
    }

    outbox_event moved(replica& r) {
        r.is_stale = true;
        return outbox_event{.what = event_kind::moved};
    }

    outbox_event failed(replica& r, const boost::system::error_code& error) {
        return failed(r, {sink_failure::kind::busy, "Local error: " + error.message() + ".", {}});
    }

    outbox_event failed(replica& r, const sink_failure& failure) {
        fail_calls(r, failure.text);
        tell_state(r, remote_status::state::waiting);
        return {.what = event_kind::failed, .failure = failure.why, .retry_in = failure.retry_in};
    }

    // The remote reports what would halt the account, and is not believed yet.
    void note_doubt(replica& r, event_kind said) {
        if (said == event_kind::diverged) {
            r.status.last_error = "The remote server reports missing versions; rechecking.";
        } else if (said == event_kind::incomplete) {
            r.status.last_error =
                "The remote server reports an incomplete history without a snapshot; rechecking.";
        } else {
            return;
        }
        r.status.last_error_at = clock_.now();
        tell_state(r, remote_status::state::waiting);
    }

    void fail_calls(replica& r, const std::string& why) {
        r.status.last_error = why;
        r.status.last_error_at = clock_.now();
        answer_calls(r.lookups, false);
        answer_calls(r.fences, false);
    }

    void tell_state(replica& r, remote_status::state now) {
        r.status.now = now;
        probe_.state_changed(r.remote.account, r.status);
    }

    static void answer(waiting_edit& e, result<edit_task::answer> given) {
        if (e.answer) return;
        e.answer = std::move(given);
        e.patience->cancel();
    }

    static void answer_calls(std::vector<waiting_call*>& calls, bool outcome) {
        for (waiting_call* w : std::exchange(calls, {})) {
            w->outcome = outcome;
            w->patience->cancel();
        }
    }

    awaitable<bool> await_call(replica& r, std::vector<waiting_call*>& calls) {
        if (stopped_ || r.status.halted != remote_halt::none) co_return false;
        waiting_call mine{r.asked, clock_.make_timer(network_)};
        calls.push_back(&mine);
        r.changed->notify();
        const account_id account = r.remote.account;
        co_await mine.patience->wait(engine_.request_deadline());
        if (!mine.outcome) {
            if (replica* const there = find(account)) {
                std::erase(there->lookups, &mine);
                std::erase(there->fences, &mine);
            }
        }
        co_return mine.outcome.value_or(false);
    }

    std::uint8_t draw() {
        std::array<std::uint8_t, 1> drawn{};
        entropy_.fill(drawn);
        return drawn[0];
    }

    awaitable<void> take_permit(replica& r) {
        while (!r.has_permit && !stopped_) {
            if (permits_taken_ < options_.at_once) {
                ++permits_taken_;
                r.has_permit = true;
                break;
            }
            const auto mine = clock_.make_timer(network_);
            permits_wanted_.push_back(mine.get());
            co_await mine->wait(std::chrono::hours{1});
            permits_wanted_.remove(mine.get());
        }
        wake_for_permit();
    }

    void wake_for_permit() {
        const bool is_free = permits_taken_ < options_.at_once;
        if (is_free && !permits_wanted_.empty()) permits_wanted_.front()->cancel();
    }

    void give_back_permit(replica& r) {
        if (!std::exchange(r.has_permit, false)) return;
        --permits_taken_;
        wake_for_permit();
    }

    engine& engine_;
    clock& clock_;
    entropy& entropy_;
    asio::any_io_executor network_;
    outbox_options options_;
    sink_maker make_;
    outbox_probe& probe_;
    hub::subscription told_;
    milliseconds started_ = clock_.elapsed();
    std::map<account_id, std::unique_ptr<replica>> replicas_;
    std::size_t permits_taken_ = 0;
    std::list<timer*> permits_wanted_;
    int running_ = 0;
    bool stopped_ = false;
    std::unique_ptr<timer> at_rest_;
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

bool outbox::is_elsewhere(account_id account) const {
    return impl_->is_elsewhere(account);
}

awaitable<result<edit_task::answer>> outbox::edit(edit_task c) {
    return impl_->edit(std::move(c));
}

awaitable<bool> outbox::look_up(account_id account) {
    return impl_->look_up(account);
}

awaitable<bool> outbox::fence(account_id account) {
    return impl_->fence(account);
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
