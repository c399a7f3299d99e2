#pragma once
// The reaper's automatic window: a quantile of clients' retry times, times a margin.
//
// Too short a window fails creations whose clients still retry; too long a window keeps slots
// pending for clients that never come back. Hence different rules for the two directions:
// - The window lengthens at once, as far as needed.
// - It shortens once in `shorten_after` at most, and never to less than half: a quiet hour, or one
//   busy client with fast retries, does not undo what a bad day has shown.
// - A difference of at most `hysteresis` is ignored. That is more than one bucket of the histogram,
//   so a quantile that alternates between two buckets changes nothing.
// window_min and window_max always apply.
//
// Pure.

#include <callsign/base/time.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace callsign {

struct auto_window_options {
    // The minimum: even fast clients need time to notice that a response is missing.
    milliseconds window_min{std::chrono::minutes{1}};
    // The maximum: limits how the slowest clients affect the unfinished slots of others.
    milliseconds window_max{std::chrono::hours{6}};
    // The quantile of the retry times.
    double quantile = 0.99;
    // The window is the quantile times this factor.
    double margin = 1.5;
    // The fallback applies below this number of samples; no part of the accounts counts for more.
    std::int64_t samples_min = 100;
    // A retry observed this long ago counts half.
    milliseconds half_life{std::chrono::hours{24 * 7}};

    // ---- not configurable ----
    // The window while there are too few samples.
    milliseconds fallback{std::chrono::minutes{10}};
    double hysteresis = 0.1;
    milliseconds shorten_after{std::chrono::hours{1}};
};

enum class window_reason {
    fixed,              // set in the configuration
    few_samples,        // the fallback
    derived,            // quantile times margin
    at_floor,           // quantile times margin is below window_min
    at_ceiling,         // quantile times margin is above window_max
    within_hysteresis,  // unchanged: the wanted window is within the hysteresis
    shortening,         // longer than the wanted window, since it shortens slowly
};
std::string_view to_string(window_reason reason) noexcept;

// The input of choose_window().
struct window_inputs {
    double samples = 0;
    std::optional<milliseconds> quantile;  // none: no samples
    milliseconds before{0};                // the window chosen last; 0: none yet
    milliseconds held{0};                  // time since the window last changed
    bool was_derived = false;
};

struct window_choice {
    milliseconds window{0};
    window_reason reason = window_reason::few_samples;
    window_inputs inputs;
    milliseconds wanted{0};  // before hysteresis, within window_min and window_max
    bool derived = false;    // there were enough samples
    bool changed = false;
};

window_choice choose_window(const auto_window_options& options, const window_inputs& inputs);

// Rounds up to a readable value: 61,440 ms become 62 s.
milliseconds rounded_up(milliseconds span) noexcept;

}  // namespace callsign
