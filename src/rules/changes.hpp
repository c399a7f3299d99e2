#pragma once
// Changes of tasks as they reach the store, whoever made them: a version, the tasks brought to
// where it says, numbers for the new ones, and the keys put right: by a version of the server's own
// behind the other, or, of an account that lives elsewhere, by way of its outbox.

#include "touched_tasks.hpp"

#include <functional>
#include <optional>
#include <span>

namespace callsign::rules {

struct appended_changes {
    std::int64_t seq = 0;
    uuid version{};
    std::int64_t numbered = 0;  // tasks that got a number
    std::int64_t settled = 0;   // creations that were in the outbox
    std::int64_t cut = 0;       // tasks that were too large
};

struct changes_origin {
    callsign::author by{};
    // Of an account elsewhere: whether it is this creation's own request that made its task.
    std::function<bool(const effect&)> is_own = [](const effect&) { return false; };
    std::optional<uuid> version{};  // what the version is called; none: it is drawn
    bool imported = false;          // with keys, which are to be kept where they can be
    // What makes a task too large is taken away again by the server's own version behind it: a
    // device that was refused for it could never sync again. Not of an account that is elsewhere.
    bool cuts = false;
    // What these operations delete is purged. Else it is made again by them, as it was.
    bool purges = true;
};

// What these operations delete is purged: what the chain says of it up to version `seq`, which
// holds them, is to go.
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
