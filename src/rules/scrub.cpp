// Removes text of purged tasks from the chain and from history. On the chain each of their
// operations keeps its kind, task and place, because devices that are being rebased refer to
// operations by place (rules/chain_place.hpp); properties and values are removed. The chain still
// leads to the same state: the last operation on such a task is its Delete.

#include "chain_place.hpp"
#include "purged_text.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/purges.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>
#include <callsign/rules/rules.hpp>

#include <algorithm>
#include <boost/range/adaptor/reversed.hpp>
#include <unordered_set>

namespace callsign::rules {

purged_text::purged_text(std::span<const purge> tasks) {
    for (const purge& p : tasks) {
        through_.emplace(p.task, p.through);
        last_seq_ = std::max(last_seq_, p.through);
    }
}

bool purged_text::scrub(version& v) const {
    // After the last Delete in its last version a task may have been created again.
    std::unordered_set<uuid, keyed_hash> deleted;
    bool is_changed = false;
    for (operation& o : boost::adaptors::reverse(v.operations)) {
        const auto purged = through_.find(o.uuid);
        if (purged == through_.end() || v.seq > purged->second) continue;
        if (o.kind == operation_kind::remove) deleted.insert(o.uuid);
        if (o.kind != operation_kind::update || is_scrubbed(o)) continue;
        if (v.seq == purged->second && !deleted.contains(o.uuid)) continue;
        callsign::scrub(o);
        is_changed = true;
    }
    return is_changed;
}

scrub_purged::answer apply(write_tx& tx, const scrub_purged& c, const moment& /*m*/) {
    scrub_purged::answer done;
    const auto owner = accounts::find(tx, c.account);
    if (!owner || owner->state == account_state::removing) {  // all its rows are removed
        done.over = c.tasks.size();
        return done;
    }
    const purged_text text(c.tasks);
    for (const std::int64_t seq : c.versions) {
        version v = version_at(tx, c.account, seq);
        if (text.scrub(v)) versions::scrub(tx, c.account, v.id, std::move(v.operations));
    }
    if (!c.versions.empty()) return done;
    constexpr std::size_t work_of_purge = 1024;
    for (std::size_t work = c.work_max; done.over < c.tasks.size() && work > 0; ++done.over) {
        const purge& p = c.tasks[done.over];
        const auto known = tasks::find(tx, c.account, p.task);
        if (known && !history::scrub(tx, known->id, p.through, work)) break;
        purges::remove(tx, p);
        work -= std::min(work, work_of_purge);
    }
    return done;
}

clear_log::answer apply(write_tx& tx, const clear_log& /*c*/, const moment& /*m*/) {
    tx.clear_log();
    return {};
}

}  // namespace callsign::rules
