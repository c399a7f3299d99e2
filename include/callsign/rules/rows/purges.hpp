#pragma once
// Purged tasks whose text is still on the chain and in history.

#include <callsign/domain/version.hpp>
#include <callsign/ports/store.hpp>

#include <cstdint>
#include <vector>

namespace callsign::purges {

// At most `limit` of the first account after `after` that has any, in the order of tasks.
std::vector<purge> of_next(read_tx& tx, account_id after, std::int64_t limit);
// Versions up to `made.through` may hold text of the task. Of several purges the last counts.
void put(write_tx& tx, const purge& made);
// No effect if the task has a later purge.
void remove(write_tx& tx, const purge& done);

}  // namespace callsign::purges
