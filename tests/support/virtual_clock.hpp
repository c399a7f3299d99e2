#pragma once
// A clock that tests advance. Waiters wake one at a time, in the order of their instants, and for
// equal instants in the order in which they began to wait: with everything on one io_context, a run
// is a function of its inputs.
//
// Wall time can be stepped in both directions without affecting spans that are being waited for.
//
// The clock must outlive its timers, and so the io_context whose coroutines hold them.

#include <callsign/base/assert.hpp>
#include <callsign/ports/clock.hpp>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace callsign::testing {

inline constexpr time_point virtual_start =
    std::chrono::sys_days{std::chrono::year{2026} / 11 / 20} + std::chrono::hours{12};

class virtual_clock final : public clock {
  public:
    explicit virtual_clock(time_point start = virtual_start) : wall_offset_(start) {}

    ~virtual_clock() override { CALLSIGN_ASSERT(waiting_.empty()); }

    time_point now() const override { return wall_offset_ + elapsed_; }

    std::unique_ptr<timer> make_timer(boost::asio::any_io_executor executor) override {
        return std::make_unique<virtual_timer>(*this, std::move(executor));
    }

    milliseconds elapsed() const noexcept override { return elapsed_; }

    // Sets the wall clock forwards or backwards.
    void step_wall(milliseconds by) noexcept { wall_offset_ += by; }

    // The time until the next timer expires; none: there are no timers.
    std::optional<milliseconds> until_next() const {
        if (waiting_.empty()) return std::nullopt;
        return std::max(waiting_.begin()->first.first - elapsed_, milliseconds{0});
    }

    // Advances to the next timer that expires within `at_most`, and wakes its waiter only. Returns
    // false if there is none; then `at_most` has passed.
    bool advance_to_next(milliseconds at_most) {
        const milliseconds end = elapsed_ + at_most;
        if (waiting_.empty() || waiting_.begin()->first.first > end) {
            elapsed_ = end;
            return false;
        }
        const auto next = waiting_.begin();
        elapsed_ = std::max(elapsed_, next->first.first);
        next->second->wake();
        return true;
    }

  private:
    class virtual_timer;
    using instant = std::pair<milliseconds, std::uint64_t>;

    class virtual_timer final : public timer {
      public:
        virtual_timer(virtual_clock& clock, boost::asio::any_io_executor executor)
            : clock_(clock),
              woken_(std::move(executor), boost::asio::steady_timer::time_point::max()) {}

        ~virtual_timer() override { stop_waiting(); }

        boost::asio::awaitable<bool> wait(milliseconds span) override {
            CALLSIGN_ASSERT(!in_progress_);
            if (std::exchange(cancelled_, false)) co_return false;
            at_.emplace(clock_.elapsed_ + span, clock_.next_waiter_++);
            clock_.waiting_.emplace(*at_, this);
            passed_ = false;
            in_progress_ = true;
            // The steady timer never expires; its cancellation wakes this coroutine.
            auto token = boost::asio::as_tuple(boost::asio::use_awaitable);
            co_await woken_.async_wait(token);
            in_progress_ = false;
            stop_waiting();
            co_return passed_;
        }

        // A cancel between a wake-up and the waiter's next step still counts: the wait returns
        // false.
        void cancel() override {
            if (!in_progress_) {
                cancelled_ = true;
                return;
            }
            passed_ = false;
            stop_waiting();
            woken_.cancel();
        }

        void wake() {
            passed_ = true;
            stop_waiting();
            woken_.cancel();
        }

      private:
        void stop_waiting() {
            if (!at_) return;
            clock_.waiting_.erase(*at_);
            at_.reset();
        }

        virtual_clock& clock_;
        boost::asio::steady_timer woken_;
        std::optional<instant> at_;  // position in the clock's order
        bool passed_ = false;
        bool cancelled_ = false;  // while no wait was in progress: applies to the next wait
        bool in_progress_ = false;
    };

    time_point wall_offset_;
    milliseconds elapsed_{0};
    std::uint64_t next_waiter_ = 0;
    std::map<instant, virtual_timer*> waiting_;
};

}  // namespace callsign::testing
