#pragma once
// Changes of tasks that do not come from devices.

#include <callsign/domain/account.hpp>
#include <callsign/domain/commands/accounts.hpp>
#include <callsign/domain/commands/creation.hpp>
#include <callsign/domain/commands/devices.hpp>
#include <callsign/domain/task.hpp>
#include <callsign/domain/task_action.hpp>
#include <callsign/domain/task_faults.hpp>
#include <callsign/domain/work.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace callsign {

// ---- a change by the REST API ----

// Sets a task's attributes or purges it, in a version of its own, unless nothing changes. A change
// of the status also sets or removes `end`, as Taskwarrior does, unless the changes contain it.
struct edit_task {
    account_id account;
    task_ref task{};
    // By name; none: the attribute is removed. Of a repeated name the first one counts.
    std::vector<std::pair<std::string, std::optional<std::string>>> changes{};
    // Attributes with these beginnings are removed unless changed: for lists replaced as a whole.
    std::vector<std::string> replaced{};
    // The new dependencies, as the client named them; none: unchanged.
    std::optional<std::vector<task_ref>> depends{};
    bool purge = false;
    // Only this is applied, and `if_match` checked.
    std::optional<task_action> action{};
    // Requires that the task is in one of these states.
    std::optional<std::vector<task_tag>> if_match{};
    callsign::author author{};
    std::optional<request_key> once{};
    std::size_t bytes = 0;  // of the received request
    std::size_t shown_bytes_max = 2 * task_bytes_max;

    struct edited {
        callsign::task now;  // without attributes if they exceed `shown_bytes_max`
    };
    struct precondition_failed {};
    // The account is remote: the outbox sends the edit.
    struct is_remote_account {};
    using answer = std::variant<edited, replayed<edited>, key_conflict, ref_fault, depends_unmet,
                                precondition_failed, task_not_valid, task_too_large,
                                is_remote_account, account_full>;
};

// ---- tasks imported from other programs ----

// Creates the tasks that the account has never had, in one version, and numbers them in this order.
// An incomplete task (task_faults.hpp) gets the attributes that it lacks and keeps those that it
// has. Others are left as they are, including purged ones. As with add_version, one command takes
// what fits, and the next one takes the rest.
struct import_tasks {
    static constexpr std::size_t tasks_max = 500;

    struct imported_task {
        callsign::uuid uuid{};
        callsign::attributes attributes{};
        // With keys: the number before its own, in the same series and period, that is imported
        // too. Lets a part of the tasks be checked alone.
        std::int64_t after = 0;
    };

    account_id account;
    std::vector<imported_task> tasks{};
    std::size_t bytes = 0;  // of the received request
    std::size_t work_max = step_work_max;
    callsign::author author{};
    // Tasks keep the keys among their attributes. None is imported unless its series allows all of
    // them: it is held, the number was skipped, gaps are allowed, or the number is the next one.
    bool with_keys = false;
    bool check_only = false;  // with keys: nothing is written
    // With keys: the last number of each series and period, including the tasks of earlier steps.
    std::map<std::pair<series_id, std::string>, std::int64_t> counted{};

    struct done {
        std::int64_t imported = 0;
        std::int64_t there_already = 0;  // and complete
        std::int64_t completed = 0;
        std::int64_t keys_kept = 0;      // of imported tasks, and of tasks that had no number yet
        std::int64_t keys_left_out = 0;  // of imported tasks, which have another key now
        std::size_t taken = 0;           // of `tasks`, from the first; all counts are of these
        std::map<std::pair<series_id, std::string>, std::int64_t> counted{};  // of a check
        std::string key_attribute{};  // of a check: the attribute that holds keys; empty: none
    };

    // Why a task cannot keep its key.
    enum class key_fault_kind : std::uint8_t {
        not_a_key,
        unknown_prefix,
        other_period,   // the series resets differently, or the period has not begun
        number_taken,   // by another task
        uuid_taken,     // the task exists with another key
        gap,            // numbers before it are missing, and the series allows no gaps
        too_far_ahead,  // of the last number of the series
    };
    struct key_fault {
        std::size_t task = 0;  // index in `tasks`
        key_fault_kind kind = key_fault_kind::gap;
        std::string key{};    // the task's key
        std::string other{};  // the prefix, the holder of the number, or the missing key
    };
    struct keys_rejected {
        std::vector<key_fault> faults{};
        done checked{};  // of a check: as if without errors; otherwise the import so far
    };
    using answer = std::variant<done, no_such_account, account_is_opaque, account_is_remote,
                                task_too_large, series_held, account_full, keys_rejected>;
};

}  // namespace callsign
