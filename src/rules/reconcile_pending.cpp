// Sweeps pending slots: commits those whose task exists, fails those that are too old.

#include "class_of.hpp"
#include "unnumbered.hpp"

#include <callsign/rules/rows/slots.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rules.hpp>

namespace callsign::rules {

reconcile_pending::answer apply(write_tx& tx, const reconcile_pending& c, const moment& m) {
    reconcile_pending::answer done;
    per_class<time_point> reserved_before;
    for (const account_class a : account_classes) {
        reserved_before[a] = m.stamped_before(c.window[a]);
    }
    const auto pending = slots::some(tx, c.after, c.limit, slot_state::pending, std::nullopt);
    for (const slot& s : pending) {
        ++done.scanned;
        // A slot that a request works on is left alone, whatever its age.
        if (c.busy.contains({s.account, s.key})) continue;
        const auto existing = tasks::find(tx, s.account, s.uuid);
        // The slot waits for its task's number.
        if (existing && is_held(tx, *existing)) continue;
        if (existing && !is_unseen(*existing)) {
            settle_with_existing(tx, s, *existing, m);
            ++done.committed;
            continue;
        }
        const account_class whose = class_of(tx, s.account);
        if (s.created_at < reserved_before[whose] && whose == account_class::remote) {
            done.remote.emplace_back(s.account, s.id);
        } else if (s.created_at < reserved_before[whose]) {
            if (!slots::fail(tx, s.id, failure_reason::window_passed, m.now)) {
                throw_damaged("slots", s.id.value, "it is not pending");
            }
            m.tell(events::slot_settled{s.account, s.id, slot_state::failed});
            ++done.failed;
            ++done.failed_of[whose];
        }
    }
    if (static_cast<std::int64_t>(pending.size()) == c.limit) done.next = pending.back().id;
    return done;
}

}  // namespace callsign::rules
