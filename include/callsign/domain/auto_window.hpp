#pragma once
// The window that is chosen by itself: how long clients are seen to take until they come back, and
// half as much again.
//
// What is chosen moves by these rules. Too short a window costs people their creations, too long a
// one costs rows that wait for nobody, so the two directions differ:
// - it lengthens at once, by whatever is needed;
// - it shortens once in `shorten_after` at most, and never to less than half: a quiet hour, or a
//   busy client that retries fast, does not undo what a bad day has shown;
// - a difference of no more than `hysteresis` is let be. It is more than one bucket of the
//   histogram, so a quantile that wavers between two of them moves nothing.
// The bounds hold whatever else does.
//
// Pure.

#include <callsign/base/time.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

namespace callsign {

struct auto_window_options {
    // The least it may be: even quick clients need the time to notice that an answer is not coming.
    milliseconds window_min{std::chrono::minutes{1}};
    // The most it may be, and so what the worst of clients can do to others' unfinished slots.
    milliseconds window_max{std::chrono::hours{6}};
    // Of retries this part comes within the duration that the window is derived from.
    double quantile = 0.99;
    // Times that duration.
    double margin = 1.5;
    // Of fewer retries no quantile says much. No part of the accounts counts for more, either.
    std::int64_t samples_min = 100;
    // In which a retry that was seen counts for half.
    milliseconds half_life{std::chrono::hours{24 * 7}};

    // ---- no settings ----
    // The window while there are too few retries.
    milliseconds fallback{std::chrono::minutes{10}};
    double hysteresis = 0.1;
    milliseconds shorten_after{std::chrono::hours{1}};
};

enum class window_reason {
    fixed,        // the configuration says so
    few_samples,  // the fallback
    derived,      // the quantile and the margin
    at_floor,     // they would have it shorter than window_min
    at_ceiling,   // they would have it longer than window_max
    kept_close,   // what they would have is within the hysteresis
    kept_longer,  // what they would have is shorter, and it shortens slowly
};
std::string_view to_string(window_reason reason) noexcept;

// What a choice goes out from.
struct window_inputs {
    double samples = 0;
    std::optional<milliseconds> quantile;  // none: no samples
    milliseconds before{0};                // the window that was chosen last; 0: none yet
    milliseconds held{0};                  // how long ago
    bool was_derived = false;
};

struct window_choice {
    milliseconds window{0};
    window_reason reason = window_reason::few_samples;
    window_inputs inputs;
    milliseconds wanted{0};  // what the samples alone would have, within the bounds
    bool derived = false;    // there were samples enough
    bool changed = false;
};

window_choice choose_window(const auto_window_options& options, const window_inputs& inputs);

// Up, to what people would say: 61,440 ms are 62 s.
milliseconds rounded_up(milliseconds span) noexcept;

}  // namespace callsign
