#pragma once
// Per-account limits (rules.hpp, moment). Commands of clients check the byte limit before they
// write, except those that remove data or complete what was accepted; commands of the server and
// its operators do not, except for the outcome of a request with a key (once.hpp). The other limits
// apply to all.

#include <callsign/ports/tables/accounts.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tokens.hpp>
#include <callsign/rules/rules.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace callsign::rules {

// All return false, and notify the operator, if the limit is reached.

inline bool has_room(write_tx& tx, account_id account, std::size_t more, const moment& m) {
    if (m.stored_bytes_max == 0) return true;
    const auto stored = static_cast<std::size_t>(tx.expect<accounts_by_id>(account)->stored_bytes);
    if (stored + more <= m.stored_bytes_max) return true;
    m.tell(events::account_full{account, account_limit::stored_bytes});
    return false;
}

// Checks the limit for one more token. Removes ended tokens, which limits their rows too.
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

// Checks the limit for one more former prefix.
inline bool has_room_for_prefix(write_tx& tx, account_id account, const moment& m) {
    if (m.former_prefixes_max == 0) return true;
    const auto max = static_cast<std::int64_t>(m.former_prefixes_max);
    if (all_series::count_former_prefixes(tx, account) < max) return true;
    m.tell(events::account_full{account, account_limit::former_prefixes});
    return false;
}

}  // namespace callsign::rules
