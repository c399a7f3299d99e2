#pragma once
// Tasks of managed accounts.

#include <callsign/domain/claim.hpp>
#include <callsign/domain/commands/tasks.hpp>
#include <callsign/domain/sealed.hpp>
#include <callsign/domain/task.hpp>

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
    // Up to which they have been read.
    struct place {
        series_id series;
        std::string period;
        std::int64_t number = 0;
    };

    account_id account;
    std::optional<place> after{};
    std::size_t work_max = step_work_max;  // as of a command (commands/tasks.hpp)

    struct answer {
        chain_head head;
        std::vector<task> tasks;
        std::optional<place> next;  // none: that was all
    };
};
claim claim_of(const read_tasks& q);

}  // namespace callsign
