#pragma once
// The audit log.

#include <callsign/domain/admin_action.hpp>
#include <callsign/ports/store.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace callsign::actions {

// At most `limit` before `before` (none: from the latest), latest first; `about` selects an
// account.
std::vector<admin_action> list(read_tx& tx, std::optional<action_id> before, std::int64_t limit,
                               std::optional<account_id> about);
// Ignores `made.id` and assigns an ID larger than any before. Of the actions by tokens of the
// actor's account, keeps the latest account_actions_kept.
void put(write_tx& tx, admin_action made);
// Deletes at most `limit` of the oldest actions, if older than `before`; returns how many.
std::int64_t forget(write_tx& tx, time_point before, std::int64_t limit);

}  // namespace callsign::actions
