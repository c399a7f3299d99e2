// Removes expired slots, fork versions and task history.

#include <callsign/rules/rows/forks.hpp>
#include <callsign/rules/rows/requests.hpp>
#include <callsign/rules/rows/slots.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rules.hpp>

namespace callsign::rules {

forget_settled::answer apply(write_tx& tx, const forget_settled& c, const moment& m) {
    forget_settled::answer done;
    const time_point settled_before = m.stamped_before(c.retention);
    // A full step means that more is likely, however few slots there are.
    if (forks::forget_before(tx, settled_before, c.limit) == c.limit) done.next = c.after;
    if (requests::forget_before(tx, settled_before, c.limit) == c.limit) done.next = c.after;
    if (history::forget(tx, m.stamped_before(c.history_retention), c.limit)) done.next = c.after;
    const auto oldest = slots::expiring(tx, c.after, c.limit);
    for (const slot& s : oldest) {
        // Slots are ordered by reservation and settled later, so that no later slot is old enough.
        if (s.created_at >= settled_before) return done;
        ++done.scanned;
        if (s.settled_at && *s.settled_at < settled_before) {
            slots::forget(tx, s.id);
            ++done.forgotten;
        }
    }
    if (static_cast<std::int64_t>(oldest.size()) == c.limit) done.next = oldest.back().id;
    return done;
}

}  // namespace callsign::rules
