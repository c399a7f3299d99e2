#pragma once
// Deletion of an account's rows.

#include <callsign/domain/commands/accounts.hpp>
#include <callsign/ports/store.hpp>

#include <cstdint>
#include <optional>

namespace callsign {

// Deletes rows of the account from `from` on, reading about `limit` rows. Returns where to
// continue; none: all were deleted, the account's own included. Requires: the account has no
// pending slots and gets none, and the first call begins at the beginning.
std::optional<removal_place> remove_rows_of(write_tx& tx, account_id account,
                                            const removal_place& from, std::int64_t limit);

}  // namespace callsign
