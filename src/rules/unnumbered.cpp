#include "unnumbered.hpp"

#include "numbering.hpp"
#include "read/walk.hpp"
#include "series_steps.hpp"

#include <callsign/ports/tables/accounts.hpp>
#include <callsign/rules/read.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <algorithm>

namespace callsign::rules {
namespace {

series series_of(read_tx& tx, const task& t) {
    auto its = all_series::find(tx, t.account, t.current_prefix);
    if (!its) throw_damaged("tasks", t.id.value, "its series does not exist");
    return *std::move(its);
}

// Numbers the tasks, and sets their keys in one version of the server's own. That version omits
// purged tasks: their last version stays that of the removal.
std::vector<task> number_waiting(write_tx& tx, const series& from, const std::vector<task>& all,
                                 const moment& m) {
    std::vector<operation> keys;
    std::vector<task> numbered = all;
    for (task& t : numbered) {
        t.numbered = take_receipt(tx, from, t.uuid, m);
        t.numbered->created_at = t.created_at;
        if (t.purged) continue;
        if (auto key = correct_key(t, t.attributes, m)) keys.push_back(*std::move(key));
    }
    const auto seq = versions::append(tx, from.account, m.ids.next(m.now), m.now, std::move(keys));
    m.tell(events::version_appended{from.account, seq});
    for (std::size_t n = 0; n < all.size(); ++n) {
        task& t = numbered[n];
        t.numbered->seq = t.purged ? t.last_seq : seq;
        put_number(tx, all[n], t, from.id, m);
    }
    return numbered;
}

// Returns false if there are more.
bool number_some(write_tx& tx, const series& from, std::size_t& work_left, const moment& m) {
    std::vector<task> some;
    bool is_all = true;
    tasks::visit_unnumbered(tx, {from.id, {}}, [&](task&& t) {
        is_all = work_left > 0;
        if (!is_all) return false;
        work_left -= std::min(work_left, work_of_row(t));
        some.push_back(std::move(t));
        return true;
    });
    if (!some.empty()) number_waiting(tx, from, some, m);
    return is_all;
}

}  // namespace

bool is_held(read_tx& tx, const task& t) {
    return !t.numbered && series_of(tx, t).held;
}

bool has_unnumbered(read_tx& tx, const series& s) {
    bool has_some = false;
    tasks::visit_unnumbered(tx, {s.id, {}}, [&](task&&) {
        has_some = true;
        return false;
    });
    return has_some;
}

void put_number(write_tx& tx, const task& before, const task& numbered, series_id from,
                const moment& m) {
    const receipt& r = *numbered.numbered;
    tasks::number(tx, before.id, from, r);
    if (!before.purged) tasks::update(tx, before, numbered.attributes, false, r.seq, m.now);
    commit_waiting_slots(tx, before.account, before.uuid, before.id, m);
}

receipt settle_with_existing(write_tx& tx, const slot& pending, const task& existing,
                             const moment& m) {
    receipt r;
    if (existing.numbered) {
        commit_slot(tx, pending, existing.id, false, m);
        r = *existing.numbered;
    } else {
        r = *number_waiting(tx, series_of(tx, existing), {existing}, m).front().numbered;
    }
    r.created = false;
    return r;
}

void resume(write_tx& tx, series& s, std::size_t& work_left, const moment& m) {
    s.held = false;
    s.numbering = !number_some(tx, s, work_left, m);
    if (s.numbering) m.tell(events::series_steps_due{s.account, s.id});
    all_series::update(tx, s, m.now);
}

number_tasks::answer apply(write_tx& tx, const number_tasks& c, const moment& m) {
    auto s = due(tx, c.series, all_series::next_numbering);
    if (!s) return {};
    std::size_t work_left = c.work_max;
    if (!number_some(tx, *s, work_left, m)) return {true};
    s->numbering = false;
    all_series::update(tx, *s, m.now);
    return {};
}

find_numbering::answer read(read_tx& tx, const find_numbering& q) {
    const auto s = next_due(tx, q.after, all_series::next_numbering);
    if (!s) return {};
    return {s->id};
}

}  // namespace callsign::rules
