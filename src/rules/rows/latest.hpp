#pragma once
// Logs that keep their latest rows. A row's place is 1, 2, 3 ... in the order of its log.

#include <callsign/ports/store.hpp>

#include <cstdint>

namespace callsign {

// Returns the place of the next row. Removes earlier rows except for the latest `kept - 1`. `log`:
// all its rows, by an index in their order.
template <class Index, std::size_t Parts>
std::int64_t take_place(write_tx& tx, range<Index, Parts> log, std::int64_t kept) {
    using row = row_of<typename Index::row>;
    const auto last = tx.all(range(log).descending().limit(1));
    const std::int64_t place = last.empty() ? 1 : last.front()->place + 1;
    // One row goes for each new one; after `kept` was lowered, a second one.
    tx.scan(log.limit(2), [&](const row& oldest) {
        const bool is_gone = oldest->place <= place - kept;
        if (is_gone) tx.erase(oldest);
        return is_gone;
    });
    return place;
}

}  // namespace callsign
