#include "snapshot_place.hpp"

namespace callsign::rules {

std::optional<std::int64_t> seq_of(read_tx& tx, account_id account, const chain_head& head,
                                   const uuid& version) {
    if (version.is_nil()) return std::nullopt;
    if (head.seq > 0 && version == head.version) return head.seq;
    const auto child = tx.find_child_place(account, version);
    if (!child) return std::nullopt;
    return child->seq - 1;
}

}  // namespace callsign::rules
