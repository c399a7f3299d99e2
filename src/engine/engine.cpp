#include "creation.hpp"
#include "readers.hpp"
#include "writer.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/engine/engine.hpp>
#include <callsign/engine/wakeup.hpp>
#include <callsign/rules/read.hpp>

#include <algorithm>
#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace callsign {

namespace asio = boost::asio;

namespace {

// The pause while nothing is due; a cancel ends it.
constexpr milliseconds rest = std::chrono::hours{1};

// Sets the flag for its lifetime.
class held_flag {
  public:
    explicit held_flag(bool& flag) : flag_(flag) { flag_ = true; }
    ~held_flag() { flag_ = false; }
    held_flag(const held_flag&) = delete;
    held_flag& operator=(const held_flag&) = delete;

  private:
    bool& flag_;
};

// A single command.
struct plain final : work {
    using work::work;
};

}  // namespace

class engine::impl {
  public:
    impl(store& store, clock& clock, entropy& entropy, const executors& executors,
         engine_options options, engine_probe& probe, std::function<void(std::string)> on_fatal)
        : store_(store),
          clock_(clock),
          executors_(with_offload(executors)),
          options_(std::move(options)),
          probe_(probe),
          on_fatal_(std::move(on_fatal)),
          shares_(std::make_shared<shares>(limits_of(options_))),
          idle_(clock, executors.network),
          readers_(store, clock, executors_, options_,
                   {[this](std::span<work_item* const> done) { completed(done); },
                    [this](const store_failure& failure) { return read_failed(failure); },
                    [this] { return writer_.visible(); }}),
          writer_(store, clock, entropy, executors_, options_, probe,
                  {[this](std::span<const event> batch) { events_.deliver(batch); },
                   [this](std::span<work* const> done) { completed(done); },
                   [this](std::uint64_t number) { readers_.durable(number); },
                   [this](std::string why) { failed(std::move(why)); },
                   [this](const store_failure& failure) { probe_.read_failed(failure); },
                   [this](std::optional<store_failure> now) { troubled(std::move(now)); }}),
          watch_(clock.make_timer(executors.network)) {
        settlements_ = events_.subscribe([this](const event& e) {
            if (const auto* const settled = std::get_if<events::slot_settled>(&e)) {
                landed(settled->slot);
            } else if (const auto* const full = std::get_if<events::account_full>(&e)) {
                probe_.account_full(full->limit);
            }
        });
    }

    // ---- one request ----

    boost::system::error_code admit(waiter& w, std::size_t bytes) {
        if (const auto short_of = shares_->take(w.who, bytes)) {
            probe_.rejected(*short_of);
            return errc::overloaded;
        }
        w.share = held_share(shares_, w.who, bytes);
        probe_.queue_depth_changed(shares_->depth());
        return {};
    }

    asio::awaitable<boost::system::error_code> perform(work& w) {
        if (!accepting_) co_return errc::shutting_down;
        if (const auto rejected = admit(w, w.held_bytes())) co_return rejected;
        if (!w.deadline) w.deadline = deadline();
        co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(
            [this, &w](auto handler) {
                w.done.emplace(std::move(handler));
                writer_.push(w);
            },
            asio::use_awaitable);
        co_return w.error;
    }

    // Queries run even when nothing more is written.
    asio::awaitable<boost::system::error_code> perform(claim asks, work_kind kind,
                                                       std::function<void(read_tx*)> run) {
        work_item item(asks, kind, std::move(run));
        if (const auto rejected = admit(item, asks.price.bytes)) co_return rejected;
        if (!item.deadline) item.deadline = deadline();
        co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(
            [this, &item](auto handler) {
                item.done.emplace(std::move(handler));
                readers_.push(item);
            },
            asio::use_awaitable);
        if (item.thrown) std::rethrow_exception(item.thrown);
        co_return item.error;
    }

