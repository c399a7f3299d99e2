#pragma once
// Tasks of managed accounts.

#include <callsign/domain/commands/tasks.hpp>
#include <callsign/domain/sealed.hpp>
#include <callsign/domain/task.hpp>
#include <callsign/domain/task_filter.hpp>
#include <callsign/domain/task_list.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace callsign {

struct find_task {
    account_id account;
    task_ref task{};

    using answer = std::variant<callsign::task, ref_fault>;
};

// All tasks of an account, purged ones included, as many as `work_max` allows. Changes made between
// two of these queries are in the versions after the first answer's `head`
// (domain/collected_tasks.hpp).
struct read_tasks {
    account_id account;
    std::optional<task_place> after{};     // tasks up to here have been read
    std::size_t work_max = step_work_max;  // at least one is read

    struct answer {
        chain_head head;
        std::vector<task> tasks;
        std::optional<task_place> next;  // none: done
    };
};

// ---- lists ----

// A part of a list in the order of keys: the account's tasks are walked in steps.
struct list_tasks {
    account_id account;
    task_filter filter{};  // Requires: it needs no links
    bool descending = false;
    std::optional<task_place> after{};
    std::size_t limit = 50;
    time_point now;  // determines which tasks are overdue, waiting ...
    std::size_t work_max = step_work_max;

    struct part {
        std::vector<task> tasks;         // at most `limit`, possibly none
        std::optional<task_place> next;  // none: done
    };
    using answer = std::variant<part, unknown_series>;
};

// The same walk for a list in another order or with a filter that needs links: returns what
// ordered() (domain/task_list.hpp) needs of each task.
struct scan_tasks {
    account_id account;
    task_filter filter{};
    task_sort by = task_sort::key;
    std::optional<task_place> after{};
    time_point now;
    std::size_t work_max = step_work_max;

    struct part {
        std::vector<scanned_task> tasks;
        std::optional<task_place> next;
    };
    using answer = std::variant<part, unknown_series>;
};

// These tasks, in this order, as they are now, without those that do not match or do not exist.
struct find_listed_tasks {
    account_id account;
    task_filter filter{};
    std::vector<task_ref> tasks{};
    time_point now;
    std::size_t work_max = step_work_max;

    struct answer {
        std::vector<task> tasks;
        std::size_t looked_at = 0;  // of those requested, from the first; at least one
    };
};

}  // namespace callsign
