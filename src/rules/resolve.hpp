#pragma once
// Resolves names that clients use.

#include <callsign/domain/account.hpp>
#include <callsign/domain/task.hpp>
#include <callsign/ports/store.hpp>

#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace callsign::rules {

// Returns none if there is no such account.
std::optional<account> resolve(read_tx& tx, const account_ref& ref);

// Accepts a UUID, or a key with a current or former prefix of a series.
std::variant<task, ref_fault> resolve(read_tx& tx, account_id account, const task_ref& ref);

// Returns the series as clients see it: in the period of that instant.
series at_instant(series s, time_point now);

// Returns the task as clients see it: with its author's name.
task shown(read_tx& tx, task t);

// Dependencies of a task.
struct resolved_depends {
    std::vector<uuid> tasks;
    std::vector<std::pair<task_ref, ref_fault>> faults;
};

// `itself`: the task with the dependencies.
resolved_depends resolve_depends(read_tx& tx, account_id account, const std::vector<task_ref>& refs,
                                 const uuid& itself = {});

}  // namespace callsign::rules