    // Shares are returned before any handler runs: a request that follows finds room.
    template <class Waiter>
    void completed(std::span<Waiter* const> done) {
        for (Waiter* w : done) {
            w->share.give_back();
            if (w->error == errc::deadline_exceeded) {
                probe_.rejected(engine_probe::limit::time);
            }
        }
        probe_.queue_depth_changed(shares_->depth());
        if (shares_->depth() == 0) idle_.notify();
        for (Waiter* w : done) {
            auto handler = w->take_handler();
            std::move(handler)();
        }
    }

    // ---- copies of the store ----

    // The state of a copy on the writer's thread. Shared, since either thread may be the last to
    // hold it.
    struct copying {
        std::filesystem::path file;
        std::unique_ptr<store_copy> pages{};
        amount_done so_far{};
        std::optional<std::string> failed{};
    };

    asio::awaitable<std::optional<std::string>> copy_to(
        std::filesystem::path file, const std::function<void(const amount_done&)>& told) {
        if (copying_) co_return "Another backup is in progress.";
        const held_flag mine(copying_);
        const auto copy = std::make_shared<copying>();
        copy->file = std::move(file);
        for (bool more = true; more;) {
            if (!accepting_) copy->failed = "The server is shutting down.";
            if (is_corrupt()) copy->failed = "The store is corrupt.";
            more = co_await asio::co_spawn(executors_.writer, step(copy), asio::use_awaitable);
            told(copy->so_far);
        }
        idle_.notify();
        co_return copy->failed;
    }

    // Writer's thread. False: the copy is complete, or has failed.
    asio::awaitable<bool> step(std::shared_ptr<copying> copy) {
        bool more = false;
        try {
            auto* const its = store_.embedded();
            if (!its) copy->failed = "A PostgreSQL database is backed up by its own tools.";
            if (!copy->failed && !copy->pages) copy->pages = its->begin_copy(copy->file);
            if (!copy->failed) {
                more = copy->pages->step();
                copy->so_far = copy->pages->progress();
            }
        } catch (const store_failure& failure) {
            copy->failed = failure.what();
        }
        if (!more) copy->pages.reset();
        co_return more;
    }

    // Any thread.
    boost::system::error_code read_failed(const store_failure& failure) {
        using kind = store_failure::kind;
        if (failure.is_damage() || failure.reason() == kind::read_failed) {
            asio::post(executors_.network, [this, failure] { probe_.read_failed(failure); });
        }
        if (!failure.is_damage()) return errc::store_unavailable;
        return failure.reason() == kind::damaged ? errc::record_damaged : errc::store_damaged;
    }

    // By the monotonic clock.
    milliseconds deadline() const { return clock_.elapsed() + options_.request_deadline; }

    void failed(std::string why) {
        accepting_ = false;
        readers_.lose();
        const event lost = events::outcome_lost{};
        events_.deliver({&lost, 1});
        if (on_fatal_) std::exchange(on_fatal_, nullptr)(std::move(why));
    }

    // ---- rejected writes ----

    void troubled(std::optional<store_failure> now) {
        trouble_ = std::move(now);
        probe_.write_failure_changed(trouble_);
        watch_->cancel();
    }

    bool holds_store() const noexcept {
        auto* const shared = store_.shared();
        return !shared || shared->is_held();
    }
    bool is_corrupt() const {
        return trouble_ && trouble_->reason() == store_failure::kind::corrupt;
    }

    // The pause before the next test, or before the store is kept. Reading corrupt data again takes
    // longer than a test write.
    milliseconds until_proof() {
        if (!trouble_) return store_.shared() ? keep_interval : rest;
        if (!is_corrupt()) return options_.write_test_interval;
        const auto next = std::min(2 * look_interval_, options_.reread_interval_max);
        return std::exchange(look_interval_, next);
    }

