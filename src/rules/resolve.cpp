#include "resolve.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/instance.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/tokens.hpp>

namespace callsign::rules {
namespace {

std::variant<task, ref_fault> usable(std::optional<task> found) {
    if (!found) return ref_fault::task_not_found;
    if (found->purged) return ref_fault::task_deleted;
    return std::move(*found);
}

// `find` returns the task by account and UUID, or by series, period and number.
template <class Find>
std::variant<task, ref_fault> resolve_by(read_tx& tx, account_id account, const task_ref& ref,
                                         const Find& find) {
    if (const auto* id = std::get_if<uuid>(&ref)) return usable(find(account, *id));
    const auto& key = std::get<task_key>(ref);
    const auto series = all_series::find(tx, account, key.prefix);
    if (!series) return ref_fault::unknown_prefix;
    return usable(find(series->id, key.period, key.number));
}

}  // namespace

std::optional<account> resolve(read_tx& tx, const account_ref& ref) {
    auto found = std::visit([&](const auto& by) { return accounts::find(tx, by); }, ref);
    // An account that is being removed no longer counts.
    if (found && found->state == account_state::removing) found.reset();
    return found;
}

std::variant<task, ref_fault> resolve(read_tx& tx, account_id account, const task_ref& ref) {
    return resolve_by(tx, account, ref, [&](const auto&... of) { return tasks::find(tx, of...); });
}

series at_instant(series s, time_point now) {
    if (s.reset == reset_policy::never) return s;
    std::string period = period_of(now, s.reset, s.time_zone);
    if (period <= s.period) return s;
    s.period = std::move(period);
    s.last_number = 0;
    return s;
}

task_tag tag_of(read_tx& tx, const task& t) {
    return {t.last_seq, stamp_of(instance_of(tx), t.current_prefix)};
}

const std::string& task_display::name_of(const author& by) {
    const auto [at, is_new] = names_.try_emplace(by);
    if (is_new) at->second = tokens::name_of(tx_, by);
    return at->second;
}

task task_display::shown(task t) {
    t.author_name = name_of(t.author);
    const auto [at, is_new] = stamps_.try_emplace(t.current_prefix);
    if (is_new) at->second = stamp_of(instance_of(tx_), t.current_prefix);
    t.tag = {t.last_seq, at->second};
    return t;
}

resolved_depends resolve_depends(read_tx& tx, account_id account, const std::vector<task_ref>& refs,
                                 const uuid& itself) {
    resolved_depends found;
    // Heads only, because tasks may be large.
    const auto head = [&](const auto&... of) { return tasks::find_head(tx, of...); };
    for (const task_ref& ref : refs) {
        const auto named = resolve_by(tx, account, ref, head);
        if (const auto* const why = std::get_if<ref_fault>(&named)) {
            found.faults.emplace_back(ref, *why);
        } else if (const uuid& id = std::get<task>(named).uuid; id == itself) {
            found.faults.emplace_back(ref, ref_fault::is_itself);
        } else {
            found.tasks.push_back(id);
        }
    }
    return found;
}

}  // namespace callsign::rules
