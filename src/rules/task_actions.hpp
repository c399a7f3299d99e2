#pragma once
// Changes that an action makes to a task.

#include <callsign/domain/commands/tasks.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace callsign::rules {

// Returns the changes as edit_task has them. `now`: wall clock.
std::vector<std::pair<std::string, std::optional<std::string>>> changes_of(
    const task_action& action, const attributes& before, time_point now);

}  // namespace callsign::rules
