#pragma once
// Changes of tasks as they reach the store, whoever made them: a version, the tasks brought to
// where it says, numbers for the new ones, and the keys put right.

#include "touched_tasks.hpp"

#include <span>

namespace callsign::rules {

struct appended_changes {
    std::int64_t seq = 0;
    uuid version{};
    std::int64_t numbered = 0;  // tasks that got a number
};

// Requires: `tasks` has carried out `operations`, and no others.
appended_changes append_changes(write_tx& tx, account_id account,
                                std::span<const operation> operations, touched_tasks& tasks,
                                const author& by, const moment& m);

}  // namespace callsign::rules
