#pragma once
// Where on a sealed chain a version stands.

#include <callsign/rules/rules.hpp>

namespace callsign::rules {

// The head of a sealed chain. Without versions it is the version that an imported snapshot is of,
// with seq 0: the parent of the first version here.
chain_head sealed_head_of(read_tx& tx, account_id account);

// The seq of `version`: that of its child less one. 0 for the parent of the first version, which is
// no version of ours; nullopt for an id the chain does not know, and for nil.
std::optional<std::int64_t> seq_of(read_tx& tx, account_id account, const chain_head& head,
                                   const uuid& version);

}  // namespace callsign::rules
