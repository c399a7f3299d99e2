#pragma once
// One thing on its way through the writer's queue: a command, and the caller who waits for its
// answer.

#include "waiter.hpp"

#include <callsign/domain/command.hpp>

#include <cstddef>
#include <optional>

namespace callsign {

// The writer, and who syncs for it, touch it only between push() and the call of `done`, the
// network thread only before and after.
class work : public waiter {
  public:
    explicit work(callsign::command first) : work(claim_of_any(first), std::move(first)) {}
    // By reference: the claim is made of what is then moved.
    work(const claim& asks, callsign::command&& first) : waiter(asks), command(std::move(first)) {}

    // Called when the batch that holds `command` is committed and `out` is its answer, before the
    // sync that makes it durable, on the thread that syncs. True: `command` is now a further
    // command, `price` and `weight` are its own, and it is to be queued at once, for a batch of its
    // own and a later sync.
    virtual bool proceed() { return false; }

    // Of request content that it keeps in memory, to its end.
    virtual std::size_t held_bytes() const { return price.bytes; }

    callsign::command command;
    std::optional<actor> by;  // if the audit log is to say so
    answer out;               // unless there is an error
    bool begun = false;       // it has proceeded
    work* behind = nullptr;   // the queue's

  protected:
    ~work() = default;
};

}  // namespace callsign
