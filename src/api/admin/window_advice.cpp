#include "window_advice.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace callsign::api {
namespace {

std::string span_text(milliseconds span) {
    return to_duration_text(rounded_up(span));
}

// Independent of the locale.
std::string number_text(double value) {
    std::array<char, 32> digits;
    char* const end = std::to_chars(digits.begin(), digits.end(), value).ptr;
    return {digits.data(), end};
}

std::string count_text(std::int64_t count, const char* one, const char* many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string inputs_text(const window_choice& c, const auto_window_options& o) {
    return "The " + number_text(o.quantile) + " quantile of retries is " +
           span_text(c.inputs.quantile.value_or(milliseconds{0})) + ", which multiplied by " +
           number_text(o.margin) + " is ";
}

const window_status::other_window* other_of(const window_status& w, milliseconds window) {
    const auto found = std::find_if(w.others.begin(), w.others.end(),
                                    [&](const auto& other) { return other.window == window; });
    return found == w.others.end() ? nullptr : &*found;
}

// Returns how to lengthen the window.
std::string lengthen(const window_status& w, bool fixed, const auto_window_options& o) {
    if (fixed && w.choice.derived && w.choice.wanted > w.choice.window) {
        return "set reaper.window to " + to_duration_text(w.choice.wanted) + " or auto";
    }
    // With enough retries the derived window would not be longer.
    if (fixed) {
        return w.choice.derived ? "lengthen reaper.window"
                                : "lengthen reaper.window, or set it to auto";
    }
    switch (w.choice.reason) {
    case window_reason::at_ceiling: return "lengthen reaper.window_max";
    case window_reason::few_samples:
        return "lengthen reaper.window_min until there are enough retries (" +
               std::to_string(std::llround(w.choice.inputs.samples)) + " of " +
               std::to_string(o.samples_min) + " so far)";
    default: return "if this recurs, lengthen reaper.window_min or raise reaper.margin";
    }
}

std::optional<std::string> too_short(const window_status& w, const reaper_status& status) {
    const auto* const in_force = other_of(w, w.choice.window);
    const auto failed = in_force ? std::llround(in_force->would_have.failed) : 0;
    if (failed == 0) return std::nullopt;
    const bool fixed = status.options.window.has_value();
    // Some were kept by a longer window that applied earlier.
    const bool did = static_cast<double>(failed) <= w.late + 0.5;
    const std::string p99 = w.p99 ? "p99 of retries is " + span_text(*w.p99) + "; " : "";
    return p99 + (fixed ? "the fixed window of " : "the window of ") +
           to_duration_text(w.choice.window) + (did ? " failed " : " would have failed ") +
           count_text(failed, "slot that was", "slots that were") + " still being retried; " +
           lengthen(w, fixed, status.options.automatic) + ".";
}

std::optional<std::string> too_long(const window_status& w, const reaper_status& status,
                                    milliseconds oldest_age) {
    const bool fixed = status.options.window.has_value();
    const milliseconds window = w.choice.window, wanted = w.choice.wanted;
    const auto* const now = other_of(w, window);
    const auto* const then = other_of(w, wanted);
    if (fixed && w.choice.derived && wanted < window / 2 && now && then &&
        std::llround(then->would_have.failed) == 0 && now->would_have.pending >= 0.01) {
        return "p99 of retries is " + span_text(w.p99.value_or(wanted)) + "; a window of " +
               to_duration_text(wanted) +
               " would also fail none, and abandoned slots would be pending for less time; set "
               "reaper.window to " +
               to_duration_text(wanted) + " or auto.";
    }
    constexpr milliseconds timeout = std::chrono::minutes{1};
    const bool was_guessed = fixed || w.choice.reason == window_reason::few_samples;
    if (!was_guessed || oldest_age <= std::max(window / 2, timeout)) return std::nullopt;
    return "Slots of clients that do not retry are pending for long, and no retry came late: "
           "reaper.window (" +
           to_duration_text(window) + ") may be shorter.";
}

}  // namespace

std::string reason_text(const window_status& w, const auto_window_options& o) {
    const window_choice& c = w.choice;
    const std::string wanted = to_duration_text(c.wanted);
    switch (c.reason) {
    case window_reason::fixed: return "Set in the configuration.";
    case window_reason::few_samples:
        return std::to_string(std::llround(c.inputs.samples)) + " of " +
               std::to_string(o.samples_min) + " required retries were seen.";
    case window_reason::derived: return inputs_text(c, o) + wanted + ".";
    case window_reason::at_floor:
        return inputs_text(c, o) + "less than reaper.window_min (" + wanted + ").";
    case window_reason::at_ceiling:
        return inputs_text(c, o) + "more than reaper.window_max (" + wanted + ").";
    case window_reason::within_hysteresis:
        return inputs_text(c, o) + "close to the current window (within " +
               number_text(o.hysteresis * 100) + " %).";
    case window_reason::shortening:
        return inputs_text(c, o) + "less; the window is shortened once in " +
               to_duration_text(o.shorten_after) + ", at most by half, until it is " + wanted + ".";
    }
    return {};
}

std::string advise(const reaper_status& status, milliseconds oldest_age) {
    for (const account_class c : account_classes) {
        if (auto text = too_short(status.windows[c], status)) {
            return c == account_class::local ? *text : "Remote accounts: " + *text;
        }
    }
    milliseconds longest{0};
    for (const account_class c : account_classes) {
        longest = std::max(longest, status.windows[c].choice.window);
    }
    if (oldest_age > longest + 3 * status.options.interval) {
        return "A slot is pending longer than reaper.window (" + to_duration_text(longest) +
               ") allows: sweeps do not keep up; shorten reaper.interval or enlarge reaper.batch.";
    }
    if (auto text = too_long(status.windows.local, status, oldest_age)) return *text;
    return "Nothing to change: no retry came too late, and no slot is pending for long.";
}

}  // namespace callsign::api
