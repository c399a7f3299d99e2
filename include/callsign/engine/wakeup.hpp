#pragma once
// Notifies coroutines of changes, and loses no notification. (A timer alone would not do: its
// cancel() is kept for the next wait, which may be another coroutine's.) The caller reads now(),
// checks its condition and passes that moment to wait(), which a notify() in between ends at once:
//
//     const auto seen = changed.now();     // before the check
//     if (!is_there()) co_await changed.wait(seen, span);
//
// Any number of waiters, all on one executor. `clock` must outlive them; a frame that waits may
// outlive this object, but must not run on then. Each wait has its own timer, in its frame: a timer
// kept here for the next wait would outlive the executor whose end destroyed the frame.

#include <callsign/ports/clock.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace callsign {

// Default timeout of waits that a change ends normally.
inline constexpr milliseconds longest_wait{std::chrono::hours{24}};

class wakeup {
  public:
    // The number of changes so far.
    enum class moment : std::uint64_t {};

    wakeup(clock& clock, boost::asio::any_io_executor executor)
        : clock_(clock), executor_(std::move(executor)) {}

    moment now() const noexcept { return moment{waiters_->changes}; }

    void notify() {
        ++waiters_->changes;
        for (timer* const each : waiters_->waiting) each->cancel();
    }

    // True: there was a change after `seen`, even before the call. False: the span has passed.
    boost::asio::awaitable<bool> wait(moment seen, milliseconds span) {
        const milliseconds until = clock_.elapsed() + span;
        if (now() != seen) co_return true;
        const waiter mine(waiters_, clock_, executor_);
        while (now() == seen) {
            const milliseconds left = until - clock_.elapsed();
            if (left <= milliseconds{0}) co_return false;
            co_await mine.timer().wait(left);
        }
        co_return true;
    }

    // Waits until is() returns true. Requires: notify() is called after each change of its result.
    // Returns is() once `span` (monotonic clock) has passed.
    template <class Is>
    boost::asio::awaitable<bool> until(Is is, milliseconds span = longest_wait) {
        const milliseconds end = clock_.elapsed() + span;
        for (;;) {
            const moment seen = now();
            if (is()) co_return true;
            const bool has_changed = co_await wait(seen, end - clock_.elapsed());
            if (!has_changed) co_return is();
        }
    }

  private:
    struct waiters {
        std::uint64_t changes = 0;
        std::vector<timer*> waiting;
    };
    class waiter {
      public:
        waiter(std::shared_ptr<waiters> among, clock& clock,
               const boost::asio::any_io_executor& executor)
            : among_(std::move(among)), timer_(clock.make_timer(executor)) {
            among_->waiting.push_back(timer_.get());
        }
        ~waiter() { std::erase(among_->waiting, timer_.get()); }
        waiter(const waiter&) = delete;
        waiter& operator=(const waiter&) = delete;

        callsign::timer& timer() const noexcept { return *timer_; }

      private:
        std::shared_ptr<waiters> among_;
        std::unique_ptr<callsign::timer> timer_;
    };

    clock& clock_;
    boost::asio::any_io_executor executor_;
    // Shared with the waiters' frames.
    std::shared_ptr<waiters> waiters_ = std::make_shared<waiters>();
};

// A value that is set once, and its waiters.
template <class T>
class awaited {
  public:
    awaited(clock& clock, boost::asio::any_io_executor executor)
        : changed_(clock, std::move(executor)) {}

    bool is_set() const noexcept { return value_.has_value(); }
    // Does nothing if it is set.
    void set(T value) {
        if (value_) return;
        value_.emplace(std::move(value));
        changed_.notify();
    }
    // Null: it was not set within the span. Valid as long as this object, which has to exist until
    // the wait ends.
    boost::asio::awaitable<const T*> get(milliseconds span) {
        const bool is = co_await changed_.until([this] { return is_set(); }, span);
        co_return is ? &*value_ : nullptr;
    }

  private:
    wakeup changed_;
    std::optional<T> value_;
};

}  // namespace callsign
