#pragma once
// What an action changes of a task as it is.

#include <callsign/domain/commands/tasks.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace callsign::rules {

// As edit_task has them. `now`: the wall clock's.
std::vector<std::pair<std::string, std::optional<std::string>>> changes_of(
    const task_action& action, const attributes& before, time_point now);

}  // namespace callsign::rules
