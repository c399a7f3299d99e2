#pragma once
// A creation: two commands, each durable in a batch of its own. engine::create submits both.

#include <callsign/domain/claim.hpp>
#include <callsign/domain/commands/accounts.hpp>
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

// The task exists; here is what its creation was answered with. `replayed`: not by this request.
// `reserved_at`: when the key was first seen.
struct receipted {
    callsign::receipt receipt;
    bool replayed = false;
    time_point reserved_at;
};

// The reaper failed the slot: definite, a new key is safe.
struct slot_failed {
    failure_reason reason = failure_reason::none;
    time_point reserved_at;
    time_point failed_at;
};

// The key was used with another payload.
struct key_conflict {};

// The creation names a prefix the account does not have.
struct unknown_series {};
// It names one that takes no more numbers.
struct series_archived {};

// It would be a task that Taskwarrior cannot keep (task_faults.hpp).
struct task_not_valid {
    std::vector<task_fault> faults;
};

// The tasks it is to depend on that it cannot: each as it was named, and why.
struct depends_unmet {
    std::vector<std::pair<task_ref, ref_fault>> refs;
};

// Its attributes would be more than task_attributes_max, or more than task_bytes_max, names and
// values together: each change reads and writes all of them.
struct task_too_large {
    callsign::uuid task{};
};
inline constexpr std::size_t task_bytes_max = std::size_t{4} << 20;
inline constexpr std::size_t task_attributes_max = 10'000;
// What a sync brings may be larger than task_bytes_max: what one segment can bring, a task can have
// (rules::moment::synced_task_bytes_max).

constexpr bool is_oversized(std::size_t attributes, std::size_t bytes) noexcept {
    return attributes > task_attributes_max || bytes > task_bytes_max;
}
inline bool is_oversized(const attributes& all) noexcept {
    return is_oversized(all.size(), size_of(all));
}

// Its series gives no numbers: the store was put back from a backup, and nobody has said where to
// go on.
struct series_held {
    std::string prefix;
};

// ---- phase 1: reserve ----

// Key unknown: append a pending slot. Known: say what became of it. A key that has its definite
// answer gets it, whatever has become of the world since; any other is refused for what the task
// cannot be now.
struct reserve {
    account_id account;
    std::string key;
    digest fingerprint{};
    std::optional<callsign::uuid> uuid;  // the client's own
    std::string prefix;  // the series asked for; empty: by project, else the default
    // What the task will hold, for phase 2. This phase looks at its instants and its size, and
    // stores nothing of it.
    callsign::attributes attributes{};
    // The tasks it is to depend on, as the client named them.
    std::vector<task_ref> depends{};
    callsign::author author{};

    // A slot is pending for this request to fulfil. `resumed`: it was pending already.
    struct reserved {
        slot_id slot;
        bool resumed = false;
        time_point reserved_at;
        std::vector<callsign::uuid> depends{};  // the refs, resolved
        bool elsewhere = false;  // the task is to be made on another server: begin_delivery
    };
    // It is on its way to another server.
    struct in_flight {
        slot_id slot;
        time_point reserved_at;
    };
    using answer = std::variant<reserved, in_flight, receipted, slot_failed, key_conflict,
                                unknown_series, series_archived, task_not_valid, depends_unmet,
                                task_too_large, series_held, account_full>;
};
claim claim_of(const reserve& c);

// ---- phase 2: fulfil ----

// The pending slot becomes a task with its number, in one transaction.
struct fulfil {
    slot_id slot;
    std::string prefix;
    callsign::attributes attributes;
    callsign::author author{};

    // The slot is not there any more: a store put back from an older copy, say.
    struct slot_missing {};
    using answer = std::variant<receipted, slot_failed, unknown_series, slot_missing,
                                task_too_large, series_held>;
};
// The account is its creation's, which alone knows it.
claim claim_of(const fulfil& c);

// ---- what became of it ----

// ---- without phases ----

// A number for a task of an opaque account, which its client vouches for. The same uuid always gets
// the same receipt, whose seq is 0: no version says who made it.
struct give_key {
    account_id account;
    callsign::uuid uuid{};
    std::string prefix;  // the series asked for; empty: by project, else the default
    std::string project;
    callsign::author author{};

    struct not_opaque {};
    using answer = std::variant<receipted, no_such_account, not_opaque, unknown_series,
                                series_archived, series_held>;
};
claim claim_of(const give_key& c);

}  // namespace callsign
