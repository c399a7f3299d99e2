#include <callsign/base/instant_bounds.hpp>
#include <callsign/base/text.hpp>
#include <callsign/domain/task_faults.hpp>
#include <callsign/domain/task_filter.hpp>

#include <algorithm>
#include <span>
#include <utility>

namespace callsign {
namespace {

template <class Word>
using spelling = std::pair<std::string_view, Word>;

template <class Word, std::size_t n>
std::optional<Word> find_word(const spelling<Word> (&all)[n], std::string_view text) noexcept {
    for (const auto& [name, word] : all) {
        if (name == text) return word;
    }
    return std::nullopt;
}

template <class Word, std::size_t n>
std::string_view name_of(const spelling<Word> (&all)[n], Word wanted) noexcept {
    for (const auto& [name, word] : all) {
        if (word == wanted) return name;
    }
    return {};
}

constexpr spelling<task_status> statuses[] = {
    {"pending", task_status::pending},
    {"completed", task_status::completed},
    {"deleted", task_status::deleted},
    {"recurring", task_status::recurring},
};

// Of two names for a tag the first one is written.
constexpr spelling<virtual_tag> tags[] = {
    {"active", virtual_tag::active},
    {"annotated", virtual_tag::annotated},
    {"blocked", virtual_tag::blocked},
    {"blocking", virtual_tag::blocking},
    {"child", virtual_tag::child},
    {"instance", virtual_tag::child},
    {"completed", virtual_tag::completed},
    {"deleted", virtual_tag::deleted},
    {"due", virtual_tag::due},
    {"overdue", virtual_tag::overdue},
    {"parent", virtual_tag::parent},
    {"template", virtual_tag::parent},
    {"pending", virtual_tag::pending},
    {"priority", virtual_tag::priority},
    {"project", virtual_tag::project},
    {"ready", virtual_tag::ready},
    {"scheduled", virtual_tag::scheduled},
    {"tagged", virtual_tag::tagged},
    {"unblocked", virtual_tag::unblocked},
    {"until", virtual_tag::until},
    {"waiting", virtual_tag::waiting},
};

constexpr spelling<task_instant> instants[] = {
    {"due", task_instant::due},
    {"wait", task_instant::wait},
    {"scheduled", task_instant::scheduled},
    {"entry", task_instant::entry},
    {"modified", task_instant::modified},
    {"end", task_instant::end},
};

constexpr spelling<task_sort> sorts[] = {
    {"key", task_sort::key},     {"due", task_sort::due},           {"urgency", task_sort::urgency},
    {"entry", task_sort::entry}, {"modified", task_sort::modified},
};

}  // namespace

std::string_view to_string(task_status status) noexcept {
    return name_of(statuses, status);
}
std::optional<task_status> parse_task_status(std::string_view text) noexcept {
    return find_word(statuses, text);
}
std::string_view to_string(virtual_tag tag) noexcept {
    return name_of(tags, tag);
}
std::optional<virtual_tag> parse_virtual_tag(std::string_view text) noexcept {
    return find_word(tags, text);
}
std::string_view to_string(task_instant which) noexcept {
    return name_of(instants, which);
}
std::string_view to_string(task_sort sort) noexcept {
    return name_of(sorts, sort);
}
std::optional<task_sort> parse_task_sort(std::string_view text) noexcept {
    return find_word(sorts, text);
}

bool task_filter::has_status(task_status status) const noexcept {
    if (statuses.empty()) return status == task_status::pending;
    return std::find(statuses.begin(), statuses.end(), status) != statuses.end();
}

bool task_filter::is_open_only() const noexcept {
    return !has_status(task_status::completed) && !has_status(task_status::deleted);
}

bool task_filter::needs_links() const noexcept {
    return std::any_of(is.begin(), is.end(), [](virtual_tag tag) {
        return tag == virtual_tag::blocked || tag == virtual_tag::blocking ||
               tag == virtual_tag::unblocked || tag == virtual_tag::ready;
    });
}

// ---- values of attributes ----

std::optional<time_point> instant_of(const attributes& all, std::string_view name) {
    const auto found = all.find(name);
    if (found == all.end()) return std::nullopt;
    const auto seconds = parse_integer(found->second);
    if (!seconds || *seconds < 0 || !is_instant_in_seconds(*seconds)) return std::nullopt;
    return time_point{std::chrono::seconds{*seconds}};
}

std::vector<uuid> depends_of(const attributes& all) {
    std::vector<uuid> depends;
    constexpr std::string_view start = dependency_start;
    for (auto at = all.lower_bound(start); at != all.end() && at->first.starts_with(start); ++at) {
        if (const auto id = parse_uuid(std::string_view(at->first).substr(start.size()))) {
            depends.push_back(*id);
        }
    }
    return depends;
}

namespace {

bool has_any(const attributes& all, std::string_view start) {
    const auto at = all.lower_bound(start);
    return at != all.end() && at->first.starts_with(start);
}

task_status status_of(const attributes& all) {
    return parse_task_status(value_of(all, "status")).value_or(task_status::pending);
}

bool is_before(const attributes& all, std::string_view name, time_point now) {
    const auto at = instant_of(all, name);
    return at && *at < now;
}

// As Taskwarrior with rc.due=7: due today (UTC), even earlier than now, or in the next six days.
bool is_due(const attributes& all, time_point now) {
    const auto due = instant_of(all, "due");
    const auto today = std::chrono::floor<std::chrono::days>(now);
    return due && !is_over(all) && *due >= today && *due < today + std::chrono::days{7};
}

bool is_pending(const attributes& all, time_point now) {
    return status_of(all) == task_status::pending && !is_waiting(all, now);
}

// True for tags that depend on links, which are checked separately.
bool has(virtual_tag tag, const attributes& all, time_point now) {
    const auto there = [&](std::string_view name) { return all.contains(name); };
    switch (tag) {
    case virtual_tag::active: return there("start") && !is_over(all);
    case virtual_tag::annotated: return has_any(all, annotation_start);
    case virtual_tag::child: return there("parent") || there("template");
    case virtual_tag::completed: return status_of(all) == task_status::completed;
    case virtual_tag::deleted: return status_of(all) == task_status::deleted;
    case virtual_tag::due: return is_due(all, now);
    case virtual_tag::overdue:
        return !is_over(all) && status_of(all) != task_status::recurring &&
               is_before(all, "due", now);
    case virtual_tag::parent: return there("mask") || there("last");
    case virtual_tag::pending: return is_pending(all, now);
    case virtual_tag::priority: return there("priority");
    case virtual_tag::project: return there("project");
    case virtual_tag::ready:
        return is_pending(all, now) && (!there("scheduled") || is_before(all, "scheduled", now));
    case virtual_tag::scheduled: return there("scheduled");
    case virtual_tag::tagged: return has_any(all, tag_start);
    case virtual_tag::until: return there("until");
    case virtual_tag::waiting: return is_waiting(all, now);
    case virtual_tag::blocked:
    case virtual_tag::blocking:
    case virtual_tag::unblocked: break;
    }
    return true;
}

bool is_in_project(std::string_view project, std::string_view wanted) {
    return wanted.empty() || project == wanted ||
           (project.size() > wanted.size() && project.starts_with(wanted) &&
            project[wanted.size()] == '.');
}

// Requires: `wanted` is folded.
bool has_text(const attributes& all, std::string_view wanted) {
    constexpr std::string_view start = annotation_start;
    const auto holds = [&](std::string_view text) {
        return folded(text).find(wanted) != std::string::npos;
    };
    if (holds(value_of(all, "description"))) return true;
    for (auto at = all.lower_bound(start); at != all.end() && at->first.starts_with(start); ++at) {
        if (holds(at->second)) return true;
    }
    return false;
}

bool is_in(const instant_range& range, const attributes& all, std::string_view name) {
    if (!range.after && !range.before) return true;
    const auto at = instant_of(all, name);
    return at && (!range.after || *at > *range.after) && (!range.before || *at < *range.before);
}

template <class List, class Holds>
bool all_of(const List& list, Holds holds) {
    return std::all_of(list.begin(), list.end(), holds);
}

}  // namespace

bool is_waiting(const attributes& all, time_point now) {
    const auto wait = instant_of(all, "wait");
    return wait && *wait > now && status_of(all) == task_status::pending;
}

bool matches(const task_filter& filter, const task& t, time_point now) {
    const attributes& all = t.attributes;
    const auto has_tag = [&](const std::string& tag) { return all.contains("tag_" + tag); };
    if (t.purged || !filter.has_status(status_of(all))) return false;
    if (filter.changed_after && t.last_seq <= *filter.changed_after) return false;
    if (!is_in_project(value_of(all, "project"), filter.project)) return false;
    const bool has_priority =
        filter.priorities.empty() ||
        std::ranges::find(filter.priorities, value_of(all, "priority")) != filter.priorities.end();
    if (!has_priority) return false;
    const auto has_value = [&](const auto& wanted) {
        return value_of(all, wanted.first) == wanted.second;
    };
    if (!all_of(filter.attributes, has_value)) return false;
    for (std::size_t i = 0; i < task_instants; ++i) {
        if (!is_in(filter.instants[i], all, to_string(static_cast<task_instant>(i)))) return false;
    }
    return all_of(filter.tags, has_tag) &&
           !std::any_of(filter.not_tags.begin(), filter.not_tags.end(), has_tag) &&
           all_of(filter.is, [&](virtual_tag tag) { return has(tag, all, now); }) &&
           (filter.text.empty() || has_text(all, filter.text));
}

bool matches(const task_filter& filter, const task_links& links) {
    return all_of(filter.is, [&](virtual_tag tag) {
        switch (tag) {
        case virtual_tag::blocked: return links.is_blocked;
        case virtual_tag::blocking: return links.is_blocking;
        case virtual_tag::unblocked:
        case virtual_tag::ready: return !links.is_blocked;
        default: return true;
        }
    });
}

}  // namespace callsign
