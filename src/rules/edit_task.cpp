// A change of one task by way of REST: a version like any device's.

#include "changes.hpp"
#include "numbering.hpp"

#include <callsign/base/assert.hpp>

namespace callsign::rules {
namespace {

std::vector<operation> operations_for(const edit_task& c, const attributes& before,
                                      const moment& m) {
    std::vector<operation> all;
    if (c.purge) {
        all.push_back({operation::kind::remove, c.uuid, {}, {}, {}});
        return all;
    }
    for (const auto& [name, value] : c.changes) {
        const auto found = before.find(name);
        const bool same = found == before.end() ? !value : value == found->second;
        if (!same) all.push_back({operation::kind::update, c.uuid, name, value, m.now});
    }
    if (!all.empty()) {
        all.push_back({operation::kind::update, c.uuid, "modified", epoch_text(m.now), m.now});
    }
    return all;
}

}  // namespace

edit_task::answer apply(write_tx& tx, const edit_task& c, const moment& m) {
    const auto found = tx.find_task(c.account, c.uuid);
    if (!found || found->purged) return edit_task::no_such_task{};
    if (c.if_seq && *c.if_seq != found->last_seq) return edit_task::changed_since{};
    const auto operations = operations_for(c, found->attributes, m);
    if (operations.empty()) return edit_task::edited{*found};

    touched_tasks tasks(tx, c.account);
    for (const operation& o : operations) CALLSIGN_ASSERT(tasks.carry_out(o));
    if (const auto grown = tasks.too_large()) return task_too_large{*grown};
    append_changes(tx, c.account, operations, tasks, m);
    return edit_task::edited{*tx.find_task(c.account, c.uuid)};
}

}  // namespace callsign::rules
