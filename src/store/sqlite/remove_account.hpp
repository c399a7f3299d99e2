#pragma once
// An account's rows go, a bounded number at a time. Most tables know no order of accounts: they are
// looked through by their own ids, which is what keeps a creation from paying for an index.

#include "write_state.hpp"

#include <callsign/domain/commands/accounts.hpp>

#include <cstdint>
#include <optional>

namespace callsign::sqlite {

// As write_tx::remove_some() says. Requires: `state` is flushed.
std::optional<removal_place> remove_some(write_state& state, account_id account,
                                         const removal_place& from, std::int64_t limit);

}  // namespace callsign::sqlite
