#include "creation.hpp"
#include "writer.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/engine/engine.hpp>

#include <algorithm>
#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <span>
#include <utility>
#include <vector>

namespace callsign {

namespace asio = boost::asio;

class engine::impl {
  public:
    impl(store& store, clock& clock, entropy& entropy, const executors& executors,
         engine_options options, engine_probe& probe, std::function<void(std::string)> on_fatal)
        : store_(store),
          clock_(clock),
          executors_(executors),
          options_(std::move(options)),
          probe_(probe),
          on_fatal_(std::move(on_fatal)),
          drained_(clock.make_timer(executors.network)),
          writer_(store, clock, entropy, executors, options_, probe,
                  {[this](std::span<work* const> done) { completed(done); },
                   [this](std::string why) { failed(std::move(why)); },
                   [this](std::string why) { damaged(std::move(why)); }}) {}

    // ---- the queue's bounds ----

    boost::system::error_code admit(const work& w) {
        if (!accepting_) return errc::shutting_down;
        // One request at a time may be larger than the bound: on a busy server the queue is never
        // empty, and it must have its turn too.
        const bool oversized = w.bytes > options_.queue_bytes_max;
        const bool fits =
            oversized ? oversized_ == 0 : bytes_ + w.bytes <= options_.queue_bytes_max;
        if (depth_ >= options_.queue_depth_max || !fits) return errc::overloaded;
        if (w.account.value != 0) {
            auto& share = shares_[w.account];
            if (share >= options_.account_depth_max) return errc::overloaded;
            ++share;
        }
        ++depth_;
        oversized ? ++oversized_ : bytes_ += w.bytes;
        probe_.queue_depth_changed(depth_);
        return {};
    }

    void leave(const work& w) {
        --depth_;
        w.bytes > options_.queue_bytes_max ? --oversized_ : bytes_ -= w.bytes;
        probe_.queue_depth_changed(depth_);
        if (w.account.value != 0) {
            const auto share = shares_.find(w.account);
            if (--share->second == 0) shares_.erase(share);
        }
        if (depth_ == 0 && !accepting_) drained_->cancel();
    }

    // ---- one work, to its end ----

    asio::awaitable<boost::system::error_code> perform(work& w) {
        if (const auto refused = admit(w)) co_return refused;
        w.deadline = clock_.now() + options_.request_deadline;
        co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(
            [this, &w](auto handler) {
                w.done.emplace(std::move(handler));
                writer_.push(w);
            },
            asio::use_awaitable);
        co_return w.error;
    }

    // The works leave the queue before any waiter runs: a waiter that submits again finds room.
    void completed(std::span<work* const> done) {
        for (const work* w : done) leave(*w);
        for (work* w : done) {
            auto handler = w->take_handler();
            std::move(handler)();
        }
    }

    void failed(std::string why) {
        accepting_ = false;
        if (on_fatal_) std::exchange(on_fatal_, nullptr)(std::move(why));
    }

    void damaged(std::string why) {
        writable_ = false;
        if (report_damage_) report_damage_(std::move(why));
    }

    // ---- creations ----

    asio::awaitable<result<create_answer>> create(create_request request) {
        const time_point deadline = clock_.now() + options_.request_deadline;
        for (;;) {
            const auto under_way = creations_.find(std::pair(request.account, request.key));
            if (under_way == creations_.end()) co_return co_await lead(std::move(request));
            auto outcome = co_await follow(*under_way->second, request, deadline);
            if (outcome) {
                record(*outcome, {});
                co_return std::move(*outcome);
            }
        }
    }

    asio::awaitable<result<create_answer>> lead(create_request request) {
        leader self{request.fingerprint, {}};
        // The element's address outlives a rehash; its iterator would not.
        const auto& key =
            creations_.emplace(std::pair(request.account, request.key), &self).first->first;
        creation w(std::move(request));
        const auto error = co_await perform(w);
        creations_.erase(creations_.find(key));

        result<create_answer> outcome = error;
        if (!error) outcome = w.take_outcome();
        record(outcome, w.retried_since());
        for (follower* f : self.followers) {
            f->outcome = outcome;
            f->patience->cancel();
        }
        co_return outcome;
    }

