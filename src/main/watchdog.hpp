#pragma once
// Notifies the service manager that the server is alive. Each notification first passes the writer
// and the thread that syncs for it, so that it stops if one of these or the network thread hangs. A
// timer on a thread of its own would go on notifying.

#include <callsign/platform/service_manager.hpp>
#include <callsign/ports/clock.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <utility>

namespace callsign {

// Network executor. The service manager outlives the watchdog.
class watchdog {
  public:
    watchdog(const platform::service_manager& manager, clock& clock,
             const boost::asio::any_io_executor& network, boost::asio::any_io_executor writer,
             boost::asio::any_io_executor sync)
        : manager_(manager),
          writer_(std::move(writer)),
          sync_(std::move(sync)),
          timer_(clock.make_timer(network)) {}

    // Runs until stop(); returns at once if no notifications are requested.
    boost::asio::awaitable<void> run() {
        // Half of the timeout, so that one notification may be late.
        const auto interval = std::chrono::floor<milliseconds>(manager_.timeout() / 2);
        if (interval == milliseconds{0}) co_return;
        while (true) {
            const bool passed = co_await timer_->wait(interval);
            if (!passed) co_return;
            // Through both threads and back.
            co_await boost::asio::post(writer_, boost::asio::use_awaitable);
            co_await boost::asio::post(sync_, boost::asio::use_awaitable);
            // A lost notification is made up for by the next one.
            manager_.alive();
        }
    }

    void stop() { timer_->cancel(); }

  private:
    const platform::service_manager& manager_;
    boost::asio::any_io_executor writer_;
    boost::asio::any_io_executor sync_;
    std::unique_ptr<timer> timer_;
};

}  // namespace callsign
