#pragma once
// Makes conflicts rare between replicas that share a client id. A stock client that is answered 409
// can go wrong for good, and it is answered so when two replicas are told "up to date" at the same
// moment and both send a version.
//
// So whoever is told "up to date" takes the turn of its client id for a short while; others that
// have come to the end of the chain wait until the version that is likely to follow has come, or
// the turn has had its time, and then look again. One of them takes no turn: who has just sent a
// version asks once more, for the child of that version, and that is the end of its sync. Nobody
// else can ask for that child before he was given the version itself.
//
// Replicas are told apart by what they ask for alone: connections say nothing, since proxies share
// them out or close each.
//
// It only ever delays an answer, and by no more than patience(): what is right is decided by the
// rule. Threads: the network executor.

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
    // `hold`: how long a turn lasts. Zero: there are none.
    turnstile(clock& clock, milliseconds hold);
    ~turnstile();
    turnstile(const turnstile&) = delete;
    turnstile& operator=(const turnstile&) = delete;

    class visit;
    // One request; lives in its handler's frame.
    visit enter(const uuid& client);

    // The longest that one answer is delayed, but for what the store takes.
    milliseconds patience() const noexcept;

    // Client ids with a request under way, or with a turn that was taken less than two turns ago.
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

    // Before the chain is looked at.
    void look();
    // What comes after `parent` is this one, and will be answered.
    void found(const uuid& parent, const uuid& version);
    // Nothing comes after `parent`. True: say so, the turn is taken if it is due. False: look
    // again.
    boost::asio::awaitable<bool> may_say_up_to_date(const uuid& parent);

    // ---- a version ----

    // One that comes after `parent` is on its way: a turn does not end before its outcome is known,
    // or the visit over.
    void sending(const uuid& parent);
    // It is in the chain, under this id. `more_may_follow`: it may be one of several that a client
    // sends in one sync.
    void accepted(const uuid& version, bool more_may_follow);

  private:
    void sent();

    std::shared_ptr<state> state_;
    const uuid client_;
    std::uint64_t seen_ = 0;  // versions that had been accepted when the chain was looked at
    milliseconds waited_{0};
    bool sending_ = false;
    uuid parent_{};          // of what is on its way
    bool is_known_ = false;  // to others too: it was in the chain before its outcome came here
};

}  // namespace callsign::api
