#pragma once
// Fork versions: the states of devices that sent stale versions (domain/version.hpp). Of each
// account the latest are kept, up to a limit.

#include <callsign/domain/account.hpp>
#include <callsign/domain/version.hpp>
#include <callsign/ports/store.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace callsign::forks {

// Limits per account.
struct bounds {
    std::int64_t count_max = 0;
    std::int64_t bytes_max = 0;  // as counted by size_of()
};

std::optional<fork_version> find(read_tx& tx, account_id account, const uuid& id);
// At most `limit` of all accounts after `after`, in the order of ID and account.
std::vector<fork_return> returns(read_tx& tx, const fork_return& after, std::int64_t limit);

// Requires: the account has no version of this ID, and its chain includes the last of `made.own`.
// Then deletes the account's oldest fork versions beyond `keep`, never the new one.
void put(write_tx& tx, account_id account, const fork_version& made, const bounds& keep);
void forget(write_tx& tx, account_id account, const uuid& id);
// Of the `limit` lowest IDs, deletes those made before `before`; returns how many.
std::int64_t forget_before(write_tx& tx, time_point before, std::int64_t limit);

}  // namespace callsign::forks
