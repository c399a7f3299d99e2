// Task lists. Only open tasks are read if the list can have no others.

#include "resolve.hpp"
#include "walk.hpp"

#include <callsign/domain/task_faults.hpp>
#include <callsign/rules/read.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tasks.hpp>

namespace callsign::rules {
namespace {

// Returns the series of the list; none if the filter names one that does not exist.
std::optional<std::vector<series>> series_in(read_tx& tx, account_id account,
                                             const task_filter& filter) {
    if (filter.prefix.empty()) return all_series::of(tx, account);
    auto named = all_series::find(tx, account, filter.prefix);
    if (!named) return std::nullopt;
    return std::vector<series>{*std::move(named)};
}

scanned_task scanned(const scan_tasks& q, const task& t, bool with_links) {
    scanned_task s{.id = t.uuid, .is_open = !t.purged && !is_over(t.attributes)};
    s.is_wanted = matches(q.filter, t, q.now);
    if (s.is_wanted) s.rank = rank_of(t, q.by, q.now);
    if (with_links && s.is_open) s.depends = depends_of(t.attributes);
    return s;
}

}  // namespace

list_tasks::answer read(read_tx& tx, const list_tasks& q) {
    auto all = series_in(tx, q.account, q.filter);
    if (!all) return unknown_series{};
    list_tasks::part found;
    task_display display(tx);
    task_walk through(
        tx, *std::move(all), q.after,
        {q.descending, q.filter.is_open_only(), q.work_max, static_cast<std::int64_t>(q.limit)},
        [&](task&& t, series_id) {
            if (!matches(q.filter, t, q.now)) return true;
            found.tasks.push_back(display.shown(std::move(t)));
            return found.tasks.size() < q.limit;
        });
    found.next = std::move(through).next();
    return found;
}

// If links matter, tasks of all series are read, including unwanted ones.
scan_tasks::answer read(read_tx& tx, const scan_tasks& q) {
    auto all = series_in(tx, q.account, q.filter);
    if (!all) return unknown_series{};
    const bool with_links = q.filter.needs_links() || q.by == task_sort::urgency;
    std::optional<series_id> only;
    if (!q.filter.prefix.empty()) only = all->front().id;
    if (with_links) all = all_series::of(tx, q.account);
    scan_tasks::part found;
    task_walk through(tx, *std::move(all), q.after,
                      {false, q.filter.is_open_only(), q.work_max, std::int64_t{page_rows_max}},
                      [&](task&& t, series_id of) {
                          scanned_task s = scanned(q, t, with_links);
                          if (only && of != *only) s.is_wanted = false;
                          if (s.is_wanted || (with_links && s.is_open)) {
                              found.tasks.push_back(std::move(s));
                          }
                          return true;
                      });
    found.next = std::move(through).next();
    return found;
}

find_listed_tasks::answer read(read_tx& tx, const find_listed_tasks& q) {
    find_listed_tasks::answer found;
    task_display display(tx);
    std::size_t work = 0;
    for (const task_ref& ref : q.tasks) {
        ++found.looked_at;
        auto named = resolve(tx, q.account, ref);
        auto* const t = std::get_if<task>(&named);
        if (t == nullptr) continue;
        work += work_of_row(*t);
        if (matches(q.filter, *t, q.now)) {
            found.tasks.push_back(display.shown(std::move(*t)));
        }
        if (work >= q.work_max) break;
    }
    return found;
}

}  // namespace callsign::rules
