#pragma once
// An account whose tasks live on another TaskChampion server (product.md section 10): where that
// is, how far the mirror of its chain here has come, and what is still to be sent there.
//
// The mirror is an ordinary managed account: tasks, and a chain of their changes. Each of its
// versions repeats, in whole or in part, one of the remote's.

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

// Why nothing goes on until a person acts. Stored as its number.
enum class remote_halt : std::uint8_t {
    none = 0,
    gone_back = 1,   // versions that it once had are gone from it
    incomplete = 2,  // its history has no beginning, and there is no snapshot
};

std::string_view to_string(remote_halt why) noexcept;

// An account that moves there sends its tasks first, in the order of keys, and nothing else until
// that is done. Some may be sent twice, which changes nothing: each as it is when it is sent.
struct moving_tasks {
    std::optional<task_place> after{};  // up to where the remote has them; none: not one
    std::int64_t tasks = 0;             // so many

    friend bool operator==(const moving_tasks&, const moving_tasks&) = default;
};

struct remote_chain {
    account_id account;
    std::string url;  // http or https, up to where /v1/client begins
    uuid client_id{};
    // The key of its bodies, sealed under the master key (seal/at_rest.hpp), bound to the client
    // id.
    std::string sealed_key{};
    // The remote's version that the mirror has come to; nil: none yet.
    uuid cursor{};
    // The one before that; nil: not known. The remote is asked now and then whether the cursor is
    // still its child.
    uuid before{};
    // The child of the cursor, of which the mirror has `partial_operations`; nil: none.
    uuid partial{};
    std::int64_t partial_operations = 0;
    remote_halt halted = remote_halt::none;
    std::optional<moving_tasks> moving{};  // none: the remote has had them all
};

// What must come to be at the remote. Stored as its number.
enum class effect_kind : std::uint8_t {
    creation = 1,  // of a task, for a slot
    key = 2,       // a task's key attribute holds its key
};

// A row of the outbox. It leaves when the remote's chain is seen to hold it, or can no longer.
struct effect {
    effect_id id;
    account_id account;
    effect_kind kind = effect_kind::creation;
    std::optional<slot_id> slot{};  // of a creation
    callsign::uuid task{};
    // Of a creation: the prefix of the series that its number will be from, and what makes the
    // task. They are sent as they stand, however often: by them it is known on the chain again. A
    // key is looked up when it is sent.
    std::string prefix{};
    std::vector<operation> operations{};
    callsign::author author{};
    // How often it was sent since it was last given up, and the version it was sent behind at last.
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

// Another writer sets a task's key attribute to something else than its key, again and again: two
// who both correct it would never end. After so many times within a day it is left as it is.
inline constexpr std::int64_t key_corrections_max = 5;
inline constexpr milliseconds key_contest_forgotten{std::chrono::hours{24}};

struct key_contest {
    std::int64_t times = 0;
    time_point last_at{};
};

}  // namespace callsign
