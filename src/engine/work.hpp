#pragma once
// One thing on its way through the writer's queue: a command, and the caller who waits for its
// answer.

#include "waiter.hpp"

#include <callsign/domain/command.hpp>

#include <cstddef>
#include <optional>

namespace callsign {

// The writer touches it only between push() and the call of `done`, the network thread only before
// and after.
class work : public waiter {
  public:
    explicit work(callsign::command first) : work(claim_of_any(first), std::move(first)) {}
    // By reference: the claim is made of what is then moved.
    work(const claim& asks, callsign::command&& first) : waiter(asks), command(std::move(first)) {}

    // Called on the writer's thread once the batch that holds `command` is durable and `out` is its
    // answer. True: `command` is now a further command, `price` and `weight` are its own, and it is
    // to be queued at once, for a batch of its own.
    virtual bool proceed() { return false; }

    // Of request content that it keeps in memory, to its end.
    virtual std::size_t held_bytes() const { return price.bytes; }

    callsign::command command;
    std::optional<actor> by;  // if the audit log is to say so
    answer out;               // unless there is an error
    work* behind = nullptr;   // the queue's

  protected:
    ~work() = default;
};

}  // namespace callsign