    asio::awaitable<void> watch_writes() {
        const held_flag mine(watching_);
        co_await asio::co_spawn(executors_.writer, look(), asio::use_awaitable);
        while (accepting_) {
            const bool passed = co_await watch_->wait(until_proof());
            if (passed && !trouble_) look_interval_ = options_.write_test_interval;
            if (!passed || !accepting_) continue;
            auto next = trouble_ ? prove() : keep();
            co_await asio::co_spawn(executors_.writer, std::move(next), asio::use_awaitable);
        }
        idle_.notify();
    }

    asio::awaitable<void> look() {
        writer_.look();
        co_return;
    }
    asio::awaitable<void> prove() {
        writer_.prove();
        co_return;
    }
    asio::awaitable<void> keep() {
        writer_.keep();
        co_return;
    }

    // ---- creations ----

    asio::awaitable<result<create_answer>> create(reserve request) {
        const milliseconds until = deadline();
        for (;;) {
            const auto in_progress = creations_.find({request.account, request.key});
            if (in_progress == creations_.end()) co_return co_await lead(std::move(request), until);
            auto outcome = co_await follow(*in_progress->second, request, until);
            if (outcome) {
                record(*outcome, {});
                co_return std::move(*outcome);
            }
        }
    }

    asio::awaitable<result<create_answer>> lead(reserve request, milliseconds until) {
        active_creation self{request.key, request.fingerprint, {}};
        const std::pair<account_id, std::string_view> key{request.account, self.key};
        creations_.emplace(key, &self);
        creation w(std::move(request), until);
        result<create_answer> outcome = make_error_code(errc::store_unavailable);
        // However this ends, no later request may find it. Not in a destructor: in a simulated
        // crash, frames outlive the engine.
        std::exception_ptr thrown;
        try {
            const auto error = co_await perform(w);
            if (error) {
                outcome = error;
            } else if (const auto slot = w.in_flight()) {
                outcome = co_await await_landing_of(*slot, key, w.retried_since(), until);
            } else {
                outcome = w.take_outcome();
            }
        } catch (...) {
            thrown = std::current_exception();
        }
        creations_.erase(key);
        record(outcome, w.retried_since());
        if (self.awaited) self.awaited->set(outcome);
        if (thrown) std::rethrow_exception(thrown);
        co_return outcome;
    }

    // Waits until the remote server has the task.
    asio::awaitable<result<create_answer>> await_landing_of(
        slot_id slot, std::pair<account_id, std::string_view> key,
        std::optional<time_point> retried_since, milliseconds until) {
        wakeup settled(clock_, executors_.network);
        landings_.emplace(slot, &settled);
        std::optional<result<create_answer>> outcome;
        std::exception_ptr thrown;
        try {
            outcome = co_await await_landing(settled, key, retried_since, until);
        } catch (...) {
            thrown = std::current_exception();
        }
        // Not by an iterator: insertions since may have moved the table.
        const auto [from, to] = landings_.equal_range(slot);
        landings_.erase(
            std::find_if(from, to, [&](const auto& each) { return each.second == &settled; }));
        if (thrown) std::rethrow_exception(thrown);
        if (!outcome) co_return create_answer{in_progress{}};
        co_return std::move(*outcome);
    }

    // None: the remote server did not have it in time.
    asio::awaitable<std::optional<result<create_answer>>> await_landing(
        wakeup& settled, std::pair<account_id, std::string_view> key,
        std::optional<time_point> retried_since, milliseconds until) {
        // It may have been settled before this wait began, even in the batch of this request.
        for (;;) {
            const auto seen = settled.now();
            auto outcome = co_await look_up_outcome(key, retried_since);
            if (outcome) co_return outcome;
            const bool is_settled = co_await settled.wait(seen, until - clock_.elapsed());
            if (!is_settled) co_return std::nullopt;
        }
    }

