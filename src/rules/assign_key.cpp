// Numbers a task of an opaque account. The server cannot verify that the task exists (docs/api.md).

#include "numbering.hpp"
#include "series_choice.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rules.hpp>

namespace callsign::rules {

assign_key::answer apply(write_tx& tx, const assign_key& c, const moment& m) {
    const auto owner = accounts::find(tx, c.account);
    if (!owner) return no_such_account{};
    if (owner->mode != account_mode::opaque) return assign_key::not_opaque{};
    if (const auto existing = tasks::find(tx, c.account, c.uuid)) {
        if (!existing->numbered) throw_damaged("tasks", existing->id.value, "it has no number");
        return receipted{*existing->numbered, true, existing->created_at};
    }
    const auto series = choose_series(tx, c.account, c.prefix, c.project);
    if (!series) return unknown_series{};
    if (series->archived) return series_archived{};
    if (series->held) return series_held{series->prefix};
    // The row is like a purged task's: UUID and number only.
    task t;
    t.account = c.account;
    t.uuid = c.uuid;
    t.created_at = m.now;
    t.author = c.author;
    t.purged = true;
    t.numbered = take_receipt(tx, *series, t.uuid, m);
    t.current_prefix = series->prefix;
    tasks::put(tx, t, series->id);
    return receipted{std::move(*t.numbered), false, m.now};
}

}  // namespace callsign::rules
