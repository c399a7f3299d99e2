#pragma once
// Logs of which the latest rows are kept: a row's place is 1, 2, 3 ... in the order of its log.

#include <callsign/ports/store.hpp>

#include <cstdint>

namespace callsign {

// The place of the row that is put next. Those before it go, but for the latest `kept - 1`. `log`:
// all of its rows, by an index in their order.
template <class Index, std::size_t Parts>
std::int64_t take_place(write_tx& tx, range<Index, Parts> log, std::int64_t kept) {
    using row = row_of<typename Index::row>;
    const auto last = tx.all(range(log).descending().limit(1));
    const std::int64_t place = last.empty() ? 1 : last.front()->place + 1;
    // One goes for one that comes; where more were kept once, another with it.
    tx.scan(log.limit(2), [&](const row& oldest) {
        const bool is_gone = oldest->place <= place - kept;
        if (is_gone) tx.erase(oldest);
        return is_gone;
    });
    return place;
}

}  // namespace callsign
