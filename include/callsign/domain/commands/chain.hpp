#pragma once
// The chain of a managed account, to which its devices add, and how an account comes to have one.

#include <callsign/domain/claim.hpp>
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
// versions it missed, and the device goes on from a fork version. New tasks are numbered (of a held
// series, when it is resumed), slots that wait for them are committed, and the key attribute is put
// right by a version behind it.
//
// However much a device sends at once, one command takes no more of it than the writer does in
// about 20 ms, and says how much that was. The rest comes with the next, whose parent is the
// version that this one gave: exactly as a device would send piece by piece. The device itself is
// told of the last one alone. If the server dies on the way, the device was told nothing, and
// sends all of it again: what the chain has of that already is not appended again.
struct add_version {
    // What it reads itself of what the device has missed, as work_of() counts it. Of a
    // device that is further behind, find_missed reads it before.
    static constexpr std::size_t read_bytes_max = std::size_t{4} << 20;
    // Versions of its own that a device may have beside the chain; and what is kept of an account's
    // fork versions. A device needs its own until its sync has ended; without it that sync fails
    // (410), and the next one begins where the last good one ended, on the chain.
    static constexpr std::size_t own_versions_max = 4'000;
    static constexpr std::int64_t fork_versions_max = 2'048;
    static constexpr std::int64_t fork_version_bytes_max = std::int64_t{4} << 20;

    uuid client_id{};
    uuid parent{};  // nil: there was none yet
    std::vector<operation> operations;
    account_id account;     // whose share of the queue it takes
    std::size_t bytes = 0;  // of the segment they came in
    // The rest of what came with the version before, whose name nobody was told.
    bool continues = false;
    // Of what one command takes: see work_of() in domain/work.hpp. One operation at least is taken.
    std::size_t work_max = step_work_max;
    std::size_t read_max = read_bytes_max;
    // What was read before of what the device lacks at the parent of the segment's first step, for
    // all of the segment. None: nothing was.
    std::shared_ptr<const missed_changes> missed{};

    struct added {
        uuid version{};  // what the device is to call the state it has now
        bool stale = false;
        std::int64_t numbered = 0;  // tasks that got a number
        std::int64_t cut = 0;       // tasks beyond their bounds: the excess was taken away again
        std::size_t taken = 0;      // of `operations`, from the first
        // The device was further than the backup that the store was put back from: nothing was
        // carried out, for the snapshot that it is to send has all of it.
        bool wants_snapshot = false;
    };
    // The parent is no version of this account's, or one whose fork version is forgotten.
    struct unknown_parent {};
    struct missed_too_much {};
    // More than `read_max` of it is still to be read. Nothing was done.
    struct needs_missed {};
    using answer = std::variant<added, unknown_parent, missed_too_much, needs_missed,
                                no_such_client, device_revoked, account_full>;
};
claim claim_of(const add_version& c);

// ---- an opaque account becomes managed ----

// Its history, opened by somebody who was given the secret. The versions stand in for the sealed
// ones, the tasks they made are numbered in the order given, and the client that the account's
// devices share has a key from now on. Nobody sees it half taken over: while the account is opaque
// nobody sees it, and this last command, which has the rest, is what changes that.
struct manage_account {
    struct made_task {
        callsign::uuid uuid{};
        std::int64_t seq = 0;  // of the version that made it
        time_point created_at;
        callsign::attributes attributes;
    };

    account_id account;
    chain_head head;  // what was opened: not one version more or less
    std::vector<version> history;
    std::vector<made_task> tasks;
    std::string device_name;
    std::string sealed_key;
    std::size_t bytes = 0;  // of them, about
    // What take_over_history has taken before; of seq 0: nothing, and the sealed versions go at
    // once, else by remove_sealed.
    chain_head taken{};
    std::int64_t taken_tasks = 0;

    struct managed {
        std::int64_t versions = 0;
        std::int64_t tasks = 0;
    };
    // A client has added to it meanwhile.
    struct moved_on {};
    struct not_opaque {};
    // There is nothing that the secret could have opened: it may be anything.
    struct no_history {};
    using answer =
        std::variant<managed, moved_on, not_opaque, no_history, no_such_account, series_held>;
};
claim claim_of(const manage_account& c);

// Some of it before, beside the sealed chain: the next versions, or, once all are there, the next
// tasks. As much as one step is for.
struct take_over_history {
    account_id account;
    chain_head head;   // as above
    chain_head taken;  // of seq 0: nothing yet
    std::vector<version> history{};
    std::vector<manage_account::made_task> tasks{};
    std::size_t bytes = 0;  // of them, about

    struct went_on {
        chain_head taken;
    };
    using answer = std::variant<went_on, manage_account::moved_on, manage_account::not_opaque,
                                no_such_account, series_held>;
};
claim claim_of(const take_over_history& c);

// An account that has stayed opaque has nothing of it any more but its tasks' numbers. In steps.
struct undo_take_over {
    struct place {
        std::optional<task_place> after{};
        bool tasks_are_done = false;
    };

    account_id account;
    place from{};
    std::size_t work_max = step_work_max;

    struct answer {
        std::optional<place> next;  // none: that was all
    };
};
claim claim_of(const undo_take_over& c);

// The sealed versions of an account that is managed now, and its snapshot. In steps; what it took
// over of tasks that were purged is noted with them.
struct remove_sealed {
    account_id account;
    std::int64_t from = 0;  // the seq up to which they are gone
    std::size_t work_max = step_work_max;

    struct answer {
        std::optional<std::int64_t> next;  // none: that was all
    };
};
claim claim_of(const remove_sealed& c);

}  // namespace callsign
