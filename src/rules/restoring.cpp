// Handles a restore from a backup.

#include "numbering.hpp"
#include "resolve.hpp"
#include "unnumbered.hpp"

#include <callsign/domain/work.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/actions.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/instance.hpp>
#include <callsign/rules/rows/numbers.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rules.hpp>

#include <algorithm>

namespace callsign::rules {

mark_restored::answer apply(write_tx& tx, const mark_restored& c, const moment& m) {
    constexpr std::int64_t accounts_at_once = 500;
    mark_restored::answer done;
    put_instance(tx, c.instance);
    const actor itself;
    actions::put(tx, {{}, m.now, itself, "restored", {}, {}, to_rfc3339(c.backup_made_at)});
    const auto expect_devices = [&](account_id owner) {
        const std::int64_t head = accounts::head_of(tx, owner).seq;
        for (const device& d : devices::of(tx, owner)) {
            // A device not back since an earlier restore may be ahead of that backup already.
            if (d.resync && d.resync->now == resync::state::expected) continue;
            devices::set_resync(tx, d.id, {head, resync::state::expected});
        }
    };
    for (account_id after{};;) {
        const auto some = accounts::some(tx, after, accounts_at_once);
        for (const account& a : some) {
            if (a.is_remote || a.state == account_state::removing) continue;
            if (a.mode == account_mode::managed) expect_devices(a.id);
            for (series s : all_series::of(tx, a.id)) {
                s.held = true;
                s.numbering = false;
                all_series::update(tx, s, m.now);
                ++done.held;
            }
        }
        if (std::ssize(some) < accounts_at_once) return done;
        after = some.back().id;
    }
}

resume_series::answer apply(write_tx& tx, const resume_series& c, const moment& m) {
    const auto owner = resolve(tx, c.account);
    if (!owner) return no_such_account{};
    auto s = all_series::find(tx, owner->id, c.named);
    if (!s) return no_such_series{};
    if (!s->held) return resume_series::not_held{};
    const std::int64_t last = numbers::last(tx, s->id, period_now(tx, *s, m.now));
    const std::int64_t next = c.at.value_or(last + 1);
    if (next <= last) return edit_series::next_too_low{last + 1};
    raise_next(tx, *s, next, m.now);
    std::size_t work_left = step_work_max;
    resume(tx, *s, work_left, m);
    return shown(tx, std::move(*s), m.now);
}

}  // namespace callsign::rules
