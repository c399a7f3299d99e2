#pragma once
// Remote accounts (domain/remote_chain.hpp): what is sent to the remote server, and what is pulled
// from it. The outbox (engine/outbox.hpp) submits the commands that send and pull.
//
// A version is sent only with the mirror's cursor as its parent, and the cursor moves only to its
// child. So the child of the parent decides the outcome of whatever was sent.

#include <callsign/domain/commands/accounts.hpp>
#include <callsign/domain/commands/creation.hpp>
#include <callsign/domain/commands/devices.hpp>
#include <callsign/domain/commands/reaping.hpp>
#include <callsign/domain/commands/tasks.hpp>
#include <callsign/domain/remote_chain.hpp>
#include <callsign/domain/version.hpp>
#include <callsign/domain/work.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace callsign {

// The account is local, or does not exist.
struct no_remote {};
// Operator action is required.
struct remote_halted {
    remote_halt why = remote_halt::none;
};
// The mirror is not, or no longer, at the position that the command names.
struct cursor_mismatch {};

// Phase 2 of a creation, as far as this server can do it: the slot becomes in_flight, and the
// outbox gets the task's operations. The number is assigned when the remote's chain has them.
struct begin_delivery {
    slot_id slot;
    std::string prefix;
    callsign::attributes attributes;
    callsign::author author{};

    struct delivering {
        time_point reserved_at;
    };
    using answer = std::variant<delivering, receipted, slot_failed, unknown_series,
                                fulfil::slot_missing, task_too_large, remote_halted>;
};

// Progress of the tasks of an account that is being moved.
struct move_progress {
    std::optional<task_place> after{};  // none: all tasks
    std::int64_t tasks = 0;
};

// Consecutive operations of a version of ours: of one effect, of one edit, or of moved tasks.
struct delivery_part {
    std::size_t operations = 0;
    callsign::author author{};
    std::optional<effect_id> effect{};
    std::optional<std::size_t> edit{};  // index in take_delivery::edits
    std::optional<request_key> once{};  // of the edit
    // Of an account that is being moved: its progress once these operations are there.
    std::optional<move_progress> moved{};
};

// Collects what to send next: creations and keys from the outbox, recorded as sent again with
// the cursor as parent; and the operations of edits on the present mirror, which are not stored.
struct take_delivery {
    // About what a TaskChampion client sends at a time.
    static constexpr std::size_t sent_work_max = std::size_t{768} << 10;

    account_id account;
    std::vector<edit_task> edits{};
    std::int64_t effects_max = 500;
    // Effects of a version that lost its place to another version: that attempt does not count.
    std::vector<effect_id> forestalled{};
    // An effect sent this often waits for the reaper.
    std::int64_t attempts_max = 8;
    std::size_t work_max = sent_work_max;

    struct taken {
        uuid parent{};
        std::vector<operation> operations;
        std::vector<delivery_part> parts;
        // Edits that need not be sent: rejected, or without a change.
        std::vector<std::pair<std::size_t, edit_task::answer>> answered;
        bool has_more = false;
    };
    using answer = std::variant<taken, remote_halted, no_remote>;
};

// The remote has accepted a version of ours: applies it to the mirror, assigns the new tasks their
// numbers, commits their slots and removes its effects from the outbox.
struct settle {
    account_id account;
    uuid parent{};
    uuid version{};  // the remote's ID of it
    std::vector<operation> operations;
    std::vector<delivery_part> parts;  // together all of `operations`

    struct settled {
        std::int64_t numbered = 0;
        // The tasks of the edits among the parts, in order, as they are now.
        std::vector<task> edited;
    };
    using answer = std::variant<settled, cursor_mismatch, no_remote>;
};

// Applies the remote's child of the cursor, of any author, and settles the creations of the outbox
// that it contains. One command takes what fits; the next one takes the rest.
struct apply_remote_version {
    account_id account;
    uuid parent{};
    uuid version{};
    std::vector<operation> operations;  // a consecutive part of the version
    std::int64_t before = 0;            // operations of the version that the mirror has already
    bool is_end = true;                 // no operation follows them
    std::size_t work_max = step_work_max;

