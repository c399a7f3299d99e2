// Imports a sealed chain from another server with its version IDs. A repeated version or snapshot
// changes nothing.

#include "snapshot_place.hpp"

#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/sealed.hpp>

namespace callsign::rules {

import_sealed_version::answer apply(write_tx& tx, const import_sealed_version& c, const moment& m) {
    const auto known = devices::find(tx, c.client_id);
    if (!known) return no_such_client{};
    if (known->mode != account_mode::opaque) return import_sealed_version::differs{};
    if (const auto child = sealed::find_link(tx, known->account, c.parent)) {
        if (child->id == c.version) return import_sealed_version::there_already{};
        return import_sealed_version::differs{};
    }
    const chain_head head = sealed_head_of(tx, known->account);
    // An ID that the chain already has would form a cycle.
    const bool fits = (head.version.is_nil() || head.version == c.parent) &&
                      c.version != c.parent && !seq_of(tx, known->account, head, c.version);
    if (!fits || c.version.is_nil()) return import_sealed_version::differs{};
    const auto seq = sealed::append(tx, known->account, c.version, c.parent, m.now, c.segment);
    m.tell(events::version_appended{known->account, seq});
    return import_sealed_version::imported{};
}

import_sealed_snapshot::answer apply(write_tx& tx, const import_sealed_snapshot& c,
                                     const moment& m) {
    const auto known = devices::find(tx, c.client_id);
    if (!known) return no_such_client{};
    if (known->mode != account_mode::opaque) return import_sealed_snapshot::unknown_version{};
    const chain_head head = sealed_head_of(tx, known->account);
    auto seq = seq_of(tx, known->account, head, c.version);
    // The other server may have a snapshot and no versions.
    if (!seq && head.version.is_nil() && !c.version.is_nil()) seq = 0;
    if (!seq) return import_sealed_snapshot::unknown_version{};
    const auto before = snapshots::find_mark(tx, known->account);
    if (before && before->seq >= *seq) return import_sealed_snapshot::there_already{};
    const std::int64_t taken_seq = head.seq - c.versions_since;
    snapshots::put(tx, known->account, {c.version, *seq, taken_seq, c.taken_at}, m.now, c.bytes);
    return import_sealed_snapshot::imported{};
}

}  // namespace callsign::rules
