#pragma once
// The one workflow of two commands: reserve, then fulfil, each durable in a batch of its own.

#include "work.hpp"

#include <callsign/engine/engine.hpp>

#include <boost/unordered/unordered_flat_map.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace callsign {

// The two phases as one work: once the reservation is durable, the writer queues the fulfilment
// itself. Handing it back to the network thread in between would cost a thread switch for each
// creation.
class creation final : public work {
  public:
    // Requires: a reserve. `deadline`: see claim.
    creation(callsign::command request, milliseconds deadline);

    bool proceed() override;
    std::size_t held_bytes() const override { return held_bytes_; }

    // Requires: done, and no error. Once: the answer is moved out.
    create_answer take_outcome();

    // The task is on its way to another server. Requires: done, and no error.
    std::optional<slot_id> in_flight() const;

    // When the key was reserved, for a request that was not its first.
    std::optional<time_point> retried_since() const { return retried_since_; }

  private:
    template <class Command>
    void go_on_with(Command next);

    std::size_t held_bytes_;
    std::optional<time_point> retried_since_;
    slot_id slot_{};
};

// A request that waits for another one's outcome. Lives in its coroutine's frame.
struct follower {
    std::unique_ptr<timer> patience;
    std::optional<result<create_answer>> outcome;
};

// A request that is being worked on, and who waits for it. Lives in its coroutine's frame.
struct leader {
    std::string key;
    digest fingerprint{};
    std::vector<follower*> followers;
};

// By (account, idempotency key of the leader): every creation under way in this process. Network
// executor.
using creations =
    boost::unordered_flat_map<std::pair<account_id, std::string_view>, leader*, worked_on_hash>;

}  // namespace callsign
