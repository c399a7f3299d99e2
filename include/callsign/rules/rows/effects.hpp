#pragma once
// What is still to be sent to other servers, and whose keys are contested there.

#include <callsign/domain/remote_chain.hpp>
#include <callsign/ports/store.hpp>

#include <functional>
#include <optional>

namespace callsign::effects {

// False: that was enough.
using visitor = std::function<bool(effect&&)>;

std::optional<effect> find(read_tx& tx, account_id account, const uuid& task, effect_kind kind);
// Shows the account's outbox after `after`, in the order of ids.
void visit(read_tx& tx, account_id account, effect_id after, const visitor& show);
outbox_tally tally(read_tx& tx, account_id account);

// `made.id` is ignored; the new one is larger than any before it, for ever. Requires: none of the
// account is of this task and kind.
effect_id put(write_tx& tx, effect made);
// Its attempts and its parent.
void update(write_tx& tx, const effect& now);
void remove(write_tx& tx, effect_id id);

key_contest find_contest(read_tx& tx, account_id account, const uuid& task);
void put_contest(write_tx& tx, account_id account, const uuid& task, const key_contest& now);

}  // namespace callsign::effects
