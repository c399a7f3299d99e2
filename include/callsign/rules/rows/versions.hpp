#pragma once
// The chains of managed accounts.

#include <callsign/domain/account.hpp>
#include <callsign/domain/version.hpp>
#include <callsign/ports/store.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace callsign::versions {

using visitor = std::function<void(version&&)>;

// At most `limit` of the account's versions after seq `after`, in order.
std::vector<version> some(read_tx& tx, account_id account, std::int64_t after, std::int64_t limit);
// Visits the versions after `after` one at a time: each may be as large as the rest of the chain.
// `show` may use `tx`; its exceptions pass through.
void visit(read_tx& tx, account_id account, std::int64_t after, const visitor& show);
std::optional<uuid> find_id(read_tx& tx, account_id account, std::int64_t seq);
// Returns a version's seq on the account's chain of operations; none: it is not on it.
std::optional<std::int64_t> find_seq(read_tx& tx, account_id account, const uuid& id);

// Appends the account's next version under `id`; returns its seq. Default author: the server.
std::int64_t append(write_tx& tx, account_id account, const uuid& id, time_point now,
                    std::vector<operation> operations, const author& by = {});
// Replaces the version's operations, keeping their positions. Requires: it is on the chain.
void scrub(write_tx& tx, account_id account, const uuid& id, std::vector<operation> operations);

// Adds a version of the future managed chain, with its own ID, instant and parent: one that was
// sealed, or one after those. The account's head stays. Requires: the account is opaque, and `made`
// is next after the versions added before.
void take_over(write_tx& tx, account_id account, version made);
// Reverts take_over() of a version. Requires: the account is opaque and has the version.
void drop(write_tx& tx, account_id account, const uuid& id);

}  // namespace callsign::versions
