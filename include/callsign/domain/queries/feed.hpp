#pragma once
// The feed of a managed account's changes (product.md section 8).

#include <callsign/domain/claim.hpp>
#include <callsign/domain/commands/tasks.hpp>
#include <callsign/domain/feed_place.hpp>
#include <callsign/domain/task.hpp>
#include <callsign/domain/task_filter.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace callsign {

// What one version did to one task.
struct task_change {
    feed_place place;  // with this one
    std::string mark;  // of the version
    time_point at;
    std::string by{};  // what the token or device is called; empty: the server
    // As it stood after the version; if the server's own version right behind put the key on it,
    // after that. Of a purged one, uuid and key alone.
    callsign::task task;
    std::vector<std::string> changed{};  // attributes, each once, in order; none if it was purged
};

// The changes after a place, in the order of versions and within them of their operations; as many
// as `limit` and `work_max` allow, one at least if there is one.
struct read_changes {
    account_id account;
    feed_place after{};
    // The mark of the version of `after`; none: that is known to be of this chain.
    std::optional<std::string> mark{};
    std::size_t limit = 100;
    // Of any status, if it names none. A change is shown if the task is in it after the change, or
    // was before: so a follower sees it leave. Requires: it needs no links.
    std::optional<task_filter> filter{};
    time_point now;
    std::size_t work_max = step_work_max;

    struct part {
        std::vector<task_change> changes;
        feed_place next;        // everything up to here was looked at
        std::string mark;       // of its version
        std::int64_t last = 0;  // the account's seq
        bool has_more = false;
    };
    // It is not known any more what came next. It is for all that comes after this.
    struct expired {
        std::int64_t oldest = 0;
        std::string mark;
    };
    // The place is of another chain: the store is a restored one, say.
    struct diverged {
        std::int64_t last = 0;
        std::string mark;
    };
    using answer = std::variant<part, expired, diverged, unknown_series>;
};
claim claim_of(const read_changes& q);

}  // namespace callsign
