#include <callsign/base/assert.hpp>
#include <callsign/domain/retry_times.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace callsign {
namespace {

// The landmark moves by this many half-lives before weights get large; powers of two are exact.
constexpr int landmark_half_lives_max = 32;
// After as many half-lives nothing of a weight is left.
constexpr int forgotten_after_half_lives = 1024;
constexpr milliseconds century = std::chrono::hours{24 * 36'525};

// Limits the sum, so that records stay sound whatever is added.
void grow(double& sum, double by) noexcept {
    sum = std::min(sum + by, retry_histogram::weight_max);
}

bool is_weight(double value) noexcept {
    return value >= 0 && value <= retry_histogram::weight_max;  // false for a NaN
}

}  // namespace

bool is_sound(const retry_record& r) noexcept {
    if (r.half_life < milliseconds{1} || r.half_life > century) return false;
    if (r.age < milliseconds{0} || r.age >= landmark_half_lives_max * r.half_life) return false;
    if (r.window < milliseconds{0} || r.window > century) return false;
    if (r.held < milliseconds{0} || r.held > century) return false;
    return is_weight(r.observed_ms) && is_weight(r.failed) && is_weight(r.late);
}

double retry_times::scale() const noexcept {
    return std::exp2(static_cast<double>(state_.age.count()) /
                     static_cast<double>(state_.half_life.count()));
}

void retry_times::pass(milliseconds span) {
    CALLSIGN_ASSERT(span >= milliseconds{0});
    const milliseconds half_life = state_.half_life;
    span = std::min(span, forgotten_after_half_lives * half_life);
    state_.held = std::min(state_.held + span, century);
    while (span > milliseconds{0}) {
        const auto step = std::min(span, landmark_half_lives_max * half_life - state_.age);
        const double begun = scale();
        state_.age += step;
        // The integral of a sample's weight over the span.
        grow(state_.observed_ms,
             (scale() - begun) * static_cast<double>(half_life.count()) / std::numbers::ln2);
        if (state_.age == landmark_half_lives_max * half_life) move_landmark();
        span -= step;
    }
}

void retry_times::move_landmark() {
    constexpr int halvings = landmark_half_lives_max;
    for (retry_histogram& part : state_.retries) part.halve(halvings);
    state_.unfinished.halve(halvings);
    for (double* sum : {&state_.observed_ms, &state_.failed, &state_.late}) {
        *sum = std::ldexp(*sum, -halvings);
    }
    state_.age = milliseconds{0};
}

void retry_times::set_half_life(milliseconds half_life) {
    if (half_life == state_.half_life) return;
    retry_times as_of_now(half_life);
    as_of_now.state_.window = state_.window;
    as_of_now.state_.held = state_.held;
    as_of_now.state_.derived = state_.derived;
    as_of_now.add(*this);
    state_ = as_of_now.state_;
}

void retry_times::saw(std::size_t part, milliseconds after, slot_state found) {
    const double weight = scale();
    state_.retries.at(part).add(after, weight);
    if (found != slot_state::committed) state_.unfinished.add(after, weight);
    if (found == slot_state::failed) grow(state_.late, weight);
}

void retry_times::failed(std::int64_t slots) {
    grow(state_.failed, static_cast<double>(slots) * scale());
}

void retry_times::add(const retry_times& other) {
    const double factor = scale() / other.scale();
    for (std::size_t i = 0; i < parts; ++i) {
        state_.retries[i].add(other.state_.retries[i], factor);
    }
    state_.unfinished.add(other.state_.unfinished, factor);
    grow(state_.observed_ms, other.state_.observed_ms * factor);
    grow(state_.failed, other.state_.failed * factor);
    grow(state_.late, other.state_.late * factor);
}

void retry_times::choose(milliseconds window, bool derived, bool changed) {
    state_.window = window;
    state_.derived = derived;
    if (changed) state_.held = milliseconds{0};
}

retry_histogram retry_times::fair(double part_max) const {
    retry_histogram all;
    const double to_now = 1 / scale();
    for (const retry_histogram& part : state_.retries) {
        const double samples = part.samples() * to_now;
        if (samples > 0) all.add(part, to_now * std::min(1.0, part_max / samples));
    }
    return all;
}

double retry_times::samples() const {
    double sum = 0;
    for (const retry_histogram& part : state_.retries) sum += part.samples();
    return now(sum);
}

retry_times::outcome retry_times::with(milliseconds window) const {
    outcome done{now(state_.unfinished.longer_than(window)), 0};
    if (state_.observed_ms <= 0) return done;
    const double given_up = std::max(state_.failed - state_.late, 0.0);
    done.pending =
        (given_up * static_cast<double>(window.count()) + state_.unfinished.sum_up_to(window)) /
        state_.observed_ms;
    return done;
}

}  // namespace callsign
