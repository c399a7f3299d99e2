#pragma once
// Tasks of managed accounts.

#include <callsign/domain/claim.hpp>
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

// The task that a ref names.
struct find_task {
    account_id account;
    task_ref task{};

    using answer = std::variant<callsign::task, ref_fault>;
};
claim claim_of(const find_task& q);

// All tasks of an account, a bounded number at a time, purged ones included; what changes between
// two of these, the versions after the first answer's `head` tell (domain/collected_tasks.hpp).
struct read_tasks {
    account_id account;
    std::optional<task_place> after{};     // up to which they have been read
    std::size_t work_max = step_work_max;  // as of a command (commands/tasks.hpp)

    struct answer {
        chain_head head;
        std::vector<task> tasks;
        std::optional<task_place> next;  // none: that was all
    };
};
claim claim_of(const read_tasks& q);

// ---- lists ----

// Some of a list in the order of keys: a walk over the account's tasks, in pieces.
struct list_tasks {
    account_id account;
    task_filter filter{};  // Requires: it needs no links
    bool descending = false;
    std::optional<task_place> after{};
    std::size_t limit = 50;
    time_point now;  // by which tasks are overdue, waiting ...
    std::size_t work_max = step_work_max;

    struct part {
        std::vector<task> tasks;         // `limit` at most, and maybe none
        std::optional<task_place> next;  // none: that was all
    };
    using answer = std::variant<part, unknown_series>;
};
claim claim_of(const list_tasks& q);

// The same walk for a list in another order, or one whose tasks depend on each other: what
// ordered() (domain/task_list.hpp) has to know of each.
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
claim claim_of(const scan_tasks& q);

// Those of a list that was ordered before, as they are now; those that are in it no longer are left
// out.
struct find_listed_tasks {
    account_id account;
    task_filter filter{};
    std::vector<uuid> tasks{};
    time_point now;
    std::size_t work_max = step_work_max;

    struct answer {
        std::vector<task> tasks;
        std::size_t looked_at = 0;  // of those asked for, from the first; one at least
    };
};
claim claim_of(const find_listed_tasks& q);

}  // namespace callsign
