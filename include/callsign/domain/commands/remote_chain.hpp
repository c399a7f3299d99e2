#pragma once
// Accounts whose tasks live on another server (domain/remote_chain.hpp): what goes there, what
// comes from there. The outbox (engine/outbox.hpp) submits all but the first.
//
// A version is sent behind the mirror's cursor and nowhere else, and the cursor moves only to its
// child. So there is one thing to find out about whatever was sent: what the child of its parent
// is.

#include <callsign/domain/claim.hpp>
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

// The account lives here, or is not there any more.
struct no_remote {};
// A person must act first.
struct remote_halted {
    remote_halt why = remote_halt::none;
};
// The mirror is not, or is no longer, where the command says.
struct mirror_moved {};

// Phase 2 of a creation, as far as it can be done here: the slot is in flight, and what makes the
// task is in the outbox. The number is drawn when the remote's chain holds it.
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
// The account is its creation's, which alone knows it.
claim claim_of(const begin_delivery& c);

// How far the tasks of an account that moves have come.
struct moved_on {
    std::optional<task_place> after{};  // none: all of them
    std::int64_t tasks = 0;
};

// Some operations of a version of ours, in a row: those of one effect, or of one edit.
struct delivery_part {
    std::size_t operations = 0;
    callsign::author author{};
    std::optional<effect_id> effect{};
    std::optional<std::size_t> edit{};  // which of those that waited
    // Of an account that moves: how far it is once these are there.
    std::optional<moved_on> moved{};
};

// What to send next: creations and keys from the outbox, marked as sent once more behind the
// cursor; and what edits come to on the mirror as it is, of which nothing is stored.
struct take_delivery {
    // Together as much as a client of TaskChampion sends at a time.
    static constexpr std::size_t sent_work_max = std::size_t{768} << 10;

    account_id account;
    std::vector<edit_task> edits{};
    std::int64_t effects_max = 500;
    // Of a version whose place another's has taken: its attempt does not count.
    std::vector<effect_id> forestalled{};
    // One that was sent so often waits for the reaper.
    std::int64_t attempts_max = 8;
    std::size_t work_max = sent_work_max;

    struct taken {
        uuid parent{};
        std::vector<operation> operations;
        std::vector<delivery_part> parts;
        // Of edits that need not be sent: refused, or without a change.
        std::vector<std::pair<std::size_t, edit_task::answer>> answered;
        bool has_more = false;
    };
    using answer = std::variant<taken, remote_halted, no_remote>;
};
claim claim_of(const take_delivery& c);

// The remote has taken a version of ours: it is on the mirror, the new tasks have their numbers,
// their slots are committed, and nothing of it waits any more.
struct settle {
    account_id account;
    uuid parent{};
    uuid version{};  // as the remote calls it
    std::vector<operation> operations;
    std::vector<delivery_part> parts;  // all of `operations`

    struct settled {
        std::int64_t numbered = 0;
        // The tasks of the edits among the parts, in order, as they are now.
        std::vector<task> edited;
    };
    using answer = std::variant<settled, mirror_moved, no_remote>;
};
claim claim_of(const settle& c);

// The child of the cursor, as the remote has it: whoever made it. What of it are creations in the
// outbox settles them. One command takes what fits; the rest is for the next.
struct apply_remote_version {
    account_id account;
    uuid parent{};
    uuid version{};
    std::vector<operation> operations;  // some of it, in a row
    std::int64_t before = 0;            // how many of it the mirror has
    bool is_end = true;                 // nothing comes after them
    std::size_t work_max = step_work_max;

    struct applied {
        std::size_t taken = 0;  // of `operations`, from the first
        std::int64_t numbered = 0;
        std::int64_t settled = 0;  // creations that were on their way
    };
    using answer = std::variant<applied, mirror_moved, task_too_large, no_remote>;
};
claim claim_of(const apply_remote_version& c);

// The mirror comes to a state that the remote's chain has come to without it: some tasks as they
// are there, some that are not there any more. As many of them as `work_max` goes for, one at
// least; the rest comes with the next command. Repeated, it changes nothing.
struct apply_remote_state {
    struct end {
        uuid cursor{};
        uuid before{};
    };

