#include "retry_watch.hpp"

#include <callsign/engine/permits.hpp>
#include <callsign/engine/wakeup.hpp>
#include <callsign/reaper/reaper.hpp>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace callsign {

namespace asio = boost::asio;

namespace {

// Steps of one sweep: each reads or rewrites about 1 MiB of an account's chain.
constexpr int scrub_steps_max = 256;

}  // namespace

class reaper::impl {
  public:
    impl(engine& engine, clock& clock, const asio::any_io_executor& network, reaper_options options,
         reaper_probe& probe)
        : engine_(engine),
          clock_(clock),
          network_(network),
          probe_(probe),
          changed_(clock, network),
          sweeps_(clock, {}),
          watch_(options.automatic),
          watched_until_(clock.elapsed()),
          events_(engine.events().subscribe([this](const event& happened) {
              if (const auto* const retry = std::get_if<events::retry_seen>(&happened)) {
                  watch_.saw(*retry);
              } else if (std::holds_alternative<events::series_steps_due>(happened)) {
                  changed_.notify();
              }
          })) {
        status_.options = options;
        choose_windows();
    }

    asio::awaitable<void> run() {
        while (!stopped_) {
            const auto seen = changed_.now();
            const auto swept = co_await sweep_once();
            if (swept.has_error()) probe_.sweep_failed(swept.error());
            if (!stopped_) co_await changed_.wait(seen, status_.options.interval);
        }
        co_await keep_news();
    }

    void stop() {
        stopped_ = true;
        changed_.notify();
    }

    void use_outbox(outbox& outbox) { outbox_ = &outbox; }

    asio::awaitable<result<sweep_result>> sweep_once() {
        const permits::permit mine = co_await sweeps_.take(payer::system());
        const time_point begun = clock_.now();
        const milliseconds reading = clock_.elapsed();
        const result<sweep_result> swept = co_await sweep();
        if (swept.has_value()) {
            ++status_.sweeps;
            status_.last_sweep = begun;
            status_.last_result = *swept;
            probe_.swept(*swept, clock_.elapsed() - reading);
        }
        probe_.clock_compared(engine_.clock_behind());
        co_return swept;
    }

    void reload(reaper_options options) {
        status_.options = options;
        choose_windows();
        changed_.notify();  // a shorter interval need not wait for the longer one to end
    }

    reaper_status status() const {
        reaper_status now = status_;
        now.clock_behind = engine_.clock_behind();
        for (const account_class c : account_classes) now.windows[c] = watch_.status(c);
        return now;
    }

  private:
    using slots_by_account = std::map<account_id, std::vector<slot_id>>;

    // Sweeps in steps of `batch`; between two steps the queue serves clients. Each step is complete
    // in itself, so a sweep that stops between steps has only done less.
    asio::awaitable<result<sweep_result>> sweep() {
        const auto unread = co_await read_what_was_kept();
        if (unread) co_return unread;
        choose_windows();
        for (const account_class c : account_classes) probe_.window_chosen(c, watch_.status(c));
        const auto swept = co_await sweep_parts();
        co_await keep_news();
        co_return swept;
    }

    // A failure of one part does not affect the others.
    asio::awaitable<result<sweep_result>> sweep_parts() {
        sweep_result all;
        slots_by_account remote;
        boost::system::error_code failed;
        const auto keep_first = [&failed](boost::system::error_code error) {
            if (!failed) failed = error;
        };
        keep_first(co_await reconcile_slots(all, remote));
        keep_first(co_await work_on_series<find_numbering, number_tasks>(numbered_));
        keep_first(co_await work_on_series<find_renamed, update_keys>(renamed_));
        keep_first(co_await forget_settled_slots(all));
        keep_first(co_await remove_deleted_accounts());
        keep_first(co_await forget_old_actions());
        keep_first(co_await scrub_purged_tasks(all));
        keep_first(co_await clear_the_log());
        // Last, since remote servers may be slow.
        keep_first(co_await sweep_remote(std::move(remote), all));
        if (failed) co_return failed;
        co_return all;
    }

