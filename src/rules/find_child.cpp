// What a device of a managed account reads: the version after the one it has.

#include "chain_place.hpp"

namespace callsign::rules {

child find_child(read_tx& tx, account_id account, const uuid& parent) {
    if (tx.head_of(account).version == parent) return up_to_date{};
    const auto place = place_of(tx, account, parent);
    if (!place) return unknown_version{};
    auto next = tx.versions(account, place->left_at, 1);
    if (next.size() != 1) throw_damaged("accounts", account.value, "its chain has a hole");
    auto& [seq, id, before, created_at, operations] = next[0];
    if (place->beside()) leave_out_dropped(*place, operations);
    return next_version{place->beside() ? place->after_next : id, std::move(operations)};
}

}  // namespace callsign::rules
