#pragma once
// The chain of a managed account, to which devices add, and the conversion of an opaque account.

#include <callsign/domain/commands/accounts.hpp>
#include <callsign/domain/commands/sealed_chain.hpp>
#include <callsign/domain/commands/tasks.hpp>
#include <callsign/domain/missed.hpp>
#include <callsign/domain/sealed.hpp>
#include <callsign/domain/version.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace callsign {

// Appends a device's operations to its account's chain. A stale segment is transformed over the
// versions it missed, and the device continues from a fork version. New tasks are numbered (in a
// held series when it is resumed), slots that wait for them are committed, and a version behind
// this one corrects key attributes.
//
// One command applies no more than the writer does in about 20 ms, and returns how much that was.
// Further commands bring the rest, each with the version of the previous one as its parent, as if
// the device had sent it in parts. The device receives the last version only. If the server stops
// in between, the device has received nothing and sends everything again; what the chain has of it
// already is not appended again.
struct add_version {
    // Limit of the missed versions that the command reads itself, as work_of() counts them. For a
    // device that is further behind, find_missed reads them before.
    static constexpr std::size_t read_bytes_max = std::size_t{4} << 20;
    // Limits: a device's own versions beside the chain, and an account's fork versions by number
    // and bytes. A device needs its fork version until its sync ends; without it the sync fails
    // (410), and the next one begins on the chain, where the last complete sync ended.
    static constexpr std::size_t own_versions_max = 4'000;
    static constexpr std::int64_t fork_versions_max = 2'048;
    static constexpr std::int64_t fork_version_bytes_max = std::int64_t{4} << 20;

    uuid client_id{};
    uuid parent{};  // nil: none yet
    std::vector<operation> operations;
    account_id account;     // whose share it counts against
    std::size_t bytes = 0;  // of the received segment
    // The operations are the rest of a segment, and `parent` is the version of the part before,
    // which no device has received.
    bool continues = false;
    // The work of one command, see work_of() in domain/work.hpp. At least one operation is taken.
    std::size_t work_max = step_work_max;
    std::size_t read_max = read_bytes_max;
    // What the device lacks at the parent of the segment's first part, read in advance for the
    // whole segment. None: nothing was read.
    std::shared_ptr<const missed_changes> missed{};

    struct added {
        uuid version{};  // the ID of the state that the device has now
        bool stale = false;
        std::int64_t numbered = 0;  // tasks that were assigned a number
        std::int64_t cut = 0;       // tasks beyond their limits, whose excess was removed again
        std::size_t taken = 0;      // of `operations`, from the first
        // The device has more than the backup that the store was restored from. Nothing was
        // appended, because the snapshot that it is to send contains everything.
        bool wants_snapshot = false;
    };
    // The parent is no version of this account, or its fork version is not retained.
    struct unknown_parent {};
    struct too_far_behind {};
    // More than `read_max` of the missed versions is still to be read. Nothing was done.
    struct needs_missed {};
    using answer = std::variant<added, unknown_parent, too_far_behind, needs_missed, no_such_client,
                                device_revoked, account_full>;
};

// ---- conversion of an opaque account to a managed one ----

// The last step of a conversion. The history, decrypted with the given secret, replaces the sealed
// versions; its tasks are numbered in the order given, and the client that the devices share gets a
// key. Only this command makes the account managed: no client sees a partial conversion.
struct manage_account {
    struct made_task {
        callsign::uuid uuid{};
        std::int64_t seq = 0;  // of the version that created it
        time_point created_at;
        callsign::attributes attributes;
    };

    account_id account;
    chain_head head;  // of the decrypted chain; must still be the account's
    std::vector<version> history;
    std::vector<made_task> tasks;
    std::string device_name;
    std::string sealed_key;
    std::size_t bytes = 0;  // of history and tasks, approximately
    // What take_over_history has taken. seq 0: nothing, and this command removes the sealed
    // versions, otherwise remove_sealed does.
    chain_head taken{};
    std::int64_t taken_tasks = 0;

    struct managed {
        std::int64_t versions = 0;
        std::int64_t tasks = 0;
    };
    // A client has added a version since the chain was read.
    struct head_changed {};
    struct not_opaque {};
    // The chain is empty, so that nothing verifies the secret.
    struct no_history {};
    using answer =
        std::variant<managed, head_changed, not_opaque, no_history, no_such_account, series_held>;
};

// Takes a part of the history in advance, beside the sealed chain: the next versions or, once all
// are there, the next tasks. The caller limits the part to one step.
struct take_over_history {
    account_id account;
    chain_head head;   // as in manage_account
    chain_head taken;  // seq 0: nothing yet
    std::vector<version> history{};
    std::vector<manage_account::made_task> tasks{};
    std::size_t bytes = 0;  // of versions and tasks, approximately

    struct went_on {
        chain_head taken;
    };
    using answer = std::variant<went_on, manage_account::head_changed, manage_account::not_opaque,
                                no_such_account, series_held>;
};

// Removes what an abandoned conversion has taken, except for the tasks' numbers. Does nothing
// unless the account is opaque. In steps.
struct undo_take_over {
    struct place {
        std::optional<task_place> after{};
        bool tasks_are_done = false;
    };

    account_id account;
    place from{};
    std::size_t work_max = step_work_max;

    struct answer {
        std::optional<place> next;  // none: done
    };
};

// Removes the sealed versions and the snapshot of an account that has become managed. In steps.
// Also records the purges in its history, whose text is then scrubbed.
struct remove_sealed {
    account_id account;
    std::int64_t from = 0;  // versions up to this seq are removed
    std::size_t work_max = step_work_max;

    struct answer {
        std::optional<std::int64_t> next;  // none: done
    };
};

}  // namespace callsign