    asio::awaitable<boost::system::error_code> reconcile_slots(sweep_result& all,
                                                               slots_by_account& remote) {
        for (std::optional<slot_id> at = slot_id{}; at;) {
            const reaper_options now = status_.options;
            const auto step = co_await engine_.reconcile(*at, now.batch, watch_.windows());
            if (!step) co_return step.error();
            watch_.failed(step->failed_of);
            all.scanned += step->scanned;
            all.committed += step->committed;
            all.failed += step->failed;
            at = step->next;
            for (const auto& [account, id] : step->remote) remote[account].push_back(id);
        }
        co_return boost::system::error_code{};
    }

    // Numbers tasks of resumed series, or updates the keys of renamed ones: a step of each series
    // in turn, so that a large one delays no other. If a sweep may make no more steps, the next one
    // follows at once. A failure of one series does not affect the others.
    template <class Find, class Step>
    asio::awaitable<boost::system::error_code> work_on_series(series_id& after) {
        boost::system::error_code failed;
        std::set<series_id> unable;
        std::int64_t left = status_.options.series_steps_max;
        for (bool has_stepped = after != series_id{}; left > 0 && !stopped_;) {
            const Find question{after};
            const auto found = co_await engine_.ask(question);
            if (!found) co_return found.error();
            after = found->series.value_or(series_id{});
            if (!found->series) {
                if (!std::exchange(has_stepped, false)) break;
                continue;
            }
            if (unable.contains(after)) continue;
            const auto step = co_await engine_.submit(Step{after});
            has_stepped = has_stepped || step;
            if (!step) {
                failed = step.error();
                unable.insert(after);
            } else {
                --left;
            }
        }
        if (left == 0) changed_.notify();
        co_return failed;
    }

    asio::awaitable<boost::system::error_code> forget_settled_slots(sweep_result& all) {
        for (std::optional<slot_id> at = slot_id{}; at;) {
            const reaper_options now = status_.options;
            forget_settled forget{*at, now.batch, now.retention, now.history_retention};
            const auto step = co_await engine_.submit(forget);
            if (!step) co_return step.error();
            all.scanned += step->scanned;
            all.forgotten += step->forgotten;
            at = step->next;
        }
        co_return boost::system::error_code{};
    }

    // Once a sweep: the WAL still contains what was removed and scrubbed.
    asio::awaitable<boost::system::error_code> clear_the_log() {
        if (!clearing_due_) co_return boost::system::error_code{};
        const auto cleared = co_await engine_.submit(clear_log{});
        if (!cleared) co_return cleared.error();
        clearing_due_ = false;
        co_return boost::system::error_code{};
    }

    // A limited number of steps, and the next sweep goes on: a long chain must not delay clients'
    // commands. A failure of one account does not affect the others.
    asio::awaitable<boost::system::error_code> scrub_purged_tasks(sweep_result& all) {
        boost::system::error_code failed;
        for (int steps = scrub_steps_max; steps > 0 && !stopped_; --steps) {
            if (!scrubbing_) {
                auto purged = co_await engine_.ask(find_purged{scrubbed_of_});
                if (!purged) co_return purged.error();
                if (purged->tasks.empty()) {
                    scrubbed_of_ = {};
                    co_return failed;
                }
                scrubbed_of_ = purged->account;
                scrubbing_.emplace(std::move(*purged));
            }
            const auto error = co_await scrub(*scrubbing_, all);
            if (error) failed = error;
            if (error || scrubbing_->tasks.empty()) scrubbing_.reset();
        }
        co_return failed;
    }

