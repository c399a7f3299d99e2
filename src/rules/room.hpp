#pragma once
// What an account may still store (rules.hpp, moment::stored_bytes_max). Clients' commands ask
// before anything is written; not those that take something away, that keep what was promised, and
// the server's and its operators' own.

#include <callsign/rules/rules.hpp>

#include <cstddef>

namespace callsign::rules {

// False: its operator is told.
inline bool has_room(write_tx& tx, account_id account, std::size_t more, const moment& m) {
    if (m.stored_bytes_max == 0) return true;
    const auto stored = static_cast<std::size_t>(tx.stored_bytes(account));
    if (stored + more <= m.stored_bytes_max) return true;
    m.tell(events::account_full{account});
    return false;
}

}  // namespace callsign::rules
