#pragma once
// After a restore from a backup: numbers assigned since the backup was made are not in the store,
// but users may have noted them.

#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/commands/accounts.hpp>
#include <callsign/domain/commands/chain.hpp>
#include <callsign/domain/commands/devices.hpp>
#include <callsign/domain/commands/series.hpp>
#include <callsign/domain/commands/tasks.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace callsign {

// Gives the store a new instance ID and holds every series that assigns numbers itself. Remote
// accounts are left out: their tasks and keys come from the remote server.
struct mark_restored {
    uuid instance{};
    time_point backup_made_at{};

    struct answer {
        std::int64_t held = 0;
    };
};

// Resumes a held series at this number, or at the next one; numbers in between are skipped. Tasks
// that came while it was held get the first numbers.
struct resume_series {
    account_ref account;
    std::string named;  // a present or former prefix
    std::optional<std::int64_t> at{};

    struct not_held {};
    using answer =
        std::variant<series, not_held, edit_series::next_too_low, no_such_series, no_such_account>;
};

// Assigns numbers to tasks that came while the series was held. In steps.
struct number_tasks {
    series_id series;
    std::size_t work_max = step_work_max;

    struct answer {
        bool has_more = false;
    };
};

// Merges the tasks of a device that had more than the backup, a part at a time. New tasks are
// created, with the keys that they bring. Of others, attributes that the device changed since the
// backup and the store did not are taken; where both changed one, the task with the later
// `modified` wins, and an annotation keeps the other value. Repeating it changes nothing.
struct merge_snapshot {
    uuid client_id{};
    uuid version{};  // of the snapshot
    std::vector<import_tasks::imported_task> tasks{};
    account_id account{};   // whose share it counts against
    std::size_t bytes = 0;  // of the received snapshot
    std::size_t work_max = step_work_max;

    struct done {
        std::size_t taken = 0;  // of `tasks`, from the first
    };
    // No snapshot was requested.
    struct not_awaited {};
    using answer = std::variant<done, not_awaited, no_such_client, device_revoked>;
};

// Recreates on the device the tasks of the backup that its snapshot lacks: it must have purged
// them, whereas other tasks may just not have reached it. A part at a time.
struct recreate_tasks {
    uuid client_id{};
    uuid version{};  // of the snapshot
    std::vector<uuid> tasks{};
    account_id account{};
    std::size_t work_max = step_work_max;

    struct done {
        std::size_t taken = 0;  // of `tasks`, from the first
    };
    using answer = std::variant<done, merge_snapshot::not_awaited, no_such_client, device_revoked>;
};

// Ends a device's state after a restore: the store has what the device alone had (`ahead`), or it
// had nothing. When no device of the account is missing and one was ahead, held series of the
// account resume behind the numbers that the devices brought.
struct end_resync {
    uuid client_id{};
    account_id account{};
    bool ahead = false;

    struct done {
        std::int64_t resumed = 0;  // series
    };
    struct not_expected {};
    using answer = std::variant<done, not_expected, no_such_client, device_revoked>;
};

}  // namespace callsign
