#include "task_actions.hpp"

#include "numbering.hpp"

#include <callsign/domain/task_faults.hpp>

#include <charconv>

namespace callsign::rules {
namespace {

using attribute_changes = std::vector<std::pair<std::string, std::optional<std::string>>>;

std::string annotation_at(std::int64_t seconds) {
    return std::string(annotation_start) + std::to_string(seconds);
}

std::int64_t seconds_of(time_point at) {
    return std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
}

// `end` follows the status (edit_task.cpp).
void reopen(const attributes& before, attribute_changes& wanted) {
    if (is_over(before)) wanted.emplace_back("status", "pending");
}

// An annotation is named by its second, or the next one that is free, as in Taskwarrior.
void annotate(const task_action& action, const attributes& before, time_point now,
              attribute_changes& wanted) {
    std::int64_t at = action.entry.value_or(seconds_of(now));
    for (auto found = before.find(annotation_at(at)); found != before.end();
         found = before.find(annotation_at(++at))) {
        if (action.entry && found->second == action.text) return;
    }
    wanted.emplace_back(annotation_at(at), action.text);
}

void denotate(const task_action& action, const attributes& before, attribute_changes& wanted) {
    const std::optional<std::string> named =
        action.entry ? std::optional(annotation_at(*action.entry)) : std::nullopt;
    for (const auto& [name, value] : before) {
        if (!name.starts_with(annotation_start)) continue;
        if (named && name != *named) continue;
        if (action.text.empty() || value == action.text) wanted.emplace_back(name, std::nullopt);
    }
}

}  // namespace

attribute_changes changes_of(const task_action& action, const attributes& before, time_point now) {
    attribute_changes wanted;
    switch (action.verb) {
    case task_action::kind::complete:
        wanted.emplace_back("status", "completed");
        wanted.emplace_back("start", std::nullopt);
        break;
    case task_action::kind::reopen: reopen(before, wanted); break;
    case task_action::kind::start:
        reopen(before, wanted);
        if (!before.contains("start") || is_over(before)) {
            wanted.emplace_back("start", epoch_text(now));
        }
        break;
    case task_action::kind::stop: wanted.emplace_back("start", std::nullopt); break;
    case task_action::kind::annotate: annotate(action, before, now, wanted); break;
    case task_action::kind::denotate: denotate(action, before, wanted); break;
    }
    return wanted;
}

}  // namespace callsign::rules