    account_id account;
    std::vector<import_tasks::imported_task> tasks{};
    std::vector<uuid> gone{};
    // With the last step: where the chain has come to.
    std::optional<end> reached{};
    std::size_t work_max = step_work_max;  // as of a command (commands/tasks.hpp)

    struct applied {
        std::int64_t numbered = 0;
        std::int64_t changed = 0;
        std::size_t taken = 0;  // of `tasks`, from the first, and then of `gone`
    };
    using answer = std::variant<applied, task_too_large, no_remote>;
};
claim claim_of(const apply_remote_state& c);

// The remote said no to a version of this creation alone: it is not sent again until the reaper has
// looked at it.
struct give_up_effect {
    account_id account;
    effect_id effect;
    std::int64_t attempts = 0;  // as many as are enough

    using answer = std::variant<std::monostate, no_remote>;
};
claim claim_of(const give_up_effect& c);

// The reaper's: what becomes of slots that are neither committed nor failed. Requires: the mirror
// was up to date after the oldest of them was as old as the window, so those whose task exists are
// settled. One that was sent is failed only when the version it was last sent behind has another
// child: then no copy of it can land any more.
struct fail_in_flight {
    account_id account;
    milliseconds window{0};
    std::int64_t attempts_max = 8;  // it is failed once it was sent so often, and not before
    std::int64_t limit = 500;
    effect_id after{};
    // Slots that were never sent, and are as old: failed, too, unless they are settled by now.
    std::vector<slot_id> pending{};
    worked_on busy{};

    struct answer {
        std::int64_t scanned = 0;
        std::int64_t failed = 0;
        std::int64_t redelivered = 0;  // to be sent again: their window has not passed
        std::int64_t unfenced = 0;     // would be failed, were there another child
        std::optional<effect_id> next{};
    };
};
claim claim_of(const fail_in_flight& c);

// Nothing more is pulled or sent.
struct halt_remote {
    account_id account;
    remote_halt why = remote_halt::none;
    remote_chain judged{};  // as it was when its server was asked

    // It has been edited since.
    struct superseded {};
    using answer = std::variant<remote_chain, superseded, no_remote>;
};
claim claim_of(const halt_remote& c);

// An operator's: where it lives, what opens it, and that it is to go on.
struct edit_remote {
    account_id account;
    std::optional<std::string> url{};
    std::optional<std::string> sealed_key{};
    // Go on with what the remote has now, though it has lost versions.
    bool accept_loss = false;

    // It has gone back, and that was not accepted.
    struct has_lost_versions {};
    using answer = std::variant<remote_chain, no_remote, has_lost_versions>;
};
claim claim_of(const edit_remote& c);

// A managed account lives there from now on, and what it has here is its mirror. Where nothing is
// yet its tasks are sent before anything else. Where its devices have synced first, the mirror goes
// on behind the version that they left with.
struct move_there {
    account_id account;
    std::string url;
    uuid client_id{};
    std::string sealed_key;
    uuid behind{};  // the account's last version; nil: nothing is there

    // It is there, or on its way.
    struct moving {};
    struct lives_elsewhere {};
    // What these have not sent would be lost.
    struct has_devices {
        std::size_t active = 0;
    };
    // `behind` is not its last version any more.
    struct has_changed {};
    // series_held: tasks of it have no number yet.
    using answer = std::variant<moving, lives_elsewhere, has_devices, has_changed, client_id_taken,
                                series_held, account_is_opaque, no_such_account>;
};
claim claim_of(const move_there& c);

// The account lives here from now on, with all that the mirror has.
struct move_here {
    account_id account;
    uuid cursor{};  // at which the mirror was seen to be up to date

    struct moved {};
    // Something is still on its way there.
    struct not_settled {
        outbox_tally waiting;
    };
    using answer = std::variant<moved, not_settled, mirror_moved, no_remote>;
};
claim claim_of(const move_here& c);

}  // namespace callsign
