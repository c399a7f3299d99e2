#pragma once
// A remote account, whose tasks live on another TaskChampion server (docs/remote-accounts.md): the
// server's address, the progress of the mirror of its chain, and what is still to be sent there.
//
// The mirror is an ordinary managed account: tasks, and a chain of their changes. Each version of
// it repeats a version of the remote, in whole or in part.

#include <callsign/base/strong_id.hpp>
#include <callsign/base/time.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/domain/author.hpp>
#include <callsign/domain/task.hpp>
#include <callsign/domain/version.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace callsign {

// Why the account is halted until an operator acts. Stored as its number.
enum class remote_halt : std::uint8_t {
    none = 0,
    history_lost = 1,        // versions that the remote once had are missing there
    history_incomplete = 2,  // the remote has neither the beginning of its history nor a snapshot
};

std::string_view to_string(remote_halt why) noexcept;

// Progress of a move to a remote server: all tasks are sent before anything else, in the order of
// keys and in their present state. Some may be sent twice, to no effect.
struct moving_tasks {
    std::optional<task_place> after{};  // the remote has the tasks up to here; none: no task yet
    std::int64_t tasks = 0;             // number of tasks sent

    friend bool operator==(const moving_tasks&, const moving_tasks&) = default;
};

struct remote_chain {
    account_id account;
    std::string url;  // http or https, without the path that begins with /v1/client
    uuid client_id{};
    // Key of its bodies, encrypted with the master key (seal/at_rest.hpp), bound to the client ID.
    std::string sealed_key{};
    // The remote version that the mirror has reached; nil: none yet.
    uuid cursor{};
    // The version before the cursor, whose child the outbox verifies at intervals; nil: unknown.
    uuid before{};
    // The child of the cursor, of which the mirror has `partial_operations`; nil: none.
    uuid partial{};
    std::int64_t partial_operations = 0;
    remote_halt halted = remote_halt::none;
    std::optional<moving_tasks> moving{};  // none: the account is not being moved there
};

// A change that must be made at the remote. Stored as its number.
enum class effect_kind : std::uint8_t {
    creation = 1,  // creates the task of a slot
    key = 2,       // sets a task's key attribute to its key
};

// A row of the outbox, removed once the remote's chain has the change or can no longer get it.
struct effect {
    effect_id id;
    account_id account;
    effect_kind kind = effect_kind::creation;
    std::optional<slot_id> slot{};  // of a creation
    callsign::uuid task{};
    // Of a creation: the prefix of its number series, and the operations that create the task. They
    // are sent unchanged however often, because they identify the creation on the remote's chain.
    // The operation of a key is determined when it is sent.
    std::string prefix{};
    std::vector<operation> operations{};
    callsign::author author{};
    // How often the effect was sent since the reaper last reset the count, and the parent of the
    // version that it was last sent in.
    std::int64_t attempts = 0;
    uuid parent{};
    time_point created_at{};
};

// What waits in an account's outbox.
struct outbox_tally {
    std::int64_t creations = 0;
    std::int64_t keys = 0;
    std::optional<time_point> oldest{};
};

// Other clients may set a task's key attribute to another value again and again; two programs that
// both correct it would never end. After this many corrections it is left as it is, until
// `key_contest_forgotten` after the last correction.
inline constexpr std::int64_t key_corrections_max = 5;
inline constexpr milliseconds key_contest_forgotten{std::chrono::hours{24}};

struct key_contest {
    std::int64_t times = 0;
    time_point last_at{};
};

}  // namespace callsign
