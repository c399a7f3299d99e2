#pragma once
// What a list of tasks is about, and in which order it comes (product.md section 7).

#include <callsign/base/time.hpp>
#include <callsign/domain/task.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace callsign {

// Taskwarrior's stored statuses. One that is none of them counts as pending, as it does there.
enum class task_status : std::uint8_t { pending, completed, deleted, recurring };

std::string_view to_string(task_status status) noexcept;
std::optional<task_status> parse_task_status(std::string_view text) noexcept;

// Taskwarrior's virtual tags, but for those that depend on its own configuration, on the calendar
// of a place or on the numbers of its working set.
enum class virtual_tag : std::uint8_t {
    active,  // started
    annotated,
    blocked,   // open, and depends on a task that is open
    blocking,  // open, and one that is open depends on it
    child,     // made by one that recurs; Taskwarrior also calls it INSTANCE
    completed,
    deleted,
    due,        // open, and due within seven days
    overdue,    // pending, and due before now
    parent,     // makes others; Taskwarrior also calls it TEMPLATE
    pending,    // and not waiting
    priority,   // has one
    project,    // has one
    ready,      // pending, neither waiting, blocked nor scheduled for later
    scheduled,  // has such an instant
    tagged,
    unblocked,  // not blocked
    until,      // has such an instant
    waiting,    // pending, until an instant to come
};

std::string_view to_string(virtual_tag tag) noexcept;
std::optional<virtual_tag> parse_virtual_tag(std::string_view text) noexcept;

// The instants that a list can be narrowed by; an attribute has the same name.
enum class task_instant : std::uint8_t { due, wait, scheduled, entry, modified, end };
inline constexpr std::size_t task_instants = 6;

std::string_view to_string(task_instant which) noexcept;

// Strictly between; a task without the instant is not.
struct instant_range {
    std::optional<time_point> after{};
    std::optional<time_point> before{};
};

// All of it holds for a task of the list.
struct task_filter {
    std::vector<task_status> statuses{};  // any of them; none given: pending
    std::string project{};                // and its children, which have a dot behind it
    std::vector<std::string> tags{};
    std::vector<std::string> not_tags{};
    std::vector<virtual_tag> is{};
    std::string prefix{};  // of its series, old ones too
    std::string text{};    // in the description or an annotation; as folded() has it
    std::array<instant_range, task_instants> instants{};
    std::optional<std::int64_t> changed_after{};  // a seq

    bool has_status(task_status status) const noexcept;
    // Only tasks that are neither completed nor deleted can be in the list.
    bool is_open_only() const noexcept;
    // Whether a task is in the list depends on other tasks.
    bool needs_links() const noexcept;
};

// What a task is to other tasks of its account.
struct task_links {
    bool is_blocked = false;   // it depends on one that is open
    bool is_blocking = false;  // one that is open depends on it
};

// Whether the filter holds, as far as a task itself tells. Its prefix is not looked at: a walk is
// of one series or of all.
bool matches(const task_filter& filter, const task& t, time_point now);
// The rest: what its links tell of an open task, or of one that is not, which has none.
bool matches(const task_filter& filter, const task_links& links);

// Pending, until an instant to come.
bool is_waiting(const attributes& all, time_point now);
// The tasks that it depends on.
std::vector<uuid> depends_of(const attributes& all);
// What the attribute of that name holds; none: it is not there, or no instant.
std::optional<time_point> instant_of(const attributes& all, std::string_view name);

// key: in the order of series, periods and numbers. Tasks without the instant come last, whichever
// way the order goes; equal ones come in the order of their keys.
enum class task_sort : std::uint8_t { key, due, urgency, entry, modified };

std::string_view to_string(task_sort sort) noexcept;
std::optional<task_sort> parse_task_sort(std::string_view text) noexcept;

struct task_order {
    task_sort by = task_sort::key;
    bool descending = false;
};

}  // namespace callsign
