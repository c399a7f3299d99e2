#pragma once
// Stores changes of tasks from any source: appends a version, updates the tasks, numbers new ones
// and corrects keys, by a version of the server's own or, for a remote account, through its outbox.

#include "touched_tasks.hpp"

#include <functional>
#include <optional>
#include <span>

namespace callsign::rules {

struct appended_changes {
    std::int64_t seq = 0;
    uuid version{};
    std::int64_t numbered = 0;  // tasks that were numbered
    std::int64_t settled = 0;   // creations removed from the outbox
    std::int64_t cut = 0;       // tasks that were too large
};

struct changes_origin {
    callsign::author by{};
    // Remote accounts: returns whether this creation's own request created its task.
    std::function<bool(const effect&)> is_own = [](const effect&) { return false; };
    std::optional<uuid> version{};  // version ID; none: it is generated
    bool imported = false;          // keep the tasks' own keys where possible
    // Whether the server's own next version removes what makes a task too large: a device rejected
    // for it could never sync again. Not for remote accounts.
    bool cuts = false;
    // Whether deleted tasks are purged. If not, these operations create them again, unchanged.
    bool purges = true;
};

// Marks the tasks that these operations delete as purged: their text is to be removed from the
// chain up to version `seq`, which holds the operations.
void put_purges(write_tx& tx, account_id account, std::span<const operation> operations,
                std::int64_t seq);

// Requires: `tasks` has carried out `operations`, and no others.
appended_changes append_changes(write_tx& tx, account_id account,
                                std::span<const operation> operations, touched_tasks& tasks,
                                const changes_origin& from, const moment& m);

inline appended_changes append_changes(write_tx& tx, account_id account,
                                       std::span<const operation> operations, touched_tasks& tasks,
                                       const author& by, const moment& m) {
    return append_changes(tx, account, operations, tasks, changes_origin{.by = by}, m);
}

}  // namespace callsign::rules
