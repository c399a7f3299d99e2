#include "room.hpp"
#include "snapshot_place.hpp"

#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/sealed.hpp>

namespace callsign::rules {

add_sealed_snapshot::answer apply(write_tx& tx, const add_sealed_snapshot& c, const moment& m) {
    const auto known = devices::find(tx, c.client_id);
    if (!known) return no_such_client{};
    if (known->mode != account_mode::opaque) return account_changed{};
    const chain_head head = sealed_head_of(tx, known->account);
    const auto seq = seq_of(tx, known->account, head, c.version);
    const auto before = snapshots::find_mark(tx, known->account);
    const bool wanted = seq && *seq >= head.seq - add_sealed_snapshot::versions_back_max &&
                        (!before || *seq > before->seq);
    if (!wanted) return add_sealed_snapshot::considered{false};
    const std::size_t replaced = snapshots::size_of(tx, known->account);
    if (c.bytes.size() > replaced && !has_room(tx, known->account, c.bytes.size() - replaced, m)) {
        return account_full{};
    }
    snapshots::put(tx, known->account, {c.version, *seq, head.seq, m.now}, m.now, c.bytes);
    return add_sealed_snapshot::considered{true};
}

}  // namespace callsign::rules
