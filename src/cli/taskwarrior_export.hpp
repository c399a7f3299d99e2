#pragma once
// What `task export` prints, read into tasks as TaskChampion has them. Pure.
//
// A JSON array of objects, or (older versions) one object a line. Instants become seconds since the
// epoch: those of Taskwarrior's own attributes, and of a user's what has the form in which dates
// are exported (20261120T124800Z). Tags and dependencies and annotations become an attribute each;
// the status `waiting` of older versions is `pending`; everything else is kept as text. Left out:
// `id` and `urgency`, which are made up by each Taskwarrior for itself. A key is left out by the
// server, which knows the attribute it is in. An attribute that Taskwarrior could not
// export is a fault.

#include <callsign/domain/task.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace callsign::cli {

struct exported_task {
    std::string place;  // "entry 3" of an array, or "line 3"
    callsign::uuid uuid{};
    callsign::attributes attributes;
};

struct taskwarrior_export {
    // In the order of their `entry`; those without one last.
    std::vector<exported_task> tasks;
    // A sentence each, with the place. If there is one, `tasks` is not to be used.
    std::vector<std::string> faults;
};

taskwarrior_export read_taskwarrior_export(std::string_view text);

}  // namespace callsign::cli