    // What another request's outcome means for this one; none: it must try for itself.
    asio::awaitable<std::optional<result<create_answer>>> follow(leader& ahead,
                                                                 const create_request& request,
                                                                 time_point deadline) {
        const bool same = ahead.fingerprint == request.fingerprint;
        follower self{clock_.make_timer(executors_.network), {}};
        ahead.followers.push_back(&self);
        const auto patience = std::max(deadline - clock_.now(), milliseconds{0});
        co_await self.patience->wait(patience);
        if (!self.outcome) {
            // Out of patience, and `ahead` is still there: it tells its followers before it goes.
            std::erase(ahead.followers, &self);
            co_return result<create_answer>{in_progress{}};
        }
        if (!same || !*self.outcome) co_return std::nullopt;
        if (auto* given = std::get_if<receipted>(&**self.outcome)) {
            given->replayed = true;
            co_return std::move(self.outcome);
        }
        if (std::holds_alternative<slot_failed>(**self.outcome)) co_return std::move(self.outcome);
        co_return std::nullopt;
    }

    void record(const result<create_answer>& outcome, std::optional<time_point> retried_since) {
        using what = engine_probe::create_outcome;
        if (!outcome) return probe_.create_answered(what::refused);
        const auto* given = std::get_if<receipted>(&*outcome);
        const bool late = std::holds_alternative<slot_failed>(*outcome);
        probe_.create_answered(given  ? given->replayed          ? what::replayed
                                        : given->receipt.created ? what::created
                                                                 : what::existing
                               : late ? what::failed
                               : std::holds_alternative<key_conflict>(*outcome) ? what::conflict
                               : std::holds_alternative<in_progress>(*outcome)  ? what::in_progress
                                                                                : what::refused);
        if (retried_since) probe_.retry_seen(clock_.now() - *retried_since, late);
    }

    worked_on busy() const {
        worked_on keys;
        for (const auto& [key, ahead] : creations_) keys.insert(key);
        return keys;
    }

    // ---- what runs beside the network thread ----

    asio::awaitable<void> run_aside(std::function<void()> run) {
        std::exception_ptr thrown;
        co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(
            [this, &run, &thrown](auto handler) {
                asio::any_completion_handler<void()> back = std::move(handler);
                asio::post(executors_.reader,
                           [this, &run, &thrown, back = std::move(back)]() mutable {
                               thrown = what_is_thrown_by(run);
                               asio::post(executors_.network, std::move(back));
                           });
            },
            asio::use_awaitable);
        if (thrown) std::rethrow_exception(thrown);
    }

