#include <callsign/base/text.hpp>
#include <callsign/domain/task_faults.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace callsign {
namespace {

// A year of them, and not a life's, are made at once.
constexpr std::int64_t recurring_for_seconds_max = std::int64_t{366} * 24 * 3600;

template <std::size_t n>
bool is_among(const std::array<std::string_view, n>& words, std::string_view word) noexcept {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// Up to three digits, no zero first, cut off the text: more is no period that anybody means.
bool take_number(std::string_view& text) noexcept {
    std::size_t digits = 0;
    while (digits < text.size() && is_digit(text[digits])) ++digits;
    const bool is_good = digits >= 1 && digits <= 3 && text.front() != '0';
    text.remove_prefix(digits);
    return is_good;
}

// How often: of what Taskwarrior 3 reads, the words, a number and a unit, or P and one unit of ISO
// 8601. Anything else ends each of its reports with an error. Periods below a day are left out:
// each device makes a task for each of them.
bool is_recurrence(std::string_view text) noexcept {
    constexpr std::array<std::string_view, 18> words{
        "annual",     "biannual",  "bimonthly", "biweekly", "biyearly", "daily",
        "day",        "fortnight", "month",     "monthly",  "quarter",  "quarterly",
        "semiannual", "week",      "weekdays",  "weekly",   "year",     "yearly"};
    constexpr std::array<std::string_view, 18> units{
        "d", "day",  "days",  "mo", "month", "months", "q",    "quarter", "quarters",
        "w", "week", "weeks", "wk", "wks",   "y",      "year", "years",   "yr"};
    constexpr std::array<std::string_view, 4> iso_units{"D", "M", "W", "Y"};
    if (is_among(words, text)) return true;
    const bool is_iso = text.starts_with('P');
    if (is_iso) text.remove_prefix(1);
    if (!take_number(text)) return false;
    return is_iso ? is_among(iso_units, text) : is_among(units, text);
}

}  // namespace

bool is_instant_name(std::string_view attribute) noexcept {
    constexpr std::array<std::string_view, 8> names{"due",       "end",   "entry", "modified",
                                                    "scheduled", "start", "until", "wait"};
    return is_among(names, attribute);
}

bool is_over(const attributes& all) {
    const std::string_view status = value_of(all, "status");
    return status == "completed" || status == "deleted";
}

std::vector<task_fault> faults_of(const attributes& all) {
    std::vector<task_fault> found;
    if (value_of(all, "status") != "recurring") return found;
    const std::string_view due = value_of(all, "due");
    if (due.empty()) {
        found.push_back({"due", "required", "A task that recurs has a first one."});
    } else if (parse_integer(due).value_or(0) < instant_seconds_min) {
        found.push_back({"due", "invalid", "The first of a task that recurs is after 1979."});
    }
    const auto until = parse_integer(value_of(all, "until"));
    if (until && *until <= parse_integer(due).value_or(0)) {
        found.push_back({"until", "invalid", "A task that recurs has at least two times."});
    }
    const std::string_view recur = value_of(all, "recur");
    if (recur.empty()) {
        found.push_back({"recur", "required", "A task that recurs says how often."});
    } else if (!is_recurrence(recur)) {
        found.push_back({"recur", "invalid",
                         "How often is a word such as weekly, or a number and a unit: 3d, 2weeks, "
                         "P1M. Nothing below a day."});
    }
    return found;
}

std::vector<task_fault> faults_of_age(const attributes& all, time_point now) {
    if (is_over(all)) return {};
    const std::int64_t now_seconds =
        std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
    std::vector<task_fault> found;
    const auto until = parse_integer(value_of(all, "until"));
    if (until && *until <= now_seconds) {
        found.push_back(
            {"until", "invalid", "It is over: Taskwarrior deletes a task when this has come."});
    }
    const auto due = parse_integer(value_of(all, "due"));
    const bool recurs = value_of(all, "status") == "recurring";
    if (recurs && due && *due < now_seconds - recurring_for_seconds_max) {
        found.push_back({"due", "invalid",
                         "The first of a task that recurs is less than a year ago: Taskwarrior "
                         "makes a task for each time since."});
    }
    return found;
}

}  // namespace callsign
