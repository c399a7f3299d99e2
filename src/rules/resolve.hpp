#pragma once
// What a name of the client's stands for.

#include <callsign/domain/account.hpp>
#include <callsign/domain/task.hpp>
#include <callsign/ports/store.hpp>

#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace callsign::rules {

// None: there is no such account.
std::optional<account> resolve(read_tx& tx, const account_ref& ref);

// product.md section 5: a UUID, or a key with the prefix of a series, renamed ones included.
std::variant<task, ref_fault> resolve(read_tx& tx, account_id account, const task_ref& ref);

// As people are shown it: in the period of that instant.
series at_instant(series s, time_point now);

// As people are shown it: with its author's name.
task shown(read_tx& tx, task t);

// The tasks another one is to depend on.
struct resolved_depends {
    std::vector<uuid> tasks;
    std::vector<std::pair<task_ref, ref_fault>> faults;
};

// `itself`: the task that is to depend on them.
resolved_depends resolve_depends(read_tx& tx, account_id account, const std::vector<task_ref>& refs,
                                 const uuid& itself = {});

}  // namespace callsign::rules
