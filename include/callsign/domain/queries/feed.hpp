#pragma once
// The feed of a managed account's changes (docs/api.md, Change feed).

#include <callsign/domain/commands/tasks.hpp>
#include <callsign/domain/feed_place.hpp>
#include <callsign/domain/task.hpp>
#include <callsign/domain/task_filter.hpp>
#include <callsign/domain/work.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace callsign {

// What one version changed in one task.
struct task_change {
    feed_place place;  // includes this change
    std::string mark;  // of the version
    time_point at;
    std::string by{};  // name of the token or device; empty: the server
    // The task after the version or, if the server's own version behind it adds the key, after that
    // one. Of a purged task only UUID and key.
    callsign::task task;
    std::vector<std::string> changed{};  // attribute names, sorted, each once; empty if purged
};

inline std::size_t work_of(std::span<const task_change> changes) noexcept {
    std::size_t work = 0;
    for (const task_change& change : changes) work += work_of(change.task.attributes);
    return work;
}

// The first read of a feed is short, to run among other quick queries.
inline constexpr std::size_t first_look_work_max = std::size_t{192} * 1024;

// The changes after a position, ordered by version and by operation within it; as many as `limit`
// and `work_max` allow, at least one if there is one.
struct read_changes {
    account_id account;
    feed_place after{};
    // The mark of the version of `after`; none: the position is known to be on this chain.
    std::optional<std::string> mark{};
    std::size_t limit = 100;
    // Without statuses tasks of any status match. A change is shown if the task matches after or
    // before it, so a follower sees a task leave. Requires: needs no links.
    std::optional<task_filter> filter{};
    time_point now;
    std::size_t work_max = step_work_max;

    struct part {
        std::vector<task_change> changes;
        feed_place next;        // everything up to here was read
        std::string mark;       // of the version of `next`
        std::int64_t last = 0;  // the account's last seq
        bool has_more = false;
    };
    // The history after the position is no longer retained. `oldest`: all after this seq is.
    struct expired {
        std::int64_t oldest = 0;
        std::string mark;
    };
    // The position is of another chain, for example after a restore from a backup.
    struct diverged {
        std::int64_t last = 0;
        std::string mark;
    };
    using answer = std::variant<part, expired, diverged, unknown_series>;
};

}  // namespace callsign
