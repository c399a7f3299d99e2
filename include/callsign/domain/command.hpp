#pragma once
// Everything that can change a store, as values. A command is applied by the rule of its name
// (rules/rules.hpp) inside the writer's transaction and yields one of its answers; an answer that
// says no has written nothing. Adding a command: a struct here, an apply() in rules/, a line in
// `command`.

#include <callsign/domain/account.hpp>
#include <callsign/domain/device.hpp>
#include <callsign/domain/sealed.hpp>
#include <callsign/domain/slot.hpp>
#include <callsign/domain/task.hpp>
#include <callsign/domain/task_faults.hpp>
#include <callsign/domain/version.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>

namespace callsign {

// ---- answers shared by the two phases of a creation ----

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

// ---- creation, phase 1: reserve ----

// Key unknown: append a pending slot. Known: say what became of it.
struct reserve {
    account_id account;
    std::string key;
    digest fingerprint{};
    std::optional<callsign::uuid> uuid;  // the client's own
    std::string prefix;  // the series asked for; empty: by project, else the default

    // A slot is pending for this request to fulfil. `resumed`: it was pending already.
    struct reserved {
        slot_id slot;
        bool resumed = false;
        time_point reserved_at;
    };
    using answer = std::variant<reserved, receipted, slot_failed, key_conflict, unknown_series>;
};

// ---- creation, phase 2: fulfil ----

// The pending slot becomes a task with its number, in one transaction.
struct fulfil {
    slot_id slot;
    std::string prefix;
    callsign::attributes attributes;

    // The slot is not there any more: a store put back from an older copy, say.
    struct slot_missing {};
    using answer = std::variant<receipted, slot_failed, unknown_series, slot_missing>;
};

// ---- reaper ----

// Slots that a request of this process is working on, as (account, idempotency key).
struct worked_on_hash {
    std::size_t operator()(const std::pair<account_id, std::string>& p) const noexcept {
        return std::hash<std::string>{}(p.second) ^
               static_cast<std::size_t>(p.first.value * 0x9E3779B97F4A7C15ULL);
    }
};
using worked_on = std::unordered_set<std::pair<account_id, std::string>, worked_on_hash>;

// Of at most `limit` pending slots after `after`: one whose task exists is committed; one older
// than `window` is failed; one in `busy` is left alone, whatever its age.
struct reconcile_pending {
    slot_id after;
    std::int64_t limit = 0;
    milliseconds window{0};
    worked_on busy;

    struct answer {
        std::int64_t scanned = 0;
        std::int64_t committed = 0;
        std::int64_t failed = 0;
        std::optional<slot_id> next;  // where to go on; none: that was the last pending slot
    };
};

// Of at most `limit` slots after `after`: one settled longer than `retention` ago is forgotten.
// Side versions as old, too, as many again: no sync lasts that long.
struct forget_settled {
    slot_id after;
    std::int64_t limit = 0;
    milliseconds retention{0};

    struct answer {
        std::int64_t scanned = 0;
        std::int64_t forgotten = 0;
        std::optional<slot_id> next;  // none: no slot that old is left
    };
};

// ---- a question that needs the writer's view ----

// What became of a key? Changes nothing; it walks the queue because the index of keys is the
// writer's, and so it sees everything acknowledged before it.
struct look_up_slot {
    account_id account;
    std::string key;

    struct found {
        callsign::slot slot;
        std::optional<callsign::receipt> receipt;
    };
    using answer = std::optional<found>;
};

// ---- accounts, tokens, series ----

struct name_taken {};
struct no_such_account {};
struct client_id_taken {};

struct create_account {
    std::string name;
    std::string prefix;
    std::string token_name;
    digest token_hash{};
    // With a client id the account is opaque, and that id opens its chain.
    std::optional<uuid> client_id{};

    using answer = std::variant<account, name_taken, client_id_taken>;
};

struct create_token {
    std::optional<std::string> account;  // by name; none: the operator's
    std::string name;
    token_scope scope = token_scope::write;
    digest token_hash{};

    using answer = std::variant<token, no_such_account>;
};

struct revoke_token {
    token_id token;
    std::optional<account_id> account;  // must be this account's, if given

    struct no_such_token {};
    using answer = std::variant<callsign::token, no_such_token>;
};

struct create_series {
    account_id account;
    std::string prefix;
    std::string project;

