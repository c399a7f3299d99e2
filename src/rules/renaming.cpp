#include "renaming.hpp"

#include "key_effects.hpp"
#include "numbering.hpp"
#include "read/walk.hpp"
#include "series_steps.hpp"

#include <callsign/ports/tables/accounts.hpp>
#include <callsign/rules/read.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/numbers.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace callsign::rules {
namespace {

// Returns the change that gives the task its new key; none: it has it. Without a key attribute,
// `modified` is changed instead: REST and the feed show the key.
std::optional<operation> change_of(const task& t, attributes& now, const moment& m) {
    if (!m.key_attribute.empty()) return correct_key(t, now, m);
    now.insert_or_assign("modified", epoch_text(m.wall));
    return operation{operation_kind::update, t.uuid, "modified", epoch_text(m.wall), m.wall};
}

// Changes the tasks in one version of the server's own.
void update_local(write_tx& tx, account_id account, std::vector<task> all, const moment& m) {
    std::vector<operation> operations;
    std::vector<std::pair<task, attributes>> changed;
    for (task& t : all) {
        attributes now = t.attributes;
        auto change = change_of(t, now, m);
        if (!change) continue;
        operations.push_back(*std::move(change));
        changed.emplace_back(std::move(t), std::move(now));
    }
    if (changed.empty()) return;
    const auto seq = versions::append(tx, account, m.ids.next(m.now), m.now, std::move(operations));
    m.tell(events::version_appended{account, seq});
    for (auto& [before, now] : changed) {
        tasks::update(tx, before, std::move(now), false, seq, m.now);
    }
}

// The remote server's tasks are changed through the outbox.
void update_remote(write_tx& tx, const std::vector<task>& all, const moment& m) {
    for (const task& t : all) keep_key_effect(tx, t, nullptr, t.attributes, m);
}

// Tasks that changed since the renaming have their new key already.
bool has_former_key(const task& t, const series& s) {
    return t.numbered && !t.purged && t.last_seq <= *s.renamed_seq;
}

void end_renaming(series& s) {
    s.renamed_seq.reset();
    s.renamed_period.clear();
    s.renamed_number = 0;
}

// Requires: the renaming is in progress.
void update_some(write_tx& tx, series& s, std::size_t& work_left, const moment& m) {
    std::optional<task_place> from;
    if (s.renamed_number > 0) from = {s.id, s.renamed_period, s.renamed_number};
    std::vector<task> some;
    task_walk walk(tx, {s}, from, {.work_max = work_left}, [&](task&& t, series_id) {
        work_left -= std::min(work_left, work_of_row(t));
        if (has_former_key(t, s)) some.push_back(std::move(t));
        return true;
    });
    if (accounts::is_remote(tx, s.account)) {
        update_remote(tx, some, m);
    } else {
        update_local(tx, s.account, std::move(some), m);
    }
    if (auto next = std::move(walk).next()) {
        s.renamed_period = std::move(next->period);
        s.renamed_number = next->number;
    } else {
        end_renaming(s);
    }
}

}  // namespace

std::size_t size_of_renaming(read_tx& tx, const series& s, const moment& m) {
    if (tx.expect<accounts_by_id>(s.account)->mode == account_mode::opaque) return 0;
    std::int64_t tasks = 0;
    for (const auto& each : numbers::given(tx, s.id)) tasks += each.last_number;
    for (const auto& each : numbers::skipped(tx, s.id)) tasks -= each.last - each.first + 1;
    const std::string_view name = m.key_attribute.empty() ? "modified" : m.key_attribute;
    constexpr std::size_t value_bytes = 12;  // of most keys and times
    return static_cast<std::size_t>(tasks) * (sizeof(uuid) + name.size() + value_bytes);
}

void begin_renaming(write_tx& tx, series& s, std::size_t& work_left, const moment& m) {
    const auto owner = tx.expect<accounts_by_id>(s.account);
    if (owner->mode == account_mode::opaque) return;
    end_renaming(s);
    s.renamed_seq = owner->head.seq;
    update_some(tx, s, work_left, m);
    if (s.renamed_seq) m.tell(events::series_steps_due{s.account, s.id});
    all_series::update(tx, s, m.now);
}

update_keys::answer apply(write_tx& tx, const update_keys& c, const moment& m) {
    auto s = due(tx, c.series, all_series::next_renamed);
    if (!s) return {};
    std::size_t work_left = c.work_max;
    update_some(tx, *s, work_left, m);
    all_series::update(tx, *s, m.now);
    return {s->renamed_seq.has_value()};
}

find_renamed::answer read(read_tx& tx, const find_renamed& q) {
    const auto s = next_due(tx, q.after, all_series::next_renamed);
    if (!s) return {};
    return {s->id};
}

}  // namespace callsign::rules
