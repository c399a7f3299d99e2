// Phase 2 of a creation: one transaction turns the pending slot into a task with its number,
// version and receipt.

#include "numbering.hpp"
#include "series_choice.hpp"
#include "unnumbered.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/slots.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>
#include <callsign/rules/rules.hpp>

namespace callsign::rules {
fulfil::answer apply(write_tx& tx, const fulfil& c, const moment& m) {
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
    case slot_state::in_flight: return fulfil::slot_missing{};  // the outbox creates the task
    case slot_state::pending: break;
    }
    // The account was moved to a remote server; a retry sends the creation there.
    if (accounts::is_remote(tx, found->account)) return fulfil::slot_missing{};
    const auto existing = tasks::find(tx, found->account, found->uuid);
    if (existing && is_held(tx, *existing)) return series_held{existing->current_prefix};
    if (existing && !is_unseen(*existing)) {
        return receipted{settle_with_existing(tx, *found, *existing, m), false, found->created_at};
    }
    const auto series = choose_series(tx, found->account, c.prefix, project_of(c.attributes));
    if (!series) return unknown_series{};
    if (series->held && !existing) return series_held{series->prefix};
    if (is_too_large(c.attributes, 0, m)) return task_too_large{found->uuid};

    task t = existing ? *existing : task{};
    t.attributes = with_defaults(c.attributes, m.wall);
    if (!existing) {
        t.account = found->account;
        t.uuid = found->uuid;
        t.created_at = m.now;
        t.author = c.author;
        t.slot = found->id;
        t.numbered = take_receipt(tx, *series, t.uuid, m);
        t.current_prefix = series->prefix;
    }
    correct_key(t, t.attributes, m);  // the creating version has the key, too
    std::vector<operation> operations;
    operations.reserve(t.attributes.size() + 1);
    append_creation(operations, t, m.wall);
    t.last_seq =
        versions::append(tx, t.account, m.ids.next(m.now), m.now, std::move(operations), c.author);
    t.numbered->seq = t.last_seq;
    m.tell(events::version_appended{t.account, t.last_seq});
    receipt given = *t.numbered;
    if (existing) {
        tasks::reveal(tx, t.id, std::move(t.attributes), t.last_seq, t.last_seq, found->id);
    } else {
        t.id = tasks::put(tx, std::move(t), series->id);
    }
    commit_slot(tx, *found, t.id, true, m);
    return receipted{std::move(given), false, found->created_at};
}

}  // namespace callsign::rules
