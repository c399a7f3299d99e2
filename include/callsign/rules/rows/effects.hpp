#pragma once
// The outbox: changes still to be sent to remote servers; and contested task keys.

#include <callsign/domain/remote_chain.hpp>
#include <callsign/ports/store.hpp>

#include <functional>
#include <optional>

namespace callsign::effects {

// Returns false to stop.
using visitor = std::function<bool(effect&&)>;

std::optional<effect> find(read_tx& tx, account_id account, const uuid& task, effect_kind kind);
// Visits the account's effects after `after`, in the order of IDs.
void visit(read_tx& tx, account_id account, effect_id after, const visitor& show);
outbox_tally tally(read_tx& tx, account_id account);

// Ignores `made.id` and assigns an ID larger than any before, deleted ones included. Requires: the
// account has no effect of this task and kind.
effect_id put(write_tx& tx, effect made);
// Updates attempts and parent.
void update(write_tx& tx, const effect& now);
void remove(write_tx& tx, effect_id id);

key_contest find_contest(read_tx& tx, account_id account, const uuid& task);
void put_contest(write_tx& tx, account_id account, const uuid& task, const key_contest& now);

}  // namespace callsign::effects
