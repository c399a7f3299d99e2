#pragma once
// One thing on its way through the queue: a command, and whoever waits for its answer.

#include <callsign/base/time.hpp>
#include <callsign/domain/command.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <optional>

namespace callsign {

// Lives in the frame of the coroutine that awaits it, from push() to the call of `done`. The writer
// touches it only in between, the network thread only before and after.
class work {
  public:
    explicit work(command first) : what(std::move(first)) {}
    work(const work&) = delete;
    work& operator=(const work&) = delete;

    // Called on the writer's thread once the batch that holds `what` is durable and `out` is its
    // answer. True: `what` is now a further command, to be queued at once, in a batch of its own.
    virtual bool proceed() { return false; }

    command what;
    answer out;
    boost::system::error_code error;     // set instead of `out`
    std::optional<time_point> deadline;  // dropped if a batch has not taken it by then
    std::size_t bytes = 0;               // of request content, for the bounds of queue and batch
    account_id account;                  // whose share of the queue it takes; 0: nobody's
    // Moved by construction only: Boost 1.81's move assignment of this type calls itself for ever.
    std::optional<boost::asio::any_completion_handler<void()>> done;

    // Empties `done` first: what it holds owns the frame this work lives in.
    boost::asio::any_completion_handler<void()> take_handler() {
        auto taken = std::move(*done);
        done.reset();
        return taken;
    }

  protected:
    ~work() = default;
};

}  // namespace callsign
