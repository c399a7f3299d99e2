#pragma once
// The rows of an account that goes.

#include <callsign/domain/commands/accounts.hpp>
#include <callsign/ports/store.hpp>

#include <cstdint>
#include <optional>

namespace callsign {

// Removes rows of the account, slots excepted, having looked at about `limit` of them, from there
// on; where to go on. None: that was all, its own row included. Requires: it has no slots, and
// begins at the beginning.
std::optional<removal_place> remove_rows_of(write_tx& tx, account_id account,
                                            const removal_place& from, std::int64_t limit);

}  // namespace callsign
