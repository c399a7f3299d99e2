#include <callsign/domain/task_faults.hpp>
#include <callsign/domain/urgency.hpp>

#include <algorithm>
#include <cmath>

namespace callsign {
namespace {

// Taskwarrior's urgency.*.coefficient.
constexpr double of_next = 15.0;
constexpr double of_due = 12.0;
constexpr double of_blocking = 8.0;
constexpr double of_high = 6.0, of_medium = 3.9, of_low = 1.8;
constexpr double of_scheduled = 5.0;
constexpr double of_active = 4.0;
constexpr double of_age = 2.0;
constexpr double of_annotations = 1.0;
constexpr double of_tags = 1.0;
constexpr double of_project = 1.0;
constexpr double of_waiting = -3.0;
constexpr double of_blocked = -5.0;

constexpr double age_days_max = 365;

double days_between(time_point from, time_point to) {
    return std::chrono::duration<double, std::ratio<86'400>>(to - from).count();
}

double many(std::ptrdiff_t count) noexcept {
    return count >= 3 ? 1.0 : count == 2 ? 0.9 : count == 1 ? 0.8 : 0.0;
}

std::ptrdiff_t count_of(const attributes& all, std::string_view start) {
    return std::count_if(all.begin(), all.end(), [&](const auto& attribute) {
        return std::string_view(attribute.first).starts_with(start);
    });
}

// From 0.2 at two weeks before the due date to 1 at one week after it.
double due_term(const attributes& all, time_point now) {
    const auto due = instant_of(all, "due");
    if (!due) return 0.0;
    const double days_over = std::clamp(days_between(*due, now), -14.0, 7.0);
    return (days_over + 14.0) * 0.8 / 21.0 + 0.2;
}

// Counts whole days.
double age_term(const attributes& all, time_point now) {
    const auto entry = instant_of(all, "entry");
    if (!entry) return 1.0;  // Taskwarrior takes a missing entry for 1970
    return std::min(std::trunc(days_between(*entry, now)) / age_days_max, 1.0);
}

double priority_term(const attributes& all) {
    const auto found = all.find("priority");
    if (found == all.end()) return 0.0;
    return found->second == "H"   ? of_high
           : found->second == "M" ? of_medium
           : found->second == "L" ? of_low
                                  : 0.0;
}

}  // namespace

double urgency_of(const attributes& all, time_point now) {
    const auto has = [&](std::string_view name) { return all.contains(name); };
    const auto scheduled = instant_of(all, "scheduled");
    double urgency = priority_term(all);
    urgency += of_due * due_term(all, now);
    urgency += of_age * age_term(all, now);
    urgency += of_annotations * many(count_of(all, annotation_start));
    urgency += of_tags * many(count_of(all, tag_start));
    if (has("tag_next")) urgency += of_next;
    if (has("project")) urgency += of_project;
    if (has("start")) urgency += of_active;
    if (scheduled && *scheduled < now) urgency += of_scheduled;
    if (is_waiting(all, now)) urgency += of_waiting;
    return urgency;
}

double urgency_of(const task_links& links) noexcept {
    return (links.is_blocked ? of_blocked : 0.0) + (links.is_blocking ? of_blocking : 0.0);
}

}  // namespace callsign
