#pragma once
// On whose share something counts, whatever it takes: turns, the queue's room or memory for bodies.

#include <callsign/base/strong_id.hpp>

#include <compare>
#include <cstdint>
#include <functional>

namespace callsign {

// The account that is charged. All callers without a token or a known client id are charged
// together, so that many connections do not get a larger share.
class payer {
  public:
    // Requires: a real account's id, which is larger than 0.
    constexpr payer(account_id account) : id_(account.value) {}  // NOLINT: an account pays

    // The server's own work, the reaper's above all. It is always first in turn: what it decides
    // must not be overtaken by what came after (engine::reconcile), and there is little of it.
    static constexpr payer house() { return payer(0); }
    static constexpr payer strangers() { return payer(-1); }
    // What they do to an account counts on that account; this is for the rest.
    static constexpr payer operators() { return payer(-2); }

    constexpr bool is_house() const { return id_ == 0; }
    constexpr std::int64_t id() const { return id_; }

    friend auto operator<=>(const payer&, const payer&) = default;

  private:
    constexpr explicit payer(std::int64_t id) : id_(id) {}

    std::int64_t id_;
};

}  // namespace callsign

template <>
struct std::hash<callsign::payer> {
    std::size_t operator()(const callsign::payer& who) const noexcept {
        return std::hash<std::int64_t>{}(who.id());
    }
};
