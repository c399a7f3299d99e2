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

add_sealed_snapshot::answer apply(write_tx& tx, const add_sealed_snapshot& c, const moment& m) {
    const auto known = tx.find_device(c.client_id);
    if (!known) return no_such_client{};
    if (known->mode != account_mode::opaque) return account_changed{};
    const chain_head head = tx.head_of(known->account);
    const auto seq = seq_of(tx, known->account, head, c.version);
    const auto before = tx.find_snapshot_mark(known->account);
    const bool wanted = seq && *seq >= head.seq - add_sealed_snapshot::versions_back_max &&
                        (!before || *seq > before->seq);
    if (!wanted) return add_sealed_snapshot::considered{false};
    tx.put_snapshot(known->account, {c.version, *seq, head.seq, m.now}, m.now, c.bytes);
    return add_sealed_snapshot::considered{true};
}

}  // namespace callsign::rules
