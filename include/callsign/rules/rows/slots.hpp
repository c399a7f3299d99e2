#pragma once
// Slots. A transition is a compare-and-set: in any other state it writes nothing.

#include <callsign/domain/slot.hpp>
#include <callsign/ports/store.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace callsign::slots {

std::optional<slot> find(read_tx& tx, account_id account, std::string_view key);
std::optional<slot> find(read_tx& tx, slot_id id);
// At most `limit` slots after `after`, in the order of IDs; `state` and `account` are filters.
std::vector<slot> some(read_tx& tx, slot_id after, std::int64_t limit,
                       std::optional<slot_state> state, std::optional<account_id> account);
// At most `limit` slots after `after` that expire (tables/slots.hpp), in the order of IDs.
std::vector<slot> expiring(read_tx& tx, slot_id after, std::int64_t limit);
// Pending and in-flight slots of a task with this UUID, in the order of IDs.
std::vector<slot> waiting_for(read_tx& tx, account_id account, const uuid& task);

// Ignores `made.id` and assigns an ID larger than any before, deleted ones included. Requires: the
// account has no slot with this key.
slot_id put(write_tx& tx, slot made);
// Requires: pending or in flight.
void count_attempt(write_tx& tx, slot_id id);
// pending -> in_flight. False: not pending.
bool begin_flight(write_tx& tx, slot_id id);
// -> committed, holding `task`. False: neither pending nor in flight.
bool commit(write_tx& tx, slot_id id, task_id task, bool created, time_point now);
// -> failed. False: neither pending nor in flight.
bool fail(write_tx& tx, slot_id id, failure_reason reason, time_point now);
// Removes what the slot reveals of its task's content: retries are no longer compared. Requires:
// committed.
void drop_fingerprint(write_tx& tx, slot_id id);
// Requires: it expires.
void forget(write_tx& tx, slot_id id);

}  // namespace callsign::slots
