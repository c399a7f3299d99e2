#pragma once
// Errors in values and tasks that Taskwarrior cannot keep: `task export` of the whole account fails
// or is not JSON, or the next report deletes the task, on every device. They are rejected in REST
// requests and imports. Segments from devices are accepted as they are: TaskChampion itself can
// hold such tasks, and a device whose segment is rejected never syncs again. Pure.

#include <callsign/domain/task.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace callsign {

// The years 1980 to 9999: Taskwarrior reads no other number of seconds as an instant.
inline constexpr std::int64_t instant_seconds_min = 315'532'800;
inline constexpr std::int64_t instant_seconds_max = 253'402'293'598;
// The latest entry of an annotation that Taskwarrior reads.
inline constexpr std::int64_t annotation_seconds_max = 2'147'483'647;

// Maximum of a text in REST requests and imports of numbers, which may have several lines.
inline constexpr std::size_t text_bytes_max = 65'536;

// Beginnings of TaskChampion's attribute names: followed by a tag's name, with an empty value; by a
// UUID; by the seconds of an annotation.
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

// Whether the text has control characters; tab and newline are allowed with `lines_allowed`.
bool has_control(std::string_view text, bool lines_allowed) noexcept;

// Checks a required text: at most text_bytes_max, no control characters but tab and newline.
std::optional<value_fault> fault_of_text(std::string_view text);

// Whether Taskwarrior reads this as an instant.
constexpr bool is_kept_instant(std::int64_t seconds) noexcept {
    return seconds >= instant_seconds_min && seconds <= instant_seconds_max;
}

// Whether Taskwarrior can export this as an attribute's or a tag's name, which it does not escape.
bool is_exportable_name(std::string_view name) noexcept;

// Returns an error if Taskwarrior cannot export this attribute, or has a field of this name itself.
std::optional<value_fault> fault_of_attribute(std::string_view name, std::string_view value);

// Checks each attribute alone.
std::vector<task_fault> faults_of_attributes(const attributes& all);

// Errors that do not depend on time: a recurring task needs a first date and a period.
std::vector<task_fault> faults_of(const attributes& all);

// Errors of open tasks that depend on time: Taskwarrior deletes a task whose `until` has come, and
// creates all tasks since the `due` of a recurring one, for which only a year is allowed.
std::vector<task_fault> faults_of_age(const attributes& all, time_point now);

// Whether the description or the status is missing. Taskwarrior sets both, so the sync broke off
// that created the task: its first version came, the rest did not.
bool is_incomplete(const attributes& all);
// A sync in progress brings the rest within this time.
inline constexpr milliseconds incomplete_after = std::chrono::hours{1};

// Whether the task is closed: completed or deleted. Such a task has an `end`.
bool is_over(const attributes& all);

// Whether Taskwarrior's attribute of this name holds an instant: seconds since the epoch, as text.
bool is_instant_name(std::string_view attribute) noexcept;

}  // namespace callsign
