#pragma once
// Sorts lists that are not in the order of keys or whose filter needs links, from all tasks that a
// walk found. Pure.

#include <callsign/domain/task_filter.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace callsign {

// What is kept of a task until all have been scanned.
struct scanned_task {
    uuid id{};
    bool is_open = false;
    bool is_wanted = false;  // the task itself matches, links not considered
    double rank = std::numeric_limits<double>::quiet_NaN();  // the sort value; NaN: none
    std::vector<uuid> depends{};                             // of an open task
};

// Returns the sort value, links not considered; NaN: the task has none.
double rank_of(const task& t, task_sort by, time_point now);

// Returns the tasks of the list in its order. Requires: `all` in the order of keys, with every open
// task if the filter or the order needs links; otherwise the wanted tasks suffice.
std::vector<uuid> ordered(const std::vector<scanned_task>& all, const task_filter& filter,
                          const task_order& order);

}  // namespace callsign
