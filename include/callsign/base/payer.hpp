#pragma once
// Identifies whose share a request counts against: turns, queue space, memory for bodies.

#include <callsign/base/strong_id.hpp>

#include <compare>
#include <cstdint>
#include <functional>

namespace callsign {

// The account that is charged. All anonymous clients (no token, no known client ID) are charged
// together, so that many connections do not get a larger share.
class payer {
  public:
    // Requires: an ID larger than 0.
    constexpr payer(account_id account) : id_(account.value) {}  // NOLINT: converts implicitly

    // The system's internal work, mainly the reaper's. It always has the first turn: nothing that
    // was queued later may overtake its decisions (engine::reconcile), and there is little of it.
    static constexpr payer system() { return payer(0); }
    static constexpr payer anonymous() { return payer(-1); }
    // Operators' work that is not charged to the account it changes.
    static constexpr payer operators() { return payer(-2); }

    constexpr bool is_system() const { return id_ == 0; }
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