    // The chain first: while it has text, the purges are not complete. After a restart, the account
    // is begun again.
    asio::awaitable<boost::system::error_code> scrub(find_purged::answer& purged,
                                                     sweep_result& all) {
        scrub_purged command{purged.account, purged.tasks};
        if (purged.after) {
            find_purged_text question{purged.account, purged.tasks, *purged.after};
            auto found = co_await engine_.ask(std::move(question));
            if (!found) co_return found.error();
            purged.after = found->next;
            if (found->versions.empty()) co_return boost::system::error_code{};
            command.versions = std::move(found->versions);
            command.bytes = found->bytes;
        }
        const auto step = co_await engine_.submit(std::move(command));
        if (!step) co_return step.error();
        const auto over = static_cast<std::ptrdiff_t>(step->over);
        purged.tasks.erase(purged.tasks.begin(), purged.tasks.begin() + over);
        all.scrubbed += over;
        clearing_due_ = clearing_due_ || over > 0;
        co_return boost::system::error_code{};
    }

    asio::awaitable<boost::system::error_code> forget_old_actions() {
        for (bool has_more = true; has_more && !stopped_;) {
            const forget_actions command{status_.options.audit_keep, status_.options.batch};
            const auto step = co_await engine_.submit(command);
            if (!step) co_return step.error();
            has_more = step->has_more;
        }
        co_return boost::system::error_code{};
    }

    // After the slots, on which the removal depends.
    asio::awaitable<boost::system::error_code> remove_deleted_accounts() {
        remove_deleted command;
        for (bool has_more = true; has_more && !stopped_;) {
            command.grace = status_.options.account_grace;
            command.limit = status_.options.batch;
            const auto step = co_await engine_.submit(command);
            if (!step) co_return step.error();
            command.from = step->next;
            clearing_due_ = clearing_due_ || step->removed > 0;
            has_more = step->next || step->removed > 0;
        }
        co_return boost::system::error_code{};
    }

    // Remote accounts that are swept at once: each whose server does not respond takes as long as a
    // request may.
    static constexpr std::size_t asked_at_once = 64;

    // Slots of remote accounts. The remote server is queried first for what became of them: if it
    // cannot be reached, no slot is failed.
    asio::awaitable<boost::system::error_code> sweep_remote(slots_by_account pending,
                                                            sweep_result& all) {
        if (outbox_ == nullptr) co_return boost::system::error_code{};
        for (const account_id account : outbox_->accounts()) pending[account];
        // Each coroutine takes the next account until there is none.
        auto next = pending.begin();
        boost::system::error_code failed;
        const auto ask_some = [&]() -> asio::awaitable<void> {
            while (next != pending.end() && !failed && !stopped_) {
                auto& [account, slots] = *next++;
                const auto error = co_await sweep_account(account, slots, all);
                if (error) failed = error;
            }
        };
        const auto begin = [&] { return asio::co_spawn(network_, ask_some(), asio::deferred); };
        std::vector<decltype(begin())> askers;
        while (askers.size() < std::min(pending.size(), asked_at_once)) askers.push_back(begin());
        if (askers.empty()) co_return failed;
        auto [order, thrown] =
            co_await asio::experimental::make_parallel_group(std::move(askers))
                .async_wait(asio::experimental::wait_for_all(), asio::use_awaitable);
        for (const std::exception_ptr& error : thrown) {
            if (error) std::rethrow_exception(error);
        }
        co_return failed;
    }

    asio::awaitable<boost::system::error_code> sweep_account(account_id account,
                                                             std::vector<slot_id>& slots,
                                                             sweep_result& all) {
        find_remote question{account};
        const auto row = co_await engine_.ask(question);
        if (!row) co_return row.error();
        const bool has_some = *row && ((*row)->waiting.oldest || !slots.empty());
        if (!has_some) co_return boost::system::error_code{};
        const bool was_asked = co_await outbox_->pull_now(account);
        if (!was_asked) co_return boost::system::error_code{};
        auto step = co_await fail_remote(account, slots, all);
        if (!step) co_return step.error();
        if (step->unfenced == 0) co_return boost::system::error_code{};
        const bool is_fenced = co_await outbox_->push_now(account);
        if (!is_fenced) co_return boost::system::error_code{};
        std::vector<slot_id> none;
        step = co_await fail_remote(account, none, all);
        co_return step ? boost::system::error_code{} : step.error();
    }

