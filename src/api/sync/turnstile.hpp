#pragma once
// Makes conflicts rare between replicas that share a client id. A stock client that is answered 409
// can go wrong for good, and it is answered so when two replicas are told "up to date" at the same
// moment and both send a version.
//
// So a connection that is told "up to date" holds the turn of its client id for a short while;
// another one that has come to the end of the chain waits until the holder has sent its version,
// has gone, or has had its time, and then looks again. A connection that has sent a version since
// it was last told does not take the turn again: this is the end of its sync.
//
// It only ever delays an answer, and by no more than patience(): what is right is decided by the
// rule. Threads: the network executor. Without a connection (0) nobody waits.

#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/ports/clock.hpp>

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace callsign::api {

class turnstile {
  public:
    // `hold`: how long a turn lasts. Zero: there are none.
    turnstile(clock& clock, milliseconds hold);
    ~turnstile();
    turnstile(const turnstile&) = delete;
    turnstile& operator=(const turnstile&) = delete;

    class visit;
    // One request of `connection`; lives in its handler's frame.
    visit enter(const uuid& client, std::uint64_t connection);

    // No request of the connection will come any more.
    void closed(std::uint64_t connection);

    // Client ids with a turn taken or a request under way: at most one a connection.
    std::size_t size() const noexcept;

  private:
    struct state;
    // Shared with the visits: at shutdown a handler's frame may outlive everything else.
    std::shared_ptr<state> state_;
};

class turnstile::visit {
  public:
    visit(std::shared_ptr<state> owner, const uuid& client, std::uint64_t connection);
    ~visit();
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;

    // ---- a request for the next version ----

    // Before the chain is looked at.
    void look();
    // Nothing newer was found. True: say so, the turn is taken if it is due. False: look again.
    boost::asio::awaitable<bool> may_say_up_to_date();

    // ---- a version ----

    // It is on its way: a turn does not end before its outcome is known.
    void sending();
    void sent(bool accepted);

  private:
    std::shared_ptr<state> state_;
    const uuid client_;
    const std::uint64_t connection_;
    std::uint64_t seen_ = 0;  // versions that had been accepted when the chain was looked at
    milliseconds waited_{0};
    bool sending_ = false;
};

}  // namespace callsign::api
