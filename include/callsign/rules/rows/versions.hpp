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

// At most `limit` links of the account's chain after seq `after`, in order.
std::vector<version> some(read_tx& tx, account_id account, std::int64_t after, std::int64_t limit);
// Shows all of them, one at a time: a version may be as large as the rest of the chain. `show` may
// ask for anything; what it throws passes through.
void visit(read_tx& tx, account_id account, std::int64_t after, const visitor& show);
std::optional<uuid> find_id(read_tx& tx, account_id account, std::int64_t seq);
// Where a version stands on the account's chain of operations; none: it is not on it.
std::optional<std::int64_t> find_seq(read_tx& tx, account_id account, const uuid& id);

// Appends the account's next version under `id`; returns its seq. Without an author it is one of
// the server's own.
std::int64_t append(write_tx& tx, account_id account, const uuid& id, time_point now,
                    std::vector<operation> operations, const author& by = {});
// The version's operations become these, in their places. Requires: it is on the chain.
void scrub(write_tx& tx, account_id account, const uuid& id, std::vector<operation> operations);

// A version that will be on its chain, under its own id, instant and parent: one that was sealed,
// or one behind them. Its head stays. Requires: it is opaque, and `made` is the next behind those
// taken over before.
void take_over(write_tx& tx, account_id account, version made);
// Not any more. Requires: it is opaque, and has the version.
void drop(write_tx& tx, account_id account, const uuid& id);

}  // namespace callsign::versions
