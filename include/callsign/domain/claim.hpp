#pragma once
// What a request asks of the server, before anything is done for it: on whose share it counts, how
// much it will take, and how long it can wait. Commands, queries and offloaded work are admitted by
// this alone (engine.hpp). Each command and query says its own, in a function claim_of() beside it;
// there is no general one, so that one without does not compile. A claim is an estimate from what
// can be known without looking into the store, made the same way for everybody.

#include <callsign/base/strong_id.hpp>
#include <callsign/base/time.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

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

struct cost {
    std::size_t bytes = 0;       // of content: held in memory meanwhile, written or read
    std::size_t operations = 1;  // changes of a task, or of something as small; at least 1
    std::size_t rows = 0;        // looked at besides

    // One number, in bytes. On a small machine the store writes a MiB in some 3 ms, an operation
    // takes some 15 us, a row 5 us: as long as so many bytes.
    constexpr std::size_t weight() const { return bytes + operations * 4096 + rows * 1536; }
};

// Of a question that looks at all there is, however much that may be.
inline constexpr cost many_rows{.rows = 1000};

struct claim {
    claim(payer pays, const cost& takes = {}) : who(pays), price(takes) {}       // NOLINT
    claim(account_id pays, const cost& takes = {}) : who(pays), price(takes) {}  // NOLINT

    payer who;
    cost price;
    // By clock::elapsed(): not begun by then, it is dropped. None: engine_options::request_deadline
    // from when it comes.
    std::optional<milliseconds> deadline{};
};

}  // namespace callsign

template <>
struct std::hash<callsign::payer> {
    std::size_t operator()(const callsign::payer& who) const noexcept {
        return std::hash<std::int64_t>{}(who.id());
    }
};
