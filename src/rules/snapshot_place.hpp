#pragma once
// Places of versions on a sealed chain.

#include <callsign/rules/rules.hpp>

namespace callsign::rules {

// Returns the head of a sealed chain. Without versions this is the version of an imported snapshot,
// with seq 0: the parent of the first version here.
chain_head sealed_head_of(read_tx& tx, account_id account);

// Returns the seq of `version`: that of its child less one. 0 for the parent of the first version,
// which the account does not have itself; nullopt for an ID that is not on the chain, and for nil.
std::optional<std::int64_t> seq_of(read_tx& tx, account_id account, const chain_head& head,
                                   const uuid& version);

}  // namespace callsign::rules
