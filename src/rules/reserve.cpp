// Phase 1 of a creation: the key gets a pending slot and the task a UUID, but no number.

#include "class_of.hpp"
#include "numbering.hpp"
#include "resolve.hpp"
#include "room.hpp"
#include "series_choice.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/slots.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rules.hpp>

namespace callsign::rules {
namespace {

void tell_retry(write_tx& tx, const slot& known, const moment& m) {
    m.tell(events::retry_seen{known.account, class_of(tx, known.account), known.id, known.state,
                              m.age_of(known.created_at)});
}

// Returns the final answer for a known key; none: its slot is pending.
std::optional<reserve::answer> answer_from(write_tx& tx, const slot& known, const reserve& c,
                                           const moment& m) {
    if (known.fingerprint != c.fingerprint && known.fingerprint != digest{}) return key_conflict{};
    switch (known.state) {
    case slot_state::committed: {
        auto found = tasks::receipt_of(tx, known);
        if (!found) throw_damaged("slots", known.id.value, "its task or its receipt is gone");
        tell_retry(tx, known, m);
        return receipted{std::move(*found), true, known.created_at};
    }
    case slot_state::failed:
        tell_retry(tx, known, m);
        return slot_failed{known.reason, known.created_at, *known.settled_at};
    case slot_state::in_flight:
        slots::count_attempt(tx, known.id);
        tell_retry(tx, known, m);
        return reserve::in_flight{known.id, known.created_at};
    case slot_state::pending: break;
    }
    return std::nullopt;
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
    const auto known = slots::find(tx, c.account, c.key);
    if (known) {
        if (auto settled = answer_from(tx, *known, c, m)) return std::move(*settled);
    }
    if (auto wrong = faults_of_age(c.attributes, m.wall); !wrong.empty()) {
        return task_not_valid{std::move(wrong)};
    }
    auto depends = resolve_depends(tx, c.account, c.depends);
    if (!depends.faults.empty()) return depends_unmet{std::move(depends.faults)};
    if (is_too_large(c.attributes, depends.tasks.size(), m)) {
        return task_too_large{c.uuid.value_or(uuid{})};
    }
    if (known) {
        slots::count_attempt(tx, known->id);
        tell_retry(tx, *known, m);
        return reserve::reserved{known->id, true, known->created_at, std::move(depends.tasks),
                                 accounts::is_remote(tx, c.account)};
    }
    if (!has_room(tx, c.account, size_of(c.attributes), m)) return account_full{};
    const auto asked_for = choose_series(tx, c.account, c.prefix, {});
    if (!asked_for) return unknown_series{};
    if (asked_for->archived) return series_archived{};
    const auto from = choose_series(tx, c.account, c.prefix, project_of(c.attributes));
    if (from->held) return series_held{from->prefix};

    std::optional<task> existing;
    if (c.uuid) existing = tasks::find(tx, c.account, *c.uuid);
    if (existing && existing->purged && !is_unseen(*existing)) return ref_fault::task_deleted;
    slot made = pending_slot(c, m);
    made.id = slots::put(tx, made);
    if (!existing || !existing->numbered || is_unseen(*existing)) {
        return reserve::reserved{made.id, false, m.now, std::move(depends.tasks),
                                 accounts::is_remote(tx, c.account)};
    }
    // The task was created another way. The slot is settled at once, so that the key is bound to
    // this answer like any other.
    commit_slot(tx, made, existing->id, false, m);
    receipt found = *existing->numbered;
    found.created = false;
    return receipted{std::move(found), false, m.now};
}

}  // namespace callsign::rules