    struct prefix_taken {};
    struct project_taken {};
    using answer = std::variant<series, prefix_taken, project_taken>;
};

// ---- devices of managed accounts ----

// An opaque account's devices share a client id, and bring their secret themselves.
struct account_is_opaque {};

// One more syncing client. `sealed_key` is what it seals with, itself sealed under the master key
// for this account and client id (seal/at_rest.hpp): a rule cannot tell whether it opens.
struct create_device {
    account_id account;
    std::string name;
    uuid client_id{};
    std::string sealed_key;
    // Of the account's devices that are not revoked. Each is one more row to look through and one
    // more key to keep.
    std::size_t active_max = 1000;

    struct too_many {};
    using answer = std::variant<device, name_taken, client_id_taken, no_such_account,
                                account_is_opaque, too_many>;
};

// Its client id is never given to another device; its name may be.
struct revoke_device {
    account_id account;
    device_id device;

    struct no_such_device {};
    using answer = std::variant<callsign::device, no_such_device>;
};

// ---- chains: a managed account's history, to which its devices add ----

struct no_such_client {};
struct device_revoked {};
// The account is not of the kind the command is for: it has become managed since it was looked at.
struct account_changed {};

// Its attributes would be more than task_bytes_max, names and values together.
struct task_too_large {
    callsign::uuid task{};
};
inline constexpr std::size_t task_bytes_max = std::size_t{4} << 20;

// How much of something large one command does, in the bytes it would be if all cost were that of
// bytes (rules/work.hpp); the rest is another command's, and others' go between.
inline constexpr std::size_t step_work_max = std::size_t{1} << 20;

// What a device did, appended to its account's chain, whatever came between: operations that are
// late are transformed over those they missed, and the device goes on from a side version. New
// tasks are numbered, slots that wait for them are committed, and the key attribute is put right by
// a version behind it.
//
// However much a device sends at once, one command takes no more of it than the writer does in
// about 20 ms, and says how much that was. The rest comes with the next, whose parent is the
// version that this one gave: exactly as a device would send piece by piece. The device itself is
// told of the last one alone. If the server dies on the way, the device was told nothing, reads
// what there is of its own as it would after a lost answer, and sends the rest.
struct add_version {
    // A device that has missed more than this, of tasks that it has changed too, is to fetch it
    // first, as all do.
    static constexpr std::size_t missed_operations_max = 20'000;
    static constexpr std::size_t missed_bytes_max = std::size_t{4} << 20;
    static constexpr std::int64_t missed_versions_max = 4'000;
    // Versions of its own that a device may have beside the chain; and what is kept of an account's
    // side versions. A device needs its own until its sync has ended; without it that sync fails
    // (410), and the next one begins where the last good one ended, on the chain.
    static constexpr std::size_t own_versions_max = 4'000;
    static constexpr std::int64_t side_versions_max = 2'048;
    static constexpr std::int64_t side_version_bytes_max = std::int64_t{4} << 20;

    uuid client_id{};
    uuid parent{};  // nil: there was none yet
    std::vector<operation> operations;
    account_id account;     // whose share of the queue it takes
    std::size_t bytes = 0;  // of the segment they came in
    // The rest of what came with the version before, whose name nobody was told.
    bool continues = false;
    // Of what one command takes: see work_of() in rules/work.hpp. One operation at least is taken.
    std::size_t work_max = step_work_max;

    struct added {
        uuid version{};  // what the device is to call the state it has now
        bool late = false;
        std::int64_t numbered = 0;  // tasks that got a number
        std::size_t taken = 0;      // of `operations`, from the first
    };
    // The parent is no version of this account's, or one whose side version is forgotten.
    struct unknown_parent {};
    struct missed_too_much {};
    using answer = std::variant<added, unknown_parent, missed_too_much, task_too_large,
                                no_such_client, device_revoked>;
};

// ---- an opaque account becomes managed ----

// Its history, opened by somebody who was given the secret. All or nothing: the versions stand in
// for the sealed ones, the tasks they made are numbered in the order given, and the client that the
// account's devices share has a key from now on.
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
    std::size_t bytes = 0;  // of the sealed versions

    struct managed {
        std::int64_t versions = 0;
        std::int64_t tasks = 0;
    };
    // A client has added to it meanwhile.
    struct moved_on {};
    struct not_opaque {};
    // There is nothing that the secret could have opened: it may be anything.
    struct no_history {};
    using answer = std::variant<managed, moved_on, not_opaque, no_history, no_such_account>;
};

// ---- a change by way of REST ----

// The task gets these attributes, or is purged: a version of its own, unless nothing changes. With
// a status its `end` follows, as Taskwarrior has it, unless it is among the changes.
struct edit_task {
    account_id account;
    callsign::uuid uuid{};
    // None: the attribute goes. Of a name that comes twice the first holds.
    std::vector<std::pair<std::string, std::optional<std::string>>> changes{};
    // Attributes that start so and are not among the changes go: lists that are given whole.
    std::vector<std::string> replaced{};
    bool purge = false;
    // Only if the seq of its last change is among these.
    std::optional<std::vector<std::int64_t>> if_seq{};
    std::size_t bytes = 0;  // of the request it came in

