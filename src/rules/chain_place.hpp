#pragma once
// Where a device stands that names a version as its last: on the chain, or beside it.

#include <callsign/rules/rules.hpp>

#include <optional>

namespace callsign::rules {

struct chain_place {
    // The chain's version it has, or (beside) the one that comes next for it. 0: before the first.
    std::int64_t seq = 0;
    // Where it was last on the chain itself.
    std::int64_t left_at = 0;
    std::optional<side_version> side;  // none: it is on the chain
};

// nullopt: the account has no such version. The parent of the first, which is nil unless the chain
// was begun elsewhere, is the place before it.
std::optional<chain_place> place_of(read_tx& tx, account_id account, const uuid& version);

// What somebody there lacks of the chain up to `seq`; nullopt: that is more than add_version has
// bounds for, or a side version on the way is forgotten.
std::optional<std::vector<operation>> missed_at(read_tx& tx, account_id account,
                                                const chain_place& place, std::int64_t seq);

}  // namespace callsign::rules
