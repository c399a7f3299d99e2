#pragma once
// What a sweep of the reaper does, a bounded step at a time.

#include <callsign/base/keyed_hash.hpp>
#include <callsign/domain/account.hpp>
#include <callsign/domain/claim.hpp>
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

// Slots that a request of this process is working on, as (account, idempotency key).
struct worked_on_hash {
    using is_avalanching = void;  // Boost.Unordered need not mix it further

    std::size_t operator()(const std::pair<account_id, std::string_view>& p) const noexcept {
        return keyed_hash{}(p.second) ^
               static_cast<std::size_t>(p.first.value * 0x9E3779B97F4A7C15ULL);
    }
};
using worked_on = std::unordered_set<std::pair<account_id, std::string>, worked_on_hash>;

// Of at most `limit` pending slots after `after`: one whose task exists is committed; one older
// than the window of its account's class is failed; one in `busy` is left alone, whatever its age.
// Whether one's task exists that lives elsewhere, the other server is asked first (fail_in_flight).
struct reconcile_pending {
    slot_id after;
    std::int64_t limit = 0;
    per_class<milliseconds> window;
    worked_on busy;

    struct answer {
        std::int64_t scanned = 0;
        std::int64_t committed = 0;
        std::int64_t failed = 0;
        per_class<std::int64_t> failed_of;  // the same, by class
        std::optional<slot_id> next;        // where to go on; none: that was the last pending slot
        // Those as old whose task would be elsewhere.
        std::vector<std::pair<account_id, slot_id>> elsewhere{};
    };
};

claim claim_of(const reconcile_pending& c);

// Of at most `limit` slots after `after`: one settled longer than `retention` ago is forgotten.
// Fork versions as old, too, as many again: no sync lasts that long. And of how tasks stood what
// ended longer than `history_retention` ago.
struct forget_settled {
    slot_id after;
    std::int64_t limit = 0;
    milliseconds retention{0};
    milliseconds history_retention{std::chrono::hours{24 * 30}};

    struct answer {
        std::int64_t scanned = 0;
        std::int64_t forgotten = 0;
        std::optional<slot_id> next;  // none: no slot that old is left
    };
};
claim claim_of(const forget_settled& c);

// What was seen of retries is kept, so that a server that starts again need not learn it anew.
struct keep_retry_times {
    std::vector<kept_retry_times> times;

    struct answer {};
};
claim claim_of(const keep_retry_times& c);

}  // namespace callsign