    // None: not settled yet.
    asio::awaitable<std::optional<result<create_answer>>> look_up_outcome(
        std::pair<account_id, std::string_view> key, std::optional<time_point> retried_since) {
        using outcome = result<create_answer>;
        const find_slot question{key.first, std::string(key.second)};
        find_slot::answer found;
        std::function<void(read_tx*)> run = [&](read_tx* tx) {
            found = rules::read(*tx, question);
        };
        const claim asks = claim_of(question);
        const auto error = co_await perform(asks, work_kind::query, std::move(run));
        if (error) co_return outcome(error);
        if (!found) co_return outcome(create_answer{in_progress{}});
        if (found->receipt) {
            co_return outcome(create_answer{
                receipted{*found->receipt, retried_since.has_value(), found->slot.created_at}});
        }
        if (found->slot.state == slot_state::failed) {
            co_return outcome(create_answer{
                slot_failed{found->slot.reason, found->slot.created_at, *found->slot.settled_at}});
        }
        co_return std::nullopt;
    }

    void landed(slot_id slot) {
        const auto [from, to] = landings_.equal_range(slot);
        for (auto at = from; at != to; ++at) at->second->notify();
    }

    // Another request's outcome as this one's; none: this one must run by itself.
    asio::awaitable<std::optional<result<create_answer>>> follow(active_creation& ahead,
                                                                 const reserve& request,
                                                                 milliseconds until) {
        const bool same = ahead.fingerprint == request.fingerprint;
        if (!ahead.awaited) {
            ahead.awaited = std::make_shared<creation_outcome>(clock_, executors_.network);
        }
        const std::shared_ptr<creation_outcome> awaited = ahead.awaited;
        const auto* const its = co_await awaited->get(until - clock_.elapsed());
        if (its == nullptr) co_return result<create_answer>{in_progress{}};
        if (!same || !*its) co_return std::nullopt;
        if (const auto* given = std::get_if<receipted>(&**its)) {
            receipted again = *given;
            again.replayed = true;
            co_return result<create_answer>{std::move(again)};
        }
        if (std::holds_alternative<slot_failed>(**its)) co_return *its;
        co_return std::nullopt;
    }

    void record(const result<create_answer>& outcome, std::optional<time_point> retried_since) {
        using outcome_kind = engine_probe::create_outcome;
        if (!outcome) return probe_.create_answered(outcome_kind::rejected);
        const auto* given = std::get_if<receipted>(&*outcome);
        const bool late = std::holds_alternative<slot_failed>(*outcome);
        probe_.create_answered(
            given  ? given->replayed          ? outcome_kind::replayed
                     : given->receipt.created ? outcome_kind::created
                                              : outcome_kind::existing
            : late ? outcome_kind::failed
            : std::holds_alternative<key_conflict>(*outcome) ? outcome_kind::conflict
            : std::holds_alternative<in_progress>(*outcome)  ? outcome_kind::in_progress
                                                             : outcome_kind::rejected);
        if (retried_since) probe_.retry_seen(writer_.last_moment() - *retried_since, late);
    }

    worked_on busy() const {
        worked_on keys;
        for (const auto& [key, ahead] : creations_) keys.emplace(key);
        return keys;
    }

    // ---- setup ----

    static executors with_offload(executors given) {
        if (!given.offload) given.offload = given.reader;
        return given;
    }

    static share_limits limits_of(const engine_options& o) {
        return {o.queue_depth_max, o.queue_bytes_max, o.account_depth_max, o.account_bytes_max};
    }

    store& store_;
    clock& clock_;
    executors executors_;
    engine_options options_;
    engine_probe& probe_;
    std::function<void(std::string)> on_fatal_;

    // ---- network executor ----
    bool accepting_ = true;
    bool copying_ = false;
    bool watching_ = false;
    std::optional<store_failure> trouble_;
    milliseconds look_interval_ = options_.write_test_interval;
    std::shared_ptr<shares> shares_;
    hub events_;
    hub::subscription settlements_;
    creations creations_;
    // Requests whose task is in flight to a remote server; each in its coroutine's frame.
    std::unordered_multimap<slot_id, wakeup*> landings_;
    remote_editor* editor_ = nullptr;
    wakeup idle_;  // maybe: no request, copy or watch_writes() is left