    struct edited {
        task now;
    };
    struct no_such_task {};
    struct changed_since {};
    // It would be made a task that Taskwarrior cannot keep.
    struct not_valid {
        std::vector<task_fault> faults;
    };
    using answer = std::variant<edited, no_such_task, changed_since, not_valid, task_too_large>;
};

// ---- tasks taken over from elsewhere ----

// Those that the account has never had become tasks of its own, in one version, numbered in this
// order. The others are left as they are, purged ones gone. As with add_version one command takes
// what fits, and the rest is for the next.
struct import_tasks {
    static constexpr std::size_t tasks_max = 500;

    struct imported_task {
        callsign::uuid uuid{};
        callsign::attributes attributes{};
    };

    account_id account;
    std::vector<imported_task> tasks{};
    std::size_t bytes = 0;  // of the request they came in
    std::size_t work_max = step_work_max;

    struct done {
        std::int64_t imported = 0;
        std::int64_t there_already = 0;
        std::int64_t keys_left_out = 0;  // of the imported; the server gives them
        std::size_t taken = 0;           // of `tasks`, from the first: the two above together
    };
    using answer = std::variant<done, no_such_account, account_is_opaque, task_too_large>;
};

// ---- sealed chains: an opaque account's history, as its clients keep it ----

// Appends a version to the client's chain if `parent` is its last one; an empty chain takes any.
struct add_sealed_version {
    uuid client_id{};
    uuid parent{};
    std::string segment;
    // An unknown client gets an account of its own, in the same transaction.
    bool may_register = false;
    account_id account;  // whose share of the queue it takes; 0: not known yet

    struct added {
        account_id account;
        uuid version{};
        std::optional<snapshot_age> snapshot;  // as it was before this version
    };
    // Another version came first.
    struct expected_parent {
        account_id account;
        uuid latest{};
    };
    using answer = std::variant<added, expected_parent, no_such_client, account_changed>;
};

// Keeps a snapshot if it is of one of the latest versions and newer than the one there is.
struct add_sealed_snapshot {
    // The head and its nearest ancestors: a client that was slow is still listened to.
    static constexpr std::int64_t versions_back_max = 4;

    uuid client_id{};
    uuid version{};
    std::string bytes;
    account_id account;  // as above

    // `kept`: false is no fault of the client's.
    struct considered {
        bool kept = false;
    };
    using answer = std::variant<considered, no_such_client, account_changed>;
};

// The opaque account of a client, made if there is none, and where its chain ends.
struct register_client {
    uuid client_id{};

    struct answer {
        callsign::account account;
        chain_head head;
    };
};

// A version that another server gave its id to. Repeating it changes nothing.
struct import_sealed_version {
    uuid client_id{};
    uuid parent{};
    uuid version{};
    std::string segment;

    struct imported {};
    struct there_already {};
    // The chain here has gone another way.
    struct differs {};
    using answer = std::variant<imported, there_already, differs, no_such_client>;
};

// The snapshot that another server held. Repeating it changes nothing.
struct import_sealed_snapshot {
    uuid client_id{};
    uuid version{};
    time_point taken_at;
    std::int64_t versions_since = 0;
    std::string bytes;

    struct imported {};
    // One as new, or newer, is here.
    struct there_already {};
    struct unknown_version {};
    using answer = std::variant<imported, there_already, unknown_version, no_such_client>;
};

using command =
    std::variant<reserve, fulfil, reconcile_pending, forget_settled, create_account, create_token,
                 revoke_token, create_series, look_up_slot, add_version, edit_task, manage_account,
                 add_sealed_version, add_sealed_snapshot, register_client, import_sealed_version,
                 import_sealed_snapshot, create_device, revoke_device, import_tasks>;

using answer =
    std::variant<std::monostate, reserve::answer, fulfil::answer, reconcile_pending::answer,
                 forget_settled::answer, create_account::answer, create_token::answer,
                 revoke_token::answer, create_series::answer, look_up_slot::answer,
                 add_version::answer, edit_task::answer, manage_account::answer,
                 add_sealed_version::answer, add_sealed_snapshot::answer, register_client::answer,
                 import_sealed_version::answer, import_sealed_snapshot::answer,
                 create_device::answer, revoke_device::answer, import_tasks::answer>;

}  // namespace callsign
