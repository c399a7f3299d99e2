#pragma once
// Reduces version conflicts between replicas that share a client ID. After a 409 response a stock
// client can diverge permanently; a 409 occurs when two replicas receive "up to date" at the same
// time and both add a version.
//
// A replica that receives "up to date" takes the client ID's turn for `hold`. Other replicas at the
// end of the chain wait until the expected version has been added or the turn has expired, then
// read again. A replica that has just added a version ends its sync by requesting the child of that
// version; this request takes no turn. No other replica can send this request before it has
// received the version. Connections do not identify replicas: proxies pool them.
//
// Only delays responses, by at most timeout(); add_sealed_version decides. Network executor.

#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace callsign {
class clock;
}

namespace callsign::api {

class turnstile {
  public:
    // `hold`: the length of a turn; zero: no turns.
    turnstile(clock& clock, milliseconds hold);
    ~turnstile();
    turnstile(const turnstile&) = delete;
    turnstile& operator=(const turnstile&) = delete;

    class visit;
    // Visit of one request; lives in its handler's frame.
    visit enter(const uuid& client);

    // Returns the longest delay of one response, without the store's time.
    milliseconds timeout() const noexcept;

    // Counts client IDs with a request in progress, or a turn taken less than two turns ago.
    std::size_t size() const noexcept;

  private:
    struct state;
    // Shared with the visits: at shutdown a handler's frame may outlive everything else.
    std::shared_ptr<state> state_;
};

class turnstile::visit {
  public:
    visit(std::shared_ptr<state> owner, const uuid& client);
    ~visit();
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;

    // ---- a request for the next version ----

    // Called before the chain is read.
    void look();
    // The child of `parent` is `version`, and will be sent.
    void found(const uuid& parent, const uuid& version);
    // `parent` has no child. Returns true: respond so, the turn is taken if necessary. Returns
    // false: read again.
    boost::asio::awaitable<bool> may_say_up_to_date(const uuid& parent);

    // ---- a version ----

    // A child of `parent` is in flight: a turn does not end before its outcome is known, or the
    // visit ends.
    void sending(const uuid& parent);
    // The version is in the chain, with this ID. `more_may_follow`: it may be one of several in one
    // sync.
    void accepted(const uuid& version, bool more_may_follow);

  private:
    void sent();

    std::shared_ptr<state> state_;
    const uuid client_;
    std::uint64_t seen_ = 0;  // versions accepted when the chain was read
    milliseconds waited_{0};
    bool sending_ = false;
    uuid parent_{};          // of the in-flight version
    bool is_known_ = false;  // others received it before its outcome arrived here
};

}  // namespace callsign::api
