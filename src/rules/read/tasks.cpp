#include "resolve.hpp"
#include "walk.hpp"

#include <callsign/rules/read.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/series.hpp>

namespace callsign::rules {

find_task::answer read(read_tx& tx, const find_task& q) {
    auto named = resolve(tx, q.account, q.task);
    if (auto* const found = std::get_if<task>(&named))
        return task_display(tx).shown(std::move(*found));
    return named;
}

read_tasks::answer read(read_tx& tx, const read_tasks& q) {
    read_tasks::answer found{accounts::head_of(tx, q.account), {}, {}};
    task_walk through(tx, all_series::of(tx, q.account), q.after, {false, false, q.work_max},
                      [&](task&& t, series_id) {
                          found.tasks.push_back(std::move(t));
                          return true;
                      });
    found.next = std::move(through).next();
    return found;
}

}  // namespace callsign::rules
