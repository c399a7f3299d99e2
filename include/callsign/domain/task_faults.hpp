#pragma once
// Tasks that Taskwarrior cannot keep: with its next report it deletes them, for all devices, or it
// reports nothing any more. A device may send such a task; what comes another
// way is refused before it reaches one. Pure.

#include <callsign/domain/task.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace callsign {

// 1980: Taskwarrior takes less for no instant at all.
inline constexpr std::int64_t instant_seconds_min = 315'532'800;

struct task_fault {
    std::string_view attribute;
    std::string_view code;
    std::string_view detail;  // a sentence

    friend bool operator==(const task_fault&, const task_fault&) = default;
};

// What is wrong whatever the time: a task that recurs has to say from when, and how often.
std::vector<task_fault> faults_of(const attributes& all);

// An `until` that has come: Taskwarrior deletes such a task unless it is over already.
std::vector<task_fault> faults_of_age(const attributes& all, time_point now);

// Is it completed or deleted? Such a task has an `end`.
bool is_over(const attributes& all);

// The names of Taskwarrior's own attributes that hold an instant: seconds since the epoch, as text.
bool is_instant_name(std::string_view attribute) noexcept;

}  // namespace callsign
