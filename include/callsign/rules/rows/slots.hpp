#pragma once
// Slots: a move is a compare-and-set, and one whose state is another writes nothing.

#include <callsign/domain/slot.hpp>
#include <callsign/ports/store.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace callsign::slots {

std::optional<slot> find(read_tx& tx, account_id account, std::string_view key);
std::optional<slot> find(read_tx& tx, slot_id id);
// At most `limit` slots after `after`, in the order of their ids; `state` and `account` narrow.
std::vector<slot> some(read_tx& tx, slot_id after, std::int64_t limit,
                       std::optional<slot_state> state, std::optional<account_id> account);
// Those that wait for a task of this uuid, in flight or not, in the order of their ids.
std::vector<slot> waiting_for(read_tx& tx, account_id account, const uuid& task);

// `made.id` is ignored; the new one is larger than any before it, for ever. Requires: the account
// has no slot with this key.
slot_id put(write_tx& tx, slot made);
// attempts += 1. Requires: pending or in flight.
void count_attempt(write_tx& tx, slot_id id);
// pending -> in_flight. False: it is not pending.
bool begin_flight(write_tx& tx, slot_id id);
// -> committed, holding `task`. False: it is neither pending nor in flight.
bool commit(write_tx& tx, slot_id id, task_id task, bool created, time_point now);
// -> failed. False: it is neither pending nor in flight.
bool fail(write_tx& tx, slot_id id, failure_reason reason, time_point now);
// Requires: committed or failed.
void forget(write_tx& tx, slot_id id);

}  // namespace callsign::slots
