#include "numbering.hpp"

#include "series_choice.hpp"

#include <callsign/base/assert.hpp>

namespace callsign::rules {

receipt take_receipt(write_tx& tx, const series& series, const uuid& task,
                     std::span<const operation> operations, const moment& m) {
    receipt r;
    r.uuid = task;
    r.prefix = series.prefix;
    r.number = tx.take_number(series.id, r.period);
    r.seq = tx.append_version(series.account, m.ids.next(m.now), m.now, operations);
    r.created_at = m.now;
    return r;
}

receipt settle_with_existing(write_tx& tx, const slot& pending, const task& existing,
                             const moment& m) {
    receipt r;
    if (existing.numbered) {
        r = *existing.numbered;
    } else {
        const auto project = existing.attributes.find("project");
        const auto series = choose_series(
            tx, existing.account, {},
            project == existing.attributes.end() ? std::string_view{} : project->second);
        CALLSIGN_ASSERT(series);  // an account always has a default series
        r = take_receipt(tx, *series, existing.uuid, {}, m);
        r.created_at = existing.created_at;
        tx.number_task(existing.id, series->id, r);
    }
    CALLSIGN_ASSERT(tx.commit_slot(pending.id, existing.id, false, m.now));
    r.created = false;
    return r;
}

}  // namespace callsign::rules
