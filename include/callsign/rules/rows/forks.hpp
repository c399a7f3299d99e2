#pragma once
// What devices have that were answered with a version that is not on the chain
// (domain/version.hpp): of each account the latest, within bounds.

#include <callsign/domain/account.hpp>
#include <callsign/domain/version.hpp>
#include <callsign/ports/store.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace callsign::forks {

// Of one account.
struct bounds {
    std::int64_t count_max = 0;
    std::int64_t bytes_max = 0;  // as size_of() has it
};

std::optional<fork_version> find(read_tx& tx, account_id account, const uuid& id);
// At most `limit` of all accounts' after `after`, in the order of id and account.
std::vector<fork_return> returns(read_tx& tx, const fork_return& after, std::int64_t limit);

// Requires: the account has no version of this id, and has come to the last of `made.own`. Then its
// oldest ones go until they are within `keep`, this one excepted.
void put(write_tx& tx, account_id account, const fork_version& made, const bounds& keep);
void forget(write_tx& tx, account_id account, const uuid& id);
// Of the `limit` oldest, those made before `before`; returns how many.
std::int64_t forget_before(write_tx& tx, time_point before, std::int64_t limit);

}  // namespace callsign::forks
