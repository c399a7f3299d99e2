#pragma once
// Applies operations of a remote chain to the account's own tasks, as versions of its own chain.

#include "touched_tasks.hpp"

#include <callsign/rules/rules.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace callsign::rules {

// Returns the time of operations that must be recognised on the remote chain: now, to the
// millisecond, with random digits below.
precise_time marked_time(const moment& m);

struct mirrored {
    std::int64_t numbered = 0;
    std::int64_t settled = 0;
};

struct mirror_source {
    callsign::author by{};
    std::function<bool(const effect&)> is_own = [](const effect&) { return false; };
    // The remote version, if this is its end. The mirror's version gets the same ID, so that the
    // mirror's chain shows later whether it had that version.
    std::optional<uuid> version{};
    bool bounded = true;  // reject tasks that grow too large
};

// Appends a version to the mirror, unless no operation has an effect. Requires: `tasks` is
// unchanged; it may have been read. A rejection has written nothing.
std::variant<mirrored, task_too_large> mirror(write_tx& tx, account_id account,
                                              touched_tasks& tasks,
                                              std::span<const operation> operations,
                                              const mirror_source& from, const moment& m);

// Returns the creation in the outbox whose operations, all of them, these begin with.
std::optional<effect> creation_at(read_tx& tx, account_id account,
                                  std::span<const operation> operations);

// Moves the mirror's cursor to its child.
void advance(write_tx& tx, remote_chain& remote, const uuid& version);

}  // namespace callsign::rules
