#pragma once
// A creation: two commands, reserve and fulfil, each durable in a batch of its own.

#include "work.hpp"

#include <callsign/engine/engine.hpp>
#include <callsign/engine/wakeup.hpp>

#include <boost/unordered/unordered_flat_map.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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

// The outcome of a creation, for requests with the same key that wait for it.
using creation_outcome = awaited<result<create_answer>>;

// A creation in progress. Lives in its coroutine's frame.
struct active_creation {
    std::string key;
    digest fingerprint{};
    std::shared_ptr<creation_outcome> awaited;  // null: no other request waits
};

// Every creation in progress in this process, by (account, its idempotency key). Network executor.
using creations = boost::unordered_flat_map<std::pair<account_id, std::string_view>,
                                            active_creation*, worked_on_hash>;

}  // namespace callsign
