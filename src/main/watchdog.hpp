#pragma once
// Tells the service manager that the server is alive, as long as it is: each word goes through the
// writer first, and through the thread that syncs for it, so it stops when one of these or the
// network thread has stopped. A timer's thread of its own would go on telling.

#include <callsign/platform/service_manager.hpp>
#include <callsign/ports/clock.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <utility>

namespace callsign {

// Used on the network executor. The service manager outlives it.
class watchdog {
  public:
    watchdog(const platform::service_manager& manager, clock& clock,
             const boost::asio::any_io_executor& network, boost::asio::any_io_executor writer,
             boost::asio::any_io_executor sync)
        : manager_(manager),
          writer_(std::move(writer)),
          sync_(std::move(sync)),
          timer_(clock.make_timer(network)) {}

    // Until stop(); at once, if nobody asks.
    boost::asio::awaitable<void> run() {
        // Twice in the time that it waits, so that one may be late.
        const auto interval = std::chrono::floor<milliseconds>(manager_.patience() / 2);
        if (interval == milliseconds{0}) co_return;
        while (true) {
            const bool passed = co_await timer_->wait(interval);
            if (!passed) co_return;
            // There and back again.
            co_await boost::asio::post(writer_, boost::asio::use_awaitable);
            co_await boost::asio::post(sync_, boost::asio::use_awaitable);
            // What is lost is the next one's to say.
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
