#pragma once
// Tickets admit one follower each, for clients that cannot send a header field: EventSource and
// WebSocket in browsers. A ticket stands in a URL, which proxies log, so it is valid once and for a
// minute. They are in memory: after a restart a client requests another one. Network executor.

#include <callsign/base/sha256.hpp>
#include <callsign/domain/account.hpp>
#include <callsign/domain/event.hpp>
#include <callsign/engine/engine.hpp>

#include <cstddef>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace callsign::api {

class tickets {
  public:
    static constexpr milliseconds valid_for{std::chrono::minutes{1}};
    // Of a token; a further one replaces its oldest.
    static constexpr std::size_t token_max = 32;

    // `clock` must outlive this object.
    explicit tickets(clock& clock) : clock_(clock) {}

    // Makes `text`, which must be hard to guess, a ticket of the caller. Requires: it has an
    // account.
    void put(std::string_view text, const principal& who);
    // Returns whose ticket it is; nullopt: unknown, used or expired.
    std::optional<principal> find(std::string_view text);
    // As find(); ends the ticket.
    std::optional<principal> take(std::string_view text);
    // A revocation ends the token's tickets, a change of its account's state the account's.
    void follow(const event& happened);

    std::size_t size() const noexcept { return by_hash_.size(); }

  private:
    struct entry {
        digest hash{};
        principal who;
        milliseconds until{0};  // by the monotonic clock
    };
    using entries = std::list<entry>;

    // Returns the end if there is no such ticket.
    entries::iterator look_up(std::string_view text);
    void erase(entries::iterator at);
    void erase_expired();

    clock& clock_;
    entries all_;  // the oldest first
    std::map<digest, entries::iterator> by_hash_;
    std::map<token_id, std::deque<entries::iterator>> by_token_;  // the oldest first
};

}  // namespace callsign::api
