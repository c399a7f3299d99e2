#pragma once
// Accounts, and the heads of their chains. Where a row is required, a missing one is corruption.

#include <callsign/domain/account.hpp>
#include <callsign/ports/store.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace callsign::accounts {

std::optional<account> find(read_tx& tx, account_id id);
std::optional<account> find(read_tx& tx, std::string_view name);
// At most `limit` after `after`, in the order of IDs.
std::vector<account> some(read_tx& tx, account_id after, std::int64_t limit);
std::vector<account> all(read_tx& tx);
// At most `limit` of those deleted before `before`, in the order of deletion.
std::vector<account> deleted(read_tx& tx, time_point before, std::int64_t limit);
// As displayed to users: with the prefix of the default series.
account shown(read_tx& tx, account a);

// Empty if the account does not exist.
chain_head head_of(read_tx& tx, account_id id);
bool is_remote(read_tx& tx, account_id id);
// Returns the seq after which the effect of every version is known.
std::int64_t history_from(read_tx& tx, account_id id);

// Requires: the name is unused.
account_id put(write_tx& tx, std::string_view name, time_point now,
               account_mode mode = account_mode::managed);
// Updates name, state and time of deletion. Requires: no other account has the name.
void update(write_tx& tx, const account& now);
// Adds `more` to the size of the account's versions and snapshot, and subtracts `less`.
void add_stored(write_tx& tx, account_id id, std::size_t more, std::size_t less);
// Converts the account: the imported versions up to `last` become its chain, and head_of() then
// also returns the seq of the sealed chain's last version. Sealed versions and the snapshot stay.
// Requires: opaque.
void become_managed(write_tx& tx, account_id id, const chain_head& last);

}  // namespace callsign::accounts
