#pragma once
// What a request asks of the server, before anything is done for it: on whose share it counts, how
// much it will take, and how long it can wait. Commands, queries and offloaded work are admitted by
// this alone (engine.hpp). Each command and query says its own, in a function claim_of() beside it;
// there is no general one, so that one without does not compile. A claim is an estimate from what
// can be known without looking into the store, made the same way for everybody.

#include <callsign/base/payer.hpp>
#include <callsign/base/strong_id.hpp>
#include <callsign/base/time.hpp>

#include <cstddef>
#include <optional>

namespace callsign {

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
