#include <callsign/base/text.hpp>
#include <callsign/domain/task_faults.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace callsign {
namespace {

// Taskwarrior creates all tasks since the first date at once: a year of them is allowed.
constexpr std::int64_t recurring_for_seconds_max = std::int64_t{366} * 24 * 3600;

template <std::size_t n>
bool is_among(const std::array<std::string_view, n>& words, std::string_view word) noexcept {
    return std::find(words.begin(), words.end(), word) != words.end();
}

// Removes a number of up to three digits without a leading zero; larger periods are not meant.
bool take_number(std::string_view& text) noexcept {
    std::size_t digits = 0;
    while (digits < text.size() && is_digit(text[digits])) ++digits;
    const bool is_good = digits >= 1 && digits <= 3 && text.front() != '0';
    text.remove_prefix(digits);
    return is_good;
}

// The periods of Taskwarrior 3 that are accepted: words, a number and a unit, or P and one unit of
// ISO 8601. Any other text makes each of its reports fail. Periods below a day are rejected,
// because each device creates a task for every one.
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

// Whether there are control characters that Taskwarrior writes unescaped into JSON strings.
bool is_unprintable(std::string_view text) noexcept {
    constexpr std::string_view escaped = "\b\f\n\r\t";
    return std::any_of(text.begin(), text.end(), [&](char c) {
        return static_cast<unsigned char>(c) < 0x20 && escaped.find(c) == std::string_view::npos;
    });
}

// Only the spelling that Taskwarrior itself writes is accepted.
bool is_instant_text(std::string_view text, std::int64_t seconds_max) {
    const auto seconds = parse_integer(text);
    return seconds && *seconds >= instant_seconds_min && *seconds <= seconds_max &&
           text.front() != '0';
}

// A JSON number without an exponent.
bool is_plain_number(std::string_view text) noexcept {
    const auto take_digits = [&] {
        const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
        text.remove_prefix(end);
        return end;
    };
    if (text.starts_with('-')) text.remove_prefix(1);
    const bool begins_with_zero = text.starts_with('0');
    const std::size_t whole = take_digits();
    if (whole == 0 || (begins_with_zero && whole > 1)) return false;
    if (text.empty()) return true;
    if (!text.starts_with('.')) return false;
    text.remove_prefix(1);
    return take_digits() > 0 && text.empty();
}

}  // namespace

bool is_instant_name(std::string_view attribute) noexcept {
    constexpr std::array<std::string_view, 8> names{"due",       "end",   "entry", "modified",
                                                    "scheduled", "start", "until", "wait"};
    return is_among(names, attribute);
}

bool has_control(std::string_view text, bool lines_allowed) noexcept {
    return std::any_of(text.begin(), text.end(), [&](char c) {
        const bool is_control = static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
        return is_control && !(lines_allowed && (c == '\t' || c == '\n'));
    });
}

std::optional<value_fault> fault_of_text(std::string_view text) {
    if (text.empty()) return value_fault{"required", "Must be given and not be empty."};
    if (text.size() > text_bytes_max) {
        return value_fault{"too-long", "Must have at most 65536 bytes."};
    }
    if (has_control(text, true)) {
        return value_fault{"invalid", "Must not have control characters but tab and newline."};
    }
    return std::nullopt;
}

bool is_exportable_name(std::string_view name) noexcept {
    return !name.empty() && std::none_of(name.begin(), name.end(), [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
    });
}

std::optional<value_fault> fault_of_attribute(std::string_view name, std::string_view value) {
    constexpr std::array<std::string_view, 4> made_up{"annotations", "id", "urgency", "uuid"};
    constexpr std::array<std::string_view, 2> numbers{"imask", "last"};
    constexpr std::array<std::string_view, 4> statuses{"pending", "completed", "deleted",
                                                       "recurring"};
    const auto invalid = [](std::string_view detail) {
        return std::optional(value_fault{"invalid", detail});
    };
    if (!is_exportable_name(name) || name == tag_start) {
        return invalid(
            "A name must not be empty or have control characters, quotation marks or "
            "backslashes: Taskwarrior could not export it.");
    }
    if (is_among(made_up, name)) return invalid("Must not be a name that Taskwarrior reserves.");
    if (is_unprintable(value)) {
        return invalid("Must not have control characters: Taskwarrior could not export it.");
    }
    if (is_instant_name(name) && !is_instant_text(value, instant_seconds_max)) {
        return invalid("Must be an instant of the years 1980 to 9999, in seconds.");
    }
    if (name == "status" && !is_among(statuses, value)) {
        return invalid("Must be pending, completed, deleted or recurring.");
    }
    if (is_among(numbers, name) && !value.empty() && !is_plain_number(value)) {
        return invalid("Must be a number: Taskwarrior exports it without quotation marks.");
    }
    if (name.starts_with(dependency_start)) {
        const std::string_view other = name.substr(dependency_start.size());
        const auto id = parse_uuid(other);
        if (!id || to_string(*id) != other) return invalid("Must name a task by its UUID.");
    }
    if (name.starts_with(annotation_start) &&
        !is_instant_text(name.substr(annotation_start.size()), annotation_seconds_max)) {
        return invalid("The entry must be an instant of the years 1980 to 2037, in seconds.");
    }
    return std::nullopt;
}

std::vector<task_fault> faults_of_attributes(const attributes& all) {
    std::vector<task_fault> found;
    for (const auto& [name, value] : all) {
        if (const auto wrong = fault_of_attribute(name, value)) {
            found.push_back({name, wrong->code, wrong->detail});
        }
    }
    return found;
}

bool is_incomplete(const attributes& all) {
    return value_of(all, "description").empty() || value_of(all, "status").empty();
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
        found.push_back({"due", "required", "Must be given for a recurring task."});
    } else if (parse_integer(due).value_or(0) < instant_seconds_min) {
        found.push_back({"due", "invalid", "Must be after 1979 for a recurring task."});
    }
    const auto until = parse_integer(value_of(all, "until"));
    if (until && *until <= parse_integer(due).value_or(0)) {
        found.push_back({"until", "invalid", "Must be after due for a recurring task."});
    }
    const std::string_view recur = value_of(all, "recur");
    if (recur.empty()) {
        found.push_back({"recur", "required", "Must be given for a recurring task."});
    } else if (!is_recurrence(recur)) {
        found.push_back({"recur", "invalid",
                         "Must be a word such as weekly, or a number and a unit of at least a day: "
                         "3d, 2weeks, P1M."});
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
        found.push_back({"until", "invalid",
                         "Must be in the future: Taskwarrior deletes a task at its until."});
    }
    const auto due = parse_integer(value_of(all, "due"));
    const bool recurs = value_of(all, "status") == "recurring";
    if (recurs && due && *due < now_seconds - recurring_for_seconds_max) {
        found.push_back({"due", "invalid",
                         "Must be less than a year ago for a recurring task: Taskwarrior creates a "
                         "task for each time since."});
    }
    return found;
}

}  // namespace callsign
