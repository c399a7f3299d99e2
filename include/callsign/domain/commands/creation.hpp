#pragma once
// Creation of a task: two commands, each durable in its own batch. engine::create submits both.

#include <callsign/domain/commands/accounts.hpp>
#include <callsign/domain/request_key.hpp>
#include <callsign/domain/slot.hpp>
#include <callsign/domain/task.hpp>
#include <callsign/domain/task_faults.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace callsign {

// ---- answers of both phases ----

// The task exists, and this is the response to its creation. `replayed`: an earlier request created
// it. `reserved_at`: when the key was reserved.
struct receipted {
    callsign::receipt receipt;
    bool replayed = false;
    time_point reserved_at;
};

// The reaper failed the slot. This is final: a new key is safe.
struct slot_failed {
    failure_reason reason = failure_reason::none;
    time_point reserved_at;
    time_point failed_at;
};

// The account has no series of the requested prefix.
struct unknown_series {};
// The requested series assigns no more numbers.
struct series_archived {};

// Taskwarrior could not keep the task (task_faults.hpp).
struct task_not_valid {
    std::vector<task_fault> faults;
};

// Dependencies that are not possible: each as the client named it, and why.
struct depends_unmet {
    std::vector<std::pair<task_ref, ref_fault>> refs;
};

// The task would have more than task_attributes_max attributes, or more than task_bytes_max bytes
// of names and values: each change reads and writes all of them.
struct task_too_large {
    callsign::uuid task{};
};
inline constexpr std::size_t task_bytes_max = std::size_t{4} << 20;
inline constexpr std::size_t task_attributes_max = 10'000;
// A sync may exceed task_bytes_max: a task can have what one segment can contain
// (rules::moment::synced_task_bytes_max).

constexpr bool is_oversized(std::size_t attributes, std::size_t bytes) noexcept {
    return attributes > task_attributes_max || bytes > task_bytes_max;
}
inline bool is_oversized(const attributes& all) noexcept {
    return is_oversized(all.size(), size_of(all));
}

// The series assigns no numbers: it was not resumed since a restore from a backup.
struct series_held {
    std::string prefix;
};

// ---- phase 1: reserve ----

// Key unknown: appends a pending slot. Key known: returns the slot's outcome. A final outcome is
// returned whatever has changed since; otherwise the task is validated again.
struct reserve {
    account_id account;
    std::string key;
    digest fingerprint{};
    std::optional<callsign::uuid> uuid;  // chosen by the client
    std::string prefix;  // requested series; empty: by project, otherwise the default
    // The attributes for phase 2. This phase checks their instants and size, and stores none.
    callsign::attributes attributes{};
    // The task's dependencies, as the client named them.
    std::vector<task_ref> depends{};
    callsign::author author{};

    // A slot is pending, to be fulfilled by this request. `resumed`: it was pending before.
    struct reserved {
        slot_id slot;
        bool resumed = false;
        time_point reserved_at;
        std::vector<callsign::uuid> depends{};  // `depends`, resolved
        bool is_remote = false;                 // of a remote account: begin_delivery follows
    };
    // The task is being created on a remote server.
    struct in_flight {
        slot_id slot;
        time_point reserved_at;
    };
    // ref_fault: the UUID is of a purged task.
    using answer = std::variant<reserved, in_flight, receipted, slot_failed, key_conflict,
                                unknown_series, series_archived, task_not_valid, depends_unmet,
                                task_too_large, series_held, account_full, ref_fault>;
};

// ---- phase 2: fulfil ----

// Turns the pending slot into a task with its number, in one transaction.
struct fulfil {
    slot_id slot;
    std::string prefix;
    callsign::attributes attributes;
    callsign::author author{};

    // The slot does not exist, perhaps after a restore, or its task is created on a remote server.
    struct slot_missing {};
    using answer = std::variant<receipted, slot_failed, unknown_series, slot_missing,
                                task_too_large, series_held>;
};

// ---- numbers for opaque accounts ----

// Assigns a number to a task of an opaque account, which the server cannot see. The same UUID
// always gets the same receipt; its seq is 0, since no version of the chain created it.
struct assign_key {
    account_id account;
    callsign::uuid uuid{};
    std::string prefix;  // requested series; empty: by project, otherwise the default
    std::string project;
    callsign::author author{};

    struct not_opaque {};
    using answer = std::variant<receipted, no_such_account, not_opaque, unknown_series,
                                series_archived, series_held>;
};

}  // namespace callsign
