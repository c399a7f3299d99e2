#pragma once
// Where a device stands that names a version as its last: on the chain, or beside it.

#include <callsign/rules/rules.hpp>

#include <optional>

namespace callsign::rules {

// To have what the chain's version `seq` has: carry out `missing`.
struct chain_place {
    std::int64_t seq = 0;
    std::vector<operation> missing;  // empty on the chain itself
    bool beside = false;
};

// nullopt: the account has no such version. Nil is the place before the first.
std::optional<chain_place> place_of(read_tx& tx, account_id account, const uuid& version);

}  // namespace callsign::rules
