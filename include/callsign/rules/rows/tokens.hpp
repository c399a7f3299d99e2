#pragma once
// API tokens of accounts and operators.

#include <callsign/domain/account.hpp>
#include <callsign/ports/store.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace callsign::tokens {

// Includes revoked and expired tokens.
std::optional<principal> find_principal(read_tx& tx, const digest& hash);
std::optional<token> find(read_tx& tx, token_id id);
// Tokens of an account, or (none) operator tokens; revoked ones included. In the order of IDs.
std::vector<token> of(read_tx& tx, std::optional<account_id> account);
// Counts all stored tokens, revoked ones included.
std::int64_t count(read_tx& tx, account_id account);

// Requires: the hash is unused.
token_id put(write_tx& tx, std::optional<account_id> account, std::string_view name,
             token_scope scope, const digest& hash, time_point now,
             std::optional<time_point> expires_at = std::nullopt);
void revoke(write_tx& tx, token_id id, time_point now);
// Deletes the oldest `limit` tokens that are revoked, or expired at `now`; returns how many.
std::int64_t forget_ended(write_tx& tx, account_id account, time_point now, std::int64_t limit);

// Returns the name of a token or a device; empty: the author is the server, or no longer known.
std::string name_of(read_tx& tx, const author& by);

}  // namespace callsign::tokens
