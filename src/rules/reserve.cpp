// Phase 1 of a creation: the key gets a pending slot and the task its uuid, but no number.

#include "series_choice.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/rules/rules.hpp>

namespace callsign::rules {
namespace {

// The key is known: what became of it decides.
reserve::answer answer_from(write_tx& tx, const slot& known, const reserve& c) {
    if (known.fingerprint != c.fingerprint) return key_conflict{};
    switch (known.state) {
    case slot_state::committed: {
        auto found = tx.find_receipt(known);
        if (!found) throw_damaged("slots", known.id.value, "its task or its receipt is gone");
        return receipted{std::move(*found), true, known.created_at};
    }
    case slot_state::failed: return slot_failed{known.reason, known.created_at, *known.settled_at};
    case slot_state::pending: break;
    }
    tx.count_attempt(known.id);
    return reserve::reserved{known.id, true, known.created_at};
}

slot pending_slot(const reserve& c, const moment& m) {
    slot s;
    s.account = c.account;
    s.key = c.key;
    s.fingerprint = c.fingerprint;
    s.uuid = c.uuid ? *c.uuid : m.ids.next(m.now);
    s.created_at = m.now;
    return s;
}

}  // namespace

reserve::answer apply(write_tx& tx, const reserve& c, const moment& m) {
    if (auto known = tx.find_slot(c.account, c.key)) return answer_from(tx, *known, c);
    if (!choose_series(tx, c.account, c.prefix, {})) return unknown_series{};

    std::optional<task> existing;
    if (c.uuid) existing = tx.find_task(c.account, *c.uuid);
    const slot_id id = tx.put_slot(pending_slot(c, m));
    if (!existing || !existing->numbered) {
        return reserve::reserved{id, false, m.now};
    }
    // The task came another way before. The slot is settled at once, so that the key is bound to
    // this answer like any other.
    CALLSIGN_ASSERT(tx.commit_slot(id, existing->id, false, m.now));
    receipt found = *existing->numbered;
    found.created = false;
    return receipted{std::move(found), false, m.now};
}

}  // namespace callsign::rules
