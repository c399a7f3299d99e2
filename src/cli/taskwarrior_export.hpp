#pragma once
// Reads the output of `task export` into tasks as TaskChampion has them. Pure.
//
// A JSON array of objects, or (older versions) one object per line. Instants become seconds since
// the epoch: those of Taskwarrior's own attributes, and UDAs in the form of exported dates
// (20261120T124800Z). Tags, dependencies and annotations become an attribute each; the status
// `waiting` of older versions becomes `pending`; everything else is kept as text. `id` and
// `urgency`, which each Taskwarrior computes itself, are left out. Keys are left to the server,
// which knows their attribute. An attribute that Taskwarrior could not export is an error.

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
    // Ordered by `entry`; tasks without one come last.
    std::vector<exported_task> tasks;
    // A sentence each, with the place. If there is any, `tasks` must not be used.
    std::vector<std::string> faults;
};

taskwarrior_export read_taskwarrior_export(std::string_view text);

}  // namespace callsign::cli
