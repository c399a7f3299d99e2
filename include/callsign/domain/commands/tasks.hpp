#pragma once
// Changes of tasks that no device made.

#include <callsign/domain/account.hpp>
#include <callsign/domain/claim.hpp>
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

// ---- a change by way of REST ----

// The task gets these attributes, or is purged: a version of its own, unless nothing changes. With
// a status its `end` follows, as Taskwarrior has it, unless it is among the changes.
struct edit_task {
    account_id account;
    task_ref task{};
    // None: the attribute goes. Of a name that comes twice the first holds.
    std::vector<std::pair<std::string, std::optional<std::string>>> changes{};
    // Attributes that start so and are not among the changes go: lists that are given whole.
    std::vector<std::string> replaced{};
    // The tasks it depends on from now on, as the client named them, if that is to change.
    std::optional<std::vector<task_ref>> depends{};
    bool purge = false;
    // Then it is all that is done, if-match apart.
    std::optional<task_action> action{};
    // Only if the seq of its last change is among these.
    std::optional<std::vector<std::int64_t>> if_seq{};
    callsign::author author{};
    std::size_t bytes = 0;  // of the request it came in
    std::size_t shown_bytes_max = 2 * task_bytes_max;

    struct edited {
        callsign::task now;  // without its attributes if they are more than `shown_bytes_max`
    };
    struct changed_since {};
    // The account's tasks live on another server: the outbox brings it there.
    struct elsewhere {};
    using answer = std::variant<edited, ref_fault, depends_unmet, changed_since, task_not_valid,
                                task_too_large, elsewhere, account_full>;
};
claim claim_of(const edit_task& c);

// ---- tasks taken over from elsewhere ----

// Those that the account has never had become tasks of its own, in one version, numbered in this
// order. An incomplete one (task_faults.hpp) gets the attributes that it lacks, and keeps those
// that it has. The others are left as they are, purged ones gone. As with add_version one command
// takes what fits, and the rest is for the next.
struct import_tasks {
    static constexpr std::size_t tasks_max = 500;

    struct imported_task {
        callsign::uuid uuid{};
        callsign::attributes attributes{};
        // With keys: the number before its own, in the same series and period, that is to be
        // imported too. A check of a part of them goes by it.
        std::int64_t after = 0;
    };

    account_id account;
    std::vector<imported_task> tasks{};
    std::size_t bytes = 0;  // of the request they came in
    std::size_t work_max = step_work_max;
    callsign::author author{};
    // Keys among the attributes are kept. Unless a series allows it for all of them (a held one,
    // whose numbers they are, one that may have gaps, or the number is the next), none is imported.
    bool with_keys = false;
    bool check_only = false;  // with keys: nothing is written
    // With keys: the last number of each series and period, the tasks of the steps before counted.
    std::map<std::pair<series_id, std::string>, std::int64_t> counted{};

    struct done {
        std::int64_t imported = 0;
        std::int64_t there_already = 0;  // and whole
        std::int64_t completed = 0;
        std::int64_t keys_kept = 0;      // of the imported, and of those that had no number yet
        std::int64_t keys_left_out = 0;  // of the imported; they have another
        std::size_t taken = 0;           // of `tasks`, from the first: all that is counted above
        std::map<std::pair<series_id, std::string>, std::int64_t> counted{};  // of a check
        std::string key_attribute{};  // of a check: where keys are looked for; empty: nowhere
    };

    // Why a task cannot keep its key.
    enum class key_fault_kind : std::uint8_t {
        not_a_key,
        unknown_prefix,
        other_period,   // the series does not reset so, or the period has not begun
        number_taken,   // by another task
        uuid_taken,     // the task is there, with another key
        gap,            // numbers before it are missing, and its series allows no gaps
        too_far_ahead,  // of the series
    };
    struct key_fault {
        std::size_t task = 0;  // of `tasks`, from 0
        key_fault_kind kind = key_fault_kind::gap;
        std::string key{};    // its own
        std::string other{};  // the prefix, what stands in its way, or is missing before it
    };
    struct keys_refused {
        std::vector<key_fault> faults{};
        done checked{};  // of a check: as if there were none; else what was imported before
    };
    using answer = std::variant<done, no_such_account, account_is_opaque, account_is_elsewhere,
                                task_too_large, series_held, account_full, keys_refused>;
};
claim claim_of(const import_tasks& c);

}  // namespace callsign