    asio::awaitable<result<fail_in_flight::answer>> fail_remote(account_id account,
                                                                std::vector<slot_id>& pending,
                                                                sweep_result& all) {
        fail_in_flight::answer done;
        for (std::optional<effect_id> at = effect_id{}; at;) {
            const reaper_options now = status_.options;
            fail_in_flight command{.account = account,
                                   .window = watch_.windows()[account_class::remote],
                                   .attempts_max = outbox_->options().attempts_max,
                                   .limit = now.batch,
                                   .after = *at,
                                   .pending = std::move(pending)};
            pending.clear();
            const auto step = co_await engine_.reconcile(std::move(command));
            if (!step) co_return step.error();
            all.scanned += step->scanned;
            all.failed += step->failed;
            per_class<std::int64_t> failed;
            failed[account_class::remote] = step->failed;
            watch_.failed(failed);
            done.unfenced += step->unfenced;
            at = step->next;
        }
        co_return done;
    }

    // ---- windows ----

    void choose_windows() {
        const milliseconds reading = clock_.elapsed();
        watch_.pass(reading - std::exchange(watched_until_, reading));
        for (const auto& change : watch_.choose(status_.options, clock_.now())) {
            probe_.window_changed(change.accounts, change.from, watch_.status(change.accounts));
        }
    }

    // Reads, once, what earlier runs stored. Corrupt data is ignored and overwritten; the engine
    // has reported it. After any other failure the next sweep tries again: with the fallback window
    // alone, slots could be failed too early.
    asio::awaitable<boost::system::error_code> read_what_was_kept() {
        for (; has_read_ < account_classes.size(); ++has_read_) {
            const account_class accounts = account_classes[has_read_];
            find_retry_times question{accounts};
            const auto kept = co_await engine_.ask(question);
            const bool is_lost = !kept && (kept.error() == errc::store_damaged ||
                                           kept.error() == errc::record_damaged);
            if (!kept && !is_lost) co_return kept.error();
            if (kept && *kept) watch_.restore(accounts, **kept);
        }
        co_return boost::system::error_code{};
    }

    // What cannot be written now is written later; nothing depends on it.
    asio::awaitable<void> keep_news() {
        if (has_read_ < account_classes.size()) co_return;
        keep_retry_times news{watch_.news()};
        if (news.times.empty()) co_return;
        const auto kept = co_await engine_.submit(std::move(news));
        if (!kept) watch_.keep_again();
    }

    engine& engine_;
    clock& clock_;
    asio::any_io_executor network_;
    reaper_probe& probe_;
    outbox* outbox_ = nullptr;
    wakeup changed_;  // what ends the pause between two sweeps
    permits sweeps_;  // one at a time, first come first served
    reaper_status status_;
    retry_watch watch_;
    milliseconds watched_until_;  // by the monotonic clock
    std::size_t has_read_ = 0;    // classes whose stored times were read
    hub::subscription events_;
    std::optional<find_purged::answer> scrubbing_;  // what is left to do of an account
    account_id scrubbed_of_;                        // the account begun last
    series_id numbered_, renamed_;                  // the series worked on last
    bool clearing_due_ = false;                     // of the WAL
    bool stopped_ = false;
};

reaper::reaper(engine& engine, clock& clock, const asio::any_io_executor& network,
               reaper_options options, reaper_probe& probe)
    : impl_(std::make_unique<impl>(engine, clock, network, options, probe)) {}

reaper::~reaper() = default;

void reaper::use_outbox(outbox& outbox) {
    impl_->use_outbox(outbox);
}

asio::awaitable<void> reaper::run() {
    return impl_->run();
}

void reaper::stop() {
    impl_->stop();
}

asio::awaitable<result<sweep_result>> reaper::sweep_once() {
    return impl_->sweep_once();
}

void reaper::reload(reaper_options options) {
    impl_->reload(options);
}

reaper_status reaper::status() const {
    return impl_->status();
}

}  // namespace callsign
