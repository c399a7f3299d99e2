#pragma once
// The order of a list that is not in the order of keys, or whose tasks depend on each other: of all
// tasks as a walk found them. Pure.

#include <callsign/domain/task_filter.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace callsign {

// What is kept of a task until all have been seen.
struct scanned_task {
    uuid id{};
    bool is_open = false;
    bool is_wanted = false;  // the filter holds, as far as the task itself tells
    double rank = std::numeric_limits<double>::quiet_NaN();  // what it is sorted by, if it has that
    std::vector<uuid> depends{};                             // of an open one
};

// What it is sorted by, links apart; NaN: nothing.
double rank_of(const task& t, task_sort by, time_point now);

// The tasks of the list, in its order. `all` in the order of keys: with a filter or an order that
// needs links every open task, else those wanted are enough.
std::vector<uuid> ordered(const std::vector<scanned_task>& all, const task_filter& filter,
                          const task_order& order);

}  // namespace callsign
