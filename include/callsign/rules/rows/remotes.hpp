#pragma once
// Remote accounts: their servers, and how far each mirror is.

#include <callsign/domain/remote_chain.hpp>
#include <callsign/ports/store.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace callsign::remotes {

std::optional<remote_chain> find(read_tx& tx, account_id account);
// At most `limit` of all accounts after `after`, in the order of accounts.
std::vector<remote_chain> some(read_tx& tx, account_id after, std::int64_t limit);

// Makes the account remote. Requires: managed and local.
void put(write_tx& tx, remote_chain made);
// Replaces the row: progress, halt, URL, key.
void update(write_tx& tx, remote_chain now);
// Makes the account local. Requires: its outbox is empty.
void remove(write_tx& tx, account_id account);

}  // namespace callsign::remotes
