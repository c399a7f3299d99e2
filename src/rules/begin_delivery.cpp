// Phase 2 of a creation in a remote account: its operations enter the outbox and its slot is in
// flight. No number is assigned yet (docs/remote-accounts.md).

#include "mirror.hpp"
#include "numbering.hpp"
#include "series_choice.hpp"
#include "unnumbered.hpp"

#include <callsign/rules/rows/effects.hpp>
#include <callsign/rules/rows/remotes.hpp>
#include <callsign/rules/rows/slots.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rules.hpp>

namespace callsign::rules {
namespace {

effect creation_of(const slot& s, const series& from, const begin_delivery& c, const moment& m) {
    task t;
    t.uuid = s.uuid;
    t.attributes = with_defaults(c.attributes, m.wall);
    effect e;
    e.account = s.account;
    e.slot = s.id;
    e.task = s.uuid;
    e.prefix = from.prefix;
    append_creation(e.operations, t, marked_time(m));
    e.author = c.author;
    e.created_at = m.now;
    return e;
}

}  // namespace

begin_delivery::answer apply(write_tx& tx, const begin_delivery& c, const moment& m) {
    const auto found = slots::find(tx, c.slot);
    if (!found) return fulfil::slot_missing{};
    switch (found->state) {
    case slot_state::committed: {
        auto given = tasks::receipt_of(tx, *found);
        if (!given) throw_damaged("slots", found->id.value, "its task or its receipt is gone");
        return receipted{std::move(*given), true, found->created_at};
    }
    case slot_state::failed:
        return slot_failed{found->reason, found->created_at, *found->settled_at};
    case slot_state::in_flight: return begin_delivery::delivering{found->created_at};
    case slot_state::pending: break;
    }
    const auto remote = remotes::find(tx, found->account);
    if (!remote) return fulfil::slot_missing{};  // moved to this server; a retry creates the task
    if (remote->halted != remote_halt::none) return remote_halted{remote->halted};
    const auto existing = tasks::find(tx, found->account, found->uuid);
    if (existing && !is_unseen(*existing)) {
        return receipted{settle_with_existing(tx, *found, *existing, m), false, found->created_at};
    }
    const auto series = choose_series(tx, found->account, c.prefix, project_of(c.attributes));
    if (!series) return unknown_series{};
    if (is_too_large(c.attributes, 0, m)) return task_too_large{found->uuid};
    // If another creation of this task is in the outbox, both slots wait for it.
    if (!effects::find(tx, found->account, found->uuid, effect_kind::creation)) {
        effects::put(tx, creation_of(*found, *series, c, m));
        slots::begin_flight(tx, found->id);
        m.tell(events::effect_waiting{found->account});
    }
    return begin_delivery::delivering{found->created_at};
}

}  // namespace callsign::rules
