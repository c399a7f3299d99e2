#pragma once
// The mirror of a chain that lives elsewhere: operations of the remote's on the account's own
// tasks, as versions of the account's own chain.

#include "touched_tasks.hpp"

#include <callsign/rules/rules.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace callsign::rules {

// For operations that are to be known again on the remote's chain: now, to the millisecond, and
// beyond that drawn.
precise_time marked_time(const moment& m);

struct mirrored {
    std::int64_t numbered = 0;
    std::int64_t settled = 0;
};

struct mirror_source {
    callsign::author by{};
    std::function<bool(const effect&)> is_own = [](const effect&) { return false; };
    // The remote's version, if this is the end of it: ours is called so too, and the mirror's chain
    // says later whether it ever had it.
    std::optional<uuid> version{};
    bool bounded = true;  // a task that grows too large is refused
};

// A version of the mirror's, unless nothing is left of the operations where they have no effect.
// `tasks` may have been looked at, and not changed. A refusal has written nothing.
std::variant<mirrored, task_too_large> mirror(write_tx& tx, account_id account,
                                              touched_tasks& tasks,
                                              std::span<const operation> operations,
                                              const mirror_source& from, const moment& m);

// The creation in the outbox that these operations begin with, whole.
std::optional<effect> creation_at(read_tx& tx, account_id account,
                                  std::span<const operation> operations);

// The mirror has come to the child of its cursor.
void advance(write_tx& tx, remote_chain& remote, const uuid& version);

}  // namespace callsign::rules
