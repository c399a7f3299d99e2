#pragma once
// A command in the writer's queue, and the caller that waits for its answer.

#include "waiter.hpp"

#include <callsign/domain/command.hpp>

#include <cstddef>
#include <optional>

namespace callsign {

// Accessed by the writer and the syncing thread only between push() and the call of `done`, by the
// network thread only before and after.
class work : public waiter {
  public:
    explicit work(callsign::command first) : work(claim_of_any(first), std::move(first)) {}
    // By reference: the claim is made before the command is moved.
    work(const claim& asks, callsign::command&& first) : waiter(asks), command(std::move(first)) {}

    // Called when the batch that holds `command` is committed and `out` is its answer, as the sync
    // of that batch begins, on the thread that begins it. True: `command`, `price` and `weight` are
    // now those of a further command, to be queued at once, for a batch of its own and a later
    // sync.
    virtual bool proceed() { return false; }

    // Bytes of request content held in memory until the work ends.
    virtual std::size_t held_bytes() const { return price.bytes; }

    callsign::command command;
    std::optional<actor> by;  // for the audit log; none: not recorded
    answer out;               // unless there is an error
    bool begun = false;       // proceed() has returned true
    work* behind = nullptr;   // for the queue's use

  protected:
    ~work() = default;
};

}  // namespace callsign
