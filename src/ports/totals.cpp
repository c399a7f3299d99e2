#include <callsign/ports/store.hpp>
#include <callsign/ports/tables/accounts.hpp>
#include <callsign/ports/tables/series.hpp>
#include <callsign/ports/tables/slots.hpp>
#include <callsign/ports/tables/tasks.hpp>

#include <functional>

namespace callsign {
namespace {

// Returns by how much the number of rows for which `is` holds has changed.
template <class Row, class Is>
std::int64_t added(const table_changes& changes, const Is& is) {
    if (changes.table != &info_of_table<Row>()) return 0;
    const auto count = [&](const row_ptr& row) {
        return row && std::invoke(is, *static_cast<const head_of<Row>*>(row.get())) ? 1 : 0;
    };
    std::int64_t more = 0;
    for (const row_change& c : changes.rows) more += count(c.now) - count(c.before);
    return more;
}

void count_in(const table_changes& changes, store_totals& all) {
    const auto any = [](const auto& /*row*/) { return true; };
    all.accounts += added<account>(changes, any);
    all.tasks += added<task_row>(changes, any);
    all.open_tasks += added<task_row>(changes, tasks_open::has);
    all.held_series += added<series>(changes, &series::held);
    if (changes.table != &info_of_table<slot>()) return;
    for (const row_change& c : changes.rows) {
        if (c.before) --all.slots.of(static_cast<const slot*>(c.before.get())->state);
        if (c.now) ++all.slots.of(static_cast<const slot*>(c.now.get())->state);
    }
}

}  // namespace

std::vector<table_changes> write_tx::counted_changes() {
    auto all = unit_->changes();
    if (all.empty() && !unit_->totals()) return all;
    const auto before = expect<totals_by_id>(store_totals::only);
    store_totals now = unit_->totals().value_or(*before);
    for (const table_changes& each : all) count_in(each, now);
    if (now == *before) return all;
    put(before, now);
    all.push_back(unit_->of<store_totals>().all());
    return all;
}

}  // namespace callsign
