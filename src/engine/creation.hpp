#pragma once
// A creation: two commands, reserve and fulfil, each durable in a batch of its own.

#include "work.hpp"

#include <callsign/engine/engine.hpp>

#include <boost/unordered/unordered_flat_map.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace callsign {

// Both phases as one work: when the sync of the reservation begins, the fulfilment is queued
// without the network thread. A return to it would cost a thread switch for each creation.
class creation final : public work {
  public:
    // Requires: `request` is a reserve. `deadline`: see claim.
    creation(callsign::command request, milliseconds deadline);

    bool proceed() override;
    std::size_t held_bytes() const override { return held_bytes_; }

    // Requires: done, and no error. Call once: the answer is moved out.
    create_answer take_outcome();

    // The slot, if the task is in flight to a remote server. Requires: done, and no error.
    std::optional<slot_id> in_flight() const;

    // When the key was reserved, if this request is a retry.
    std::optional<time_point> retried_since() const { return retried_since_; }

  private:
    template <class Command>
    void go_on_with(Command next);

    std::size_t held_bytes_;
    std::optional<time_point> retried_since_;
    slot_id slot_{};
};

// A request that waits for the outcome of another with its key. Lives in its coroutine's frame.
struct follower {
    std::unique_ptr<timer> patience;
    std::optional<result<create_answer>> outcome;
};

// A request in progress, and those that wait for it. Lives in its coroutine's frame.
struct leader {
    std::string key;
    digest fingerprint{};
    std::vector<follower*> followers;
};

// Every creation in progress in this process, by (account, idempotency key of the leader). Network
// executor.
using creations =
    boost::unordered_flat_map<std::pair<account_id, std::string_view>, leader*, worked_on_hash>;

}  // namespace callsign
