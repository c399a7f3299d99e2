#pragma once
// What an account may still store and have (rules.hpp, moment). For bytes clients' commands ask
// before anything is written; not those that take something away, that keep what was promised, and
// the server's and its operators' own. The rest is asked whoever wants it.

#include <callsign/ports/tables/accounts.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tokens.hpp>
#include <callsign/rules/rules.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace callsign::rules {

// False, from each: its operator is told.

inline bool has_room(write_tx& tx, account_id account, std::size_t more, const moment& m) {
    if (m.stored_bytes_max == 0) return true;
    const auto stored = static_cast<std::size_t>(tx.expect<accounts_by_id>(account)->stored_bytes);
    if (stored + more <= m.stored_bytes_max) return true;
    m.tell(events::account_full{account, account_limit::stored_bytes});
    return false;
}

// For one more. Those that have ended make room, so that their rows have a bound too.
inline bool has_room_for_token(write_tx& tx, account_id account, const moment& m) {
    if (m.tokens_max == 0) return true;
    constexpr std::int64_t forgotten_at_once = 500;
    const auto over = tokens::count(tx, account) + 1 - static_cast<std::int64_t>(m.tokens_max);
    if (over <= 0) return true;
    const auto some = std::min(over, forgotten_at_once);
    if (tokens::forget_ended(tx, account, m.wall, some) == over) return true;
    m.tell(events::account_full{account, account_limit::tokens});
    return false;
}

// For one more that a series will have had.
inline bool has_room_for_prefix(write_tx& tx, account_id account, const moment& m) {
    if (m.former_prefixes_max == 0) return true;
    const auto max = static_cast<std::int64_t>(m.former_prefixes_max);
    if (all_series::count_former_prefixes(tx, account) < max) return true;
    m.tell(events::account_full{account, account_limit::former_prefixes});
    return false;
}

}  // namespace callsign::rules