    readers readers_;
    writer writer_;
    std::unique_ptr<timer> watch_;
};

engine::engine(store& store, clock& clock, entropy& entropy, const executors& executors,
               engine_options options, engine_probe& probe,
               std::function<void(std::string)> on_fatal)
    : impl_(std::make_unique<impl>(store, clock, entropy, executors, std::move(options), probe,
                                   std::move(on_fatal))) {}

engine::~engine() = default;

asio::awaitable<boost::system::error_code> engine::submit_any(command c, std::optional<actor> by,
                                                              std::optional<answer>& done) {
    plain w(std::move(c));
    w.by = std::move(by);
    const auto error = co_await impl_->perform(w);
    if (!error) done.emplace(std::move(w.out));
    co_return error;
}

asio::awaitable<result<create_answer>> engine::create(reserve request) {
    return impl_->create(std::move(request));
}

asio::awaitable<std::optional<std::string>> engine::copy_to(
    std::filesystem::path file, std::function<void(const amount_done&)> told) {
    co_return co_await impl_->copy_to(std::move(file), told);
}

asio::awaitable<boost::system::error_code> engine::run_query(claim asks,
                                                             std::function<void(read_tx*)> run) {
    return impl_->perform(asks, work_kind::query, std::move(run));
}

asio::awaitable<boost::system::error_code> engine::run_offloaded(
    claim asks, std::function<void(read_tx*)> run) {
    return impl_->perform(asks, work_kind::offloaded, std::move(run));
}

hub& engine::events() noexcept {
    return impl_->events_;
}

asio::awaitable<result<reconcile_pending::answer>> engine::reconcile(
    slot_id after, std::int64_t limit, per_class<milliseconds> window) {
    reconcile_pending c{after, limit, window, impl_->busy()};
    return submit(std::move(c));
}

asio::awaitable<result<fail_in_flight::answer>> engine::reconcile(fail_in_flight c) {
    c.busy = impl_->busy();
    return submit(std::move(c));
}

asio::awaitable<result<edit_task::answer>> engine::edit(edit_task c) {
    remote_editor* const editor = impl_->editor_;
    if (editor && editor->is_remote(c.account)) return editor->edit(std::move(c));
    return submit(std::move(c));
}

void engine::set_remote_editor(remote_editor& editor) {
    impl_->editor_ = &editor;
}

void engine::stop() {
    impl_->accepting_ = false;
    impl_->watch_->cancel();
    impl_->idle_.notify();
}

asio::awaitable<void> engine::drained() {
    CALLSIGN_ASSERT(!impl_->accepting_);
    co_await impl_->idle_.until(
        [this] { return queue_depth() == 0 && !impl_->copying_ && !impl_->watching_; });
}

milliseconds engine::request_deadline() const noexcept {
    return impl_->options_.request_deadline;
}

bool engine::accepting() const noexcept {
    return impl_->accepting_;
}

bool engine::holds_store() const noexcept {
    return impl_->holds_store();
}

bool engine::is_corrupt() const noexcept {
    return impl_->is_corrupt();
}

const std::optional<store_failure>& engine::write_failure() const noexcept {
    return impl_->trouble_;
}

asio::awaitable<void> engine::watch_writes() {
    return impl_->watch_writes();
}

milliseconds engine::clock_behind() const noexcept {
    return impl_->writer_.clock_behind();
}

bool engine::would_reject(const claim& asks) {
    const auto short_of = impl_->shares_->missing_for(asks.who, asks.price.bytes);
    if (short_of) impl_->probe_.rejected(*short_of);
    return short_of.has_value();
}

std::size_t engine::queue_depth() const noexcept {
    return impl_->shares_->depth();
}

}  // namespace callsign
