#pragma once
// The commands of a reaper's sweep, each a bounded step.

#include <callsign/base/keyed_hash.hpp>
#include <callsign/domain/account.hpp>
#include <callsign/domain/retry_times.hpp>
#include <callsign/domain/slot.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace callsign {

// Slots that a request of this process is working on, by (account, idempotency key).
struct worked_on_hash {
    using is_avalanching = void;  // Boost.Unordered need not mix the hash further

    std::size_t operator()(const std::pair<account_id, std::string_view>& p) const noexcept {
        return keyed_hash{}(p.second) ^
               static_cast<std::size_t>(p.first.value * 0x9E3779B97F4A7C15ULL);
    }
};
using worked_on = std::unordered_set<std::pair<account_id, std::string>, worked_on_hash>;

// Looks at up to `limit` pending slots after `after`. Commits a slot whose task exists; fails one
// that is older than the window of its account's class; skips one in `busy`, whatever its age. For
// a remote account the remote server is queried first (fail_in_flight).
struct reconcile_pending {
    slot_id after;
    std::int64_t limit = 0;
    per_class<milliseconds> window;
    worked_on busy;

    struct answer {
        std::int64_t scanned = 0;
        std::int64_t committed = 0;
        std::int64_t failed = 0;
        per_class<std::int64_t> failed_of;  // by class
        std::optional<slot_id> next;        // resume after it; none: no pending slot follows
        // Slots of remote accounts that are older than the window.
        std::vector<std::pair<account_id, slot_id>> remote{};
    };
};

// Looks at up to `limit` slots after `after`, and removes those settled longer than `retention`
// ago, except those that created a task: a key is kept as long as its task. Also removes up to
// `limit` fork versions of that age, since no sync lasts as long, and task history that ended
// longer than `history_retention` ago.
struct forget_settled {
    slot_id after;
    std::int64_t limit = 0;
    milliseconds retention{0};
    milliseconds history_retention{std::chrono::hours{24 * 30}};

    struct answer {
        std::int64_t scanned = 0;
        std::int64_t forgotten = 0;
        std::optional<slot_id> next;  // none: no slot as old is left
    };
};

// Stores what was observed of retries, for the next start of the server.
struct keep_retry_times {
    std::vector<kept_retry_times> times;

    struct answer {};
};

}  // namespace callsign
