#pragma once
// Values and tasks that Taskwarrior cannot keep: `task export` of the whole account fails or is not
// JSON, or the next report deletes the task, on every device. What REST or an import brings is
// rejected before it reaches a device. What a device sends is kept as it is: TaskChampion itself
// can hold it, and a device whose segment is rejected never syncs again. Pure.

#include <callsign/domain/task.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace callsign {

// 1980 to 9999: Taskwarrior takes any other number of seconds for no instant at all.
inline constexpr std::int64_t instant_seconds_min = 315'532'800;
inline constexpr std::int64_t instant_seconds_max = 253'402'293'598;
// Of an annotation it reads no more.
inline constexpr std::int64_t annotation_seconds_max = 2'147'483'647;

// Of a text of one line or more, as REST and tables of numbers have it.
inline constexpr std::size_t text_bytes_max = 65'536;

// Names of what TaskChampion keeps in attributes of their own: before a tag's name, with an empty
// value; before a UUID; before the seconds of an annotation.
inline constexpr std::string_view tag_start = "tag_";
inline constexpr std::string_view dependency_start = "dep_";
inline constexpr std::string_view annotation_start = "annotation_";

struct value_fault {
    std::string_view code;
    std::string_view detail;  // a sentence

    friend bool operator==(const value_fault&, const value_fault&) = default;
};

struct task_fault {
    std::string attribute;
    std::string_view code;
    std::string_view detail;  // a sentence

    friend bool operator==(const task_fault&, const task_fault&) = default;
};

// Control characters, but tab and newline where `lines_allowed`.
bool has_control(std::string_view text, bool lines_allowed) noexcept;

// A text that must be there, such as a description: at most text_bytes_max, and no control
// characters but tab and newline.
std::optional<value_fault> fault_of_text(std::string_view text);

// Of years that Taskwarrior takes.
constexpr bool is_kept_instant(std::int64_t seconds) noexcept {
    return seconds >= instant_seconds_min && seconds <= instant_seconds_max;
}

// Whether Taskwarrior can export this in the place of a name, a tag's too: it escapes nothing
// there.
bool is_exportable_name(std::string_view name) noexcept;

// Why Taskwarrior could not export a task with this attribute, or has one of that name itself.
std::optional<value_fault> fault_of_attribute(std::string_view name, std::string_view value);

// Of each attribute by itself.
std::vector<task_fault> faults_of_attributes(const attributes& all);

// What is wrong whatever the time: a task that recurs has to say from when, and how often.
std::vector<task_fault> faults_of(const attributes& all);

// An `until` that has come: Taskwarrior deletes such a task unless it is over already.
std::vector<task_fault> faults_of_age(const attributes& all, time_point now);

// Taskwarrior gives every task both a description and a status. A task that lacks one came with a
// sync that was cut off: its creation in one version, the rest in another that never came.
bool is_incomplete(const attributes& all);
// A sync that is in progress brings the rest within this.
inline constexpr milliseconds incomplete_after = std::chrono::hours{1};

// Is it completed or deleted? Such a task has an `end`.
bool is_over(const attributes& all);

// The names of Taskwarrior's own attributes that hold an instant: seconds since the epoch, as text.
bool is_instant_name(std::string_view attribute) noexcept;

}  // namespace callsign
