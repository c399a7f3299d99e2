#pragma once
// Where accounts live that live elsewhere.

#include <callsign/domain/remote_chain.hpp>
#include <callsign/ports/store.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace callsign::remotes {

std::optional<remote_chain> find(read_tx& tx, account_id account);
// At most `limit` of all accounts' after `after`, in the order of their accounts.
std::vector<remote_chain> some(read_tx& tx, account_id after, std::int64_t limit);

// Its account lives there from now on. Requires: it is managed, and has none.
void put(write_tx& tx, remote_chain made);
// How far it is, why it has halted, where it lives and what opens it.
void update(write_tx& tx, remote_chain now);
// It lives here from now on. Requires: nothing waits in its outbox.
void remove(write_tx& tx, account_id account);

}  // namespace callsign::remotes