    static std::exception_ptr what_is_thrown_by(const std::function<void()>& run) {
        try {
            run();
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
    }

    // ---- questions ----

    // Those that come in one turn of the network thread are answered in one transaction: opening
    // it, waking a reader and coming back cost more than most questions do.
    asio::awaitable<boost::system::error_code> read(std::function<void(read_tx&)> run) {
        boost::system::error_code error;
        std::exception_ptr thrown;
        co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(
            [this, &run, &error, &thrown](auto handler) {
                if (questions_.empty()) asio::post(executors_.network, [this] { hand_over(); });
                questions_.push_back({&run, &error, &thrown, std::move(handler)});
                if (questions_.size() == questions_max) hand_over();
            },
            asio::use_awaitable);
        if (thrown) std::rethrow_exception(thrown);
        co_return error;
    }

    struct question {
        // Of the frame that awaits the answer.
        std::function<void(read_tx&)>* run;
        boost::system::error_code* error;
        std::exception_ptr* thrown;
        asio::any_completion_handler<void()> back;
    };

    void hand_over() {
        if (questions_.empty()) return;
        asio::post(executors_.reader, [this, asked = std::exchange(questions_, {})]() mutable {
            answer_all(asked);
            asio::post(executors_.network, [answered = std::move(asked)]() mutable {
                for (question& q : answered) std::move(q.back)();
            });
        });
    }

    // The transaction begins after all of them were asked: each sees what was durable by then.
    void answer_all(std::span<const question> asked) {
        try {
            const auto tx = store_.begin_read();
            for (const question& q : asked) answer_one(q, *tx);
        } catch (const store_failure& failure) {
            // Nobody has an answer.
            const auto error = read_failed(failure);
            for (const question& q : asked) *q.error = error;
        }
    }

    // Any thread.
    boost::system::error_code read_failed(const store_failure& failure) {
        if (failure.what_happened() != store_failure::kind::damaged) return errc::store_unavailable;
        asio::post(executors_.network, [this, why = std::string(failure.what())]() mutable {
            if (report_damage_) report_damage_(std::move(why));
        });
        return errc::store_damaged;
    }

    void answer_one(const question& q, read_tx& tx) {
        try {
            (*q.run)(tx);
        } catch (const store_failure& failure) {
            // This one has no answer; the others may have theirs.
            *q.error = read_failed(failure);
        } catch (...) {
            *q.thrown = std::current_exception();
        }
    }

    // A slow one among them keeps the others waiting: few enough for a second reader to find some.
    static constexpr std::size_t questions_max = 32;

    store& store_;
    clock& clock_;
    executors executors_;
    engine_options options_;
    engine_probe& probe_;
    std::function<void(std::string)> on_fatal_;

    // ---- network executor ----
    std::function<void(std::string)> report_damage_;
    bool writable_ = true;
    bool accepting_ = true;
    std::size_t depth_ = 0;
    std::size_t bytes_ = 0;      // of what is not oversized
    std::size_t oversized_ = 0;  // works larger than queue_bytes_max
    std::unordered_map<account_id, std::size_t> shares_;
    creations creations_;
    std::vector<question> questions_;  // not handed over yet
    std::unique_ptr<timer> drained_;

    writer writer_;
};

engine::engine(store& store, clock& clock, entropy& entropy, const executors& executors,
               engine_options options, engine_probe& probe,
               std::function<void(std::string)> on_fatal)
    : impl_(std::make_unique<impl>(store, clock, entropy, executors, std::move(options), probe,
                                   std::move(on_fatal))) {}

engine::~engine() = default;

namespace {

// How much of a request's content a command carries.
template <class Command>
std::size_t content_bytes(const Command& c) {
    if constexpr (requires { c.segment; }) {
        return c.segment.size();
    } else if constexpr (requires { c.bytes.size(); }) {
        return c.bytes.size();
    } else if constexpr (requires { c.bytes; }) {
        return c.bytes;
    } else {
        return 0;
    }
}

// A command by itself; one that says whose it is counts on that account.
struct plain final : work {
    explicit plain(command c) : work(std::move(c)) {
        std::visit(
            [this](const auto& of) {
                bytes = content_bytes(of);
                if constexpr (requires { account = of.account; }) account = of.account;
            },
            what);
    }
};

}  // namespace

asio::awaitable<result<answer>> engine::submit_any(command c) {
    plain w(std::move(c));
    const auto error = co_await impl_->perform(w);
    if (error) co_return error;
    co_return std::move(w.out);
}

asio::awaitable<result<create_answer>> engine::create(create_request request) {
    return impl_->create(std::move(request));
}

asio::awaitable<boost::system::error_code> engine::read_on_reader(
    std::function<void(read_tx&)> run) {
    return impl_->read(std::move(run));
}

asio::awaitable<void> engine::run_on_reader(std::function<void()> run) {
    return impl_->run_aside(std::move(run));
}

asio::awaitable<result<reconcile_pending::answer>> engine::reconcile(slot_id after,
                                                                     std::int64_t limit,
                                                                     milliseconds window) {
    reconcile_pending c{after, limit, window, impl_->busy()};
    return submit(std::move(c));
}

void engine::stop() {
    impl_->accepting_ = false;
    if (impl_->depth_ == 0) impl_->drained_->cancel();
}

asio::awaitable<void> engine::drained() {
    CALLSIGN_ASSERT(!impl_->accepting_);
    while (impl_->depth_ != 0) co_await impl_->drained_->wait(std::chrono::hours{1});
}

bool engine::accepting() const noexcept {
    return impl_->accepting_;
}

bool engine::writable() const noexcept {
    return impl_->writable_;
}

void engine::report_damage_to(std::function<void(std::string)> report) {
    impl_->report_damage_ = std::move(report);
}

milliseconds engine::clock_behind() const noexcept {
    return impl_->writer_.clock_behind();
}

std::size_t engine::queue_depth() const noexcept {
    return impl_->depth_;
}

}  // namespace callsign
