#include <callsign/base/assert.hpp>
#include <callsign/platform/real.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <ctime>
#include <sys/random.h>
#include <system_error>
#include <utility>

namespace callsign::platform {
namespace {

namespace asio = boost::asio;

constexpr auto use_result = asio::as_tuple(asio::use_awaitable);

class steady final : public timer {
  public:
    explicit steady(const asio::any_io_executor& executor) : timer_(executor) {}

    // Cancellation is decided by the flag alone, not by the timer's error code: a cancel between
    // the expiry and the waiter's turn finds nothing left to abort, and one before the wait has
    // nothing to abort yet.
    asio::awaitable<bool> wait(milliseconds span) override {
        boost::system::error_code aborted;
        if (!cancelled_) {
            timer_.expires_after(span);
            std::tie(aborted) = co_await timer_.async_wait(use_result);
        }
        const bool was_cancelled = std::exchange(cancelled_, false);
        co_return !was_cancelled && !aborted;
    }

    void cancel() override {
        cancelled_ = true;
        timer_.cancel();
    }

  private:
    asio::steady_timer timer_;
    bool cancelled_ = false;
};

class real_clock final : public clock {
  public:
    time_point now() const override {
        return std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
    }

    milliseconds elapsed() const override {
        timespec since_boot{};
        const int failed = ::clock_gettime(CLOCK_BOOTTIME, &since_boot);
        CALLSIGN_ASSERT(failed == 0);
        return std::chrono::seconds{since_boot.tv_sec} +
               std::chrono::floor<milliseconds>(std::chrono::nanoseconds{since_boot.tv_nsec});
    }

    std::unique_ptr<timer> make_timer(asio::any_io_executor executor) override {
        return std::make_unique<steady>(executor);
    }
};

bool fill_from_system(std::span<std::uint8_t> bytes) noexcept {
    while (!bytes.empty()) {
        const ssize_t got = getrandom(bytes.data(), bytes.size(), 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        bytes = bytes.subspan(static_cast<std::size_t>(got));
    }
    return true;
}

class real_entropy final : public entropy {
  public:
    void fill(std::span<std::uint8_t> bytes) override {
        // getrandom() worked at start-up, and keeps working. Predictable bytes would be worse than
        // exiting.
        const bool filled = fill_from_system(bytes);
        CALLSIGN_ASSERT(filled);
    }
};

}  // namespace

std::unique_ptr<clock> make_real_clock() {
    return std::make_unique<real_clock>();
}

std::unique_ptr<entropy> make_real_entropy() {
    std::uint8_t probe[1];
    if (!fill_from_system(probe)) {
        throw std::system_error(errno, std::generic_category(),
                                "cannot read random bytes from the system");
    }
    return std::make_unique<real_entropy>();
}

}  // namespace callsign::platform
