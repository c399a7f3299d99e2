#pragma once
// Filter and order of a list of tasks (docs/api.md, Listing tasks).

#include <callsign/base/time.hpp>
#include <callsign/domain/task.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace callsign {

// Taskwarrior's stored statuses. Any other text counts as pending, as in Taskwarrior.
enum class task_status : std::uint8_t { pending, completed, deleted, recurring };
inline constexpr std::array task_statuses{task_status::pending, task_status::completed,
                                          task_status::deleted, task_status::recurring};

std::string_view to_string(task_status status) noexcept;
std::optional<task_status> parse_task_status(std::string_view text) noexcept;

// Taskwarrior's virtual tags, except those that depend on its configuration, on a local calendar or
// on the numbers of its working set.
enum class virtual_tag : std::uint8_t {
    active,  // open and started
    annotated,
    blocked,   // open, and depends on an open task
    blocking,  // open, and an open task depends on it
    child,     // created by a recurring task; Taskwarrior also calls it INSTANCE
    completed,
    deleted,
    due,        // open, and due today (UTC) or in the six days after
    overdue,    // open, not recurring, and due before now
    parent,     // recurring; Taskwarrior also calls it TEMPLATE
    pending,    // and not waiting
    priority,   // has a priority
    project,    // has a project
    ready,      // pending, and neither waiting, blocked nor scheduled for later
    scheduled,  // has the instant
    tagged,
    unblocked,  // not blocked
    until,      // has the instant
    waiting,    // pending, until a future instant
};

std::string_view to_string(virtual_tag tag) noexcept;
std::optional<virtual_tag> parse_virtual_tag(std::string_view text) noexcept;

// The instants that a list can be filtered by; the attributes have the same names.
enum class task_instant : std::uint8_t { due, wait, scheduled, entry, modified, end };
inline constexpr std::size_t task_instants = 6;

std::string_view to_string(task_instant which) noexcept;

// Matches instants strictly between; a task without the instant does not match.
struct instant_range {
    std::optional<time_point> after{};
    std::optional<time_point> before{};

    friend bool operator==(const instant_range&, const instant_range&) = default;
};

// A task is in the list if all of this matches.
struct task_filter {
    std::vector<task_status> statuses{};  // any of them; empty: pending
    std::string project{};                // and its children, PROJECT.CHILD
    std::vector<std::string> tags{};
    std::vector<std::string> not_tags{};
    std::vector<virtual_tag> is{};
    std::vector<std::string> priorities{};  // any of them; "" is a task without one; empty: all
    // Attributes as stored, by name: all of them have these values.
    std::vector<std::pair<std::string, std::string>> attributes{};
    std::string prefix{};  // of the series, former ones too
    std::string text{};    // in the description or an annotation; folded()
    std::array<instant_range, task_instants> instants{};
    std::optional<std::int64_t> changed_after{};  // a seq

    bool has_status(task_status status) const noexcept;
    // Whether the list can only have tasks that are neither completed nor deleted.
    bool is_open_only() const noexcept;
    // Whether a task's presence in the list depends on other tasks.
    bool needs_links() const noexcept;

    friend bool operator==(const task_filter&, const task_filter&) = default;
};

// The relations of a task to other tasks of its account.
struct task_links {
    bool is_blocked = false;   // depends on an open task
    bool is_blocking = false;  // an open task depends on it
};

// Whether the task itself matches. The prefix is not checked: a walk is of one series or of all.
bool matches(const task_filter& filter, const task& t, time_point now);
// Whether the links match; a closed task has none.
bool matches(const task_filter& filter, const task_links& links);

// Whether the task is pending and its `wait` is in the future.
bool is_waiting(const attributes& all, time_point now);
// Returns the tasks that the task depends on.
std::vector<uuid> depends_of(const attributes& all);
// Returns the instant in the attribute; none: it is absent or not an instant.
std::optional<time_point> instant_of(const attributes& all, std::string_view name);

// key: by series, period and number. Tasks without the instant come last in both directions; equal
// tasks are in the order of their keys.
enum class task_sort : std::uint8_t { key, due, urgency, entry, modified };

std::string_view to_string(task_sort sort) noexcept;
std::optional<task_sort> parse_task_sort(std::string_view text) noexcept;

struct task_order {
    task_sort by = task_sort::key;
    bool descending = false;
};

}  // namespace callsign