    struct applied {
        std::size_t taken = 0;  // of `operations`, from the first
        std::int64_t numbered = 0;
        std::int64_t settled = 0;  // creations that were in flight
    };
    using answer = std::variant<applied, cursor_mismatch, task_too_large, no_remote>;
};

// Brings the mirror to a state that the remote's chain has reached without it: some tasks as they
// are there, and some that no longer exist there. Takes as many as `work_max` allows, at least one;
// the next command takes the rest. Repeating it changes nothing.
struct apply_remote_state {
    struct end {
        uuid cursor{};
        uuid before{};
    };

    account_id account;
    std::vector<import_tasks::imported_task> tasks{};
    std::vector<uuid> gone{};
    // With the last step: the position that the chain has reached.
    std::optional<end> reached{};
    std::size_t work_max = step_work_max;  // at least one task is taken

    struct applied {
        std::int64_t numbered = 0;
        std::int64_t changed = 0;
        std::size_t taken = 0;  // of `tasks`, from the first, and then of `gone`
    };
    using answer = std::variant<applied, task_too_large, no_remote>;
};

// Stops sending a creation until the reaper looks at it: the remote rejected it in a version alone.
struct suspend_effect {
    account_id account;
    effect_id effect;
    std::int64_t attempts = 0;  // set to at least this, so that the outbox skips it

    using answer = std::variant<std::monostate, no_remote>;
};

// The reaper's command for slots of remote accounts that are neither committed nor failed.
// Requires: the mirror was up to date after the oldest of them had reached the window, so that
// those whose tasks exist are settled. A slot that was sent is failed only when the parent it was
// last sent with has another child: from then on no copy of it can be accepted.
struct fail_in_flight {
    account_id account;
    milliseconds window{0};
    std::int64_t attempts_max = 8;  // a slot is failed only after this many attempts
    std::int64_t limit = 500;
    effect_id after{};
    // Slots of that age that were never sent; failed, too, unless they are settled by now.
    std::vector<slot_id> pending{};
    worked_on busy{};

    struct answer {
        std::int64_t scanned = 0;
        std::int64_t failed = 0;
        std::int64_t redelivered = 0;  // to be sent again: the window has not passed
        std::int64_t unfenced = 0;     // would be failed if the parent had another child
        std::optional<effect_id> next{};
    };
};

// Stops pulling and sending.
struct halt_remote {
    account_id account;
    remote_halt why = remote_halt::none;
    remote_chain judged{};  // as it was when the remote was queried

    // It was edited since.
    struct superseded {};
    using answer = std::variant<remote_chain, superseded, no_remote>;
};

// The operator's changes: URL and key; and the account is resumed.
struct edit_remote {
    account_id account;
    std::optional<std::string> url{};
    std::optional<std::string> sealed_key{};
    // Resume with what the remote has now, though it has lost versions.
    bool accept_loss = false;

    // The remote has lost versions, and `accept_loss` is not set.
    struct has_lost_versions {};
    using answer = std::variant<remote_chain, no_remote, has_lost_versions>;
};

// Moves a managed account to a remote server; its data here becomes the mirror. If the remote has
// nothing yet, all tasks are sent first. If the account's devices have synced there before, the
// mirror continues behind the version that they left with.
struct move_to_remote {
    account_id account;
    std::string url;
    uuid client_id{};
    std::string sealed_key;
    uuid behind{};  // the account's last version here; nil: the remote has nothing

    // The account is on this remote already, or on its way there.
    struct moving {};
    struct already_remote {};
    // Changes that these devices have not sent would be lost.
    struct has_devices {
        std::size_t active = 0;
    };
    // `behind` is no longer the last version.
    struct has_changed {};
    // series_held: some of its tasks have no number yet.
    using answer = std::variant<moving, already_remote, has_devices, has_changed, client_id_taken,
                                series_held, account_is_opaque, no_such_account>;
};

// Makes a remote account local, with all that the mirror has.
struct move_to_local {
    account_id account;
    uuid cursor{};  // at which the mirror was seen to be up to date

    struct moved {};
    // Some effects are still to be sent.
    struct not_settled {
        outbox_tally waiting;
    };
    using answer = std::variant<moved, not_settled, cursor_mismatch, no_remote>;
};

}  // namespace callsign
