#pragma once
// The audit log.

#include <callsign/domain/admin_action.hpp>
#include <callsign/ports/store.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace callsign::actions {

// At most `limit` before `before` (none: from the latest), the latest first; `about` narrows.
std::vector<admin_action> list(read_tx& tx, std::optional<action_id> before, std::int64_t limit,
                               std::optional<account_id> about);
// `made.id` is ignored; the new one is larger than any that is there. Of those that tokens of its
// actor's account did, account_actions_kept stay.
void put(write_tx& tx, admin_action made);
// The oldest, if they were done before `before`: at most `limit`; returns how many.
std::int64_t forget(write_tx& tx, time_point before, std::int64_t limit);

}  // namespace callsign::actions
