#include "resolve.hpp"

#include <callsign/domain/work.hpp>
#include <callsign/rules/read.hpp>

#include <algorithm>

namespace callsign::rules {
namespace {

// Rows at a time: each may be a large one.
constexpr std::int64_t page_rows = 16;

// Of (series, period), after that number, until `work` is `work_max` or there are no more.
void read_period(read_tx& tx, read_tasks::place& at, std::size_t& work, std::size_t work_max,
                 std::vector<task>& out) {
    while (work < work_max) {
        auto some = tx.numbered_tasks(at.series, at.period, at.number, page_rows);
        for (task& t : some) {
            at.number = t.numbered->number;
            work += work_of_task + work_of(t.attributes);
            out.push_back(std::move(t));
        }
        if (static_cast<std::int64_t>(some.size()) < page_rows) return;
    }
}

}  // namespace

find_task::answer read(read_tx& tx, const find_task& q) {
    return resolve(tx, q.account, q.task);
}

// Series by series, period by period, number by number: all tasks have one, and are found so
// without looking at other accounts' ones.
read_tasks::answer read(read_tx& tx, const read_tasks& q) {
    read_tasks::answer found{tx.head_of(q.account), {}, {}};
    std::size_t work = 0;
    const read_tasks::place begin = q.after.value_or(read_tasks::place{});
    for (const series& from : tx.series_of(q.account)) {
        if (from.id < begin.series) continue;
        for (std::string& period : tx.periods_of(from.id)) {
            const bool is_begun = from.id == begin.series && period <= begin.period;
            if (is_begun && period != begin.period) continue;
            read_tasks::place at{from.id, std::move(period), is_begun ? begin.number : 0};
            read_period(tx, at, work, q.work_max, found.tasks);
            if (work >= q.work_max) {
                found.next = std::move(at);
                return found;
            }
        }
    }
    return found;
}

}  // namespace callsign::rules
