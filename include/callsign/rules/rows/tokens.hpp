#pragma once
// The tokens that open accounts, and the operator's.

#include <callsign/domain/account.hpp>
#include <callsign/ports/store.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace callsign::tokens {

// Also of one that is revoked, or has expired.
std::optional<principal> find_principal(read_tx& tx, const digest& hash);
std::optional<token> find(read_tx& tx, token_id id);
// Of an account, or (none) the operator's; revoked ones included. In the order of their ids.
std::vector<token> of(read_tx& tx, std::optional<account_id> account);
// All that are kept.
std::int64_t count(read_tx& tx, account_id account);

// Requires: no other has this hash.
token_id put(write_tx& tx, std::optional<account_id> account, std::string_view name,
             token_scope scope, const digest& hash, time_point now,
             std::optional<time_point> expires_at = std::nullopt);
void revoke(write_tx& tx, token_id id, time_point now);
// Of those that are revoked, or have expired at `now`, the oldest `limit`; returns how many.
std::int64_t forget_ended(write_tx& tx, account_id account, time_point now, std::int64_t limit);

// What a token or a device is called; empty: the author is the server, or nobody that is known any
// more.
std::string name_of(read_tx& tx, const author& by);

}  // namespace callsign::tokens
