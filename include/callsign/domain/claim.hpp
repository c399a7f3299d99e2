#pragma once
// The resources that a request will take, known before any work is done for it: whose share it
// counts against, how much it will take, and its deadline. Commands, queries and offloaded work are
// admitted by their claim alone (engine.hpp). Each command and query has its own claim_of(); there
// is no general one, so the program does not link without it. A claim is an estimate made without
// reading the store.

#include <callsign/base/payer.hpp>
#include <callsign/base/strong_id.hpp>
#include <callsign/base/time.hpp>

#include <cstddef>
#include <optional>

namespace callsign {

struct cost {
    std::size_t bytes = 0;       // content held in memory, written or read
    std::size_t operations = 1;  // changes of a task, or of something as small; at least 1
    std::size_t rows = 0;        // other rows that are read

    // Returns the cost as a number of bytes. On a small machine the store writes 1 MiB in about 3
    // ms; an operation takes about 15 us and a row 5 us, and each counts as the bytes written in
    // that time.
    constexpr std::size_t weight() const { return bytes + operations * 4096 + rows * 1536; }
};

// For queries that read all rows of a kind, whatever their number.
inline constexpr cost many_rows{.rows = 1000};

struct claim {
    claim(payer pays, const cost& takes = {}) : who(pays), price(takes) {}       // NOLINT
    claim(account_id pays, const cost& takes = {}) : who(pays), price(takes) {}  // NOLINT

    payer who;
    cost price;
    // By clock::elapsed(); a request not started by then is dropped. None:
    // engine_options::request_deadline after its arrival.
    std::optional<milliseconds> deadline{};
};

}  // namespace callsign
