#include <callsign/domain/retry_histogram.hpp>

#include <algorithm>
#include <cmath>

namespace callsign {
namespace {

using edges = std::array<milliseconds, retry_histogram::buckets>;

edges make_edges() {
    edges all;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const double doublings = static_cast<double>(i) / retry_histogram::buckets_per_doubling;
        const double edge =
            static_cast<double>(retry_histogram::shortest.count()) * std::exp2(doublings);
        all[i] = std::min(milliseconds{std::llround(std::ceil(edge))}, retry_histogram::longest);
    }
    return all;
}

const edges& all_edges() {
    static const edges all = make_edges();
    return all;
}

}  // namespace

std::size_t retry_histogram::bucket_of(milliseconds duration) noexcept {
    const auto& all = all_edges();
    const auto found = std::lower_bound(all.begin(), all.end() - 1, duration);
    return static_cast<std::size_t>(found - all.begin());
}

milliseconds retry_histogram::upper_edge(std::size_t bucket) noexcept {
    return all_edges()[std::min(bucket, buckets - 1)];
}

void retry_histogram::add(milliseconds duration, double weight) {
    double& w = weights_[bucket_of(duration)];
    w = std::min(w + weight, weight_max);
}

void retry_histogram::add(const retry_histogram& other, double factor) {
    for (std::size_t i = 0; i < buckets; ++i) {
        weights_[i] = std::min(weights_[i] + other.weights_[i] * factor, weight_max);
    }
}

void retry_histogram::halve(int halvings) {
    for (double& w : weights_) w = std::ldexp(w, -halvings);
}

double retry_histogram::samples() const noexcept {
    double sum = 0;
    for (const double w : weights_) sum += w;
    return sum;
}

std::optional<milliseconds> retry_histogram::quantile(double q) const noexcept {
    const double wanted = q * samples();
    std::optional<milliseconds> reached;
    double sum = 0;
    for (std::size_t i = 0; i < buckets; ++i) {
        if (weights_[i] == 0) continue;
        sum += weights_[i];
        reached = upper_edge(i);
        // Sums in another order may fall short by rounding errors.
        if (sum >= wanted * (1 - 1e-12)) break;
    }
    return reached;
}

double retry_histogram::longer_than(milliseconds window) const noexcept {
    double sum = 0;
    for (std::size_t i = bucket_of(window) + 1; i < buckets; ++i) sum += weights_[i];
    return sum;
}

double retry_histogram::sum_up_to(milliseconds window) const noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < buckets; ++i) {
        sum += weights_[i] * static_cast<double>(std::min(upper_edge(i), window).count());
    }
    return sum;
}

bool retry_histogram::set(std::size_t bucket, double weight) noexcept {
    // Comparisons with a NaN are false.
    if (bucket >= buckets || !(weight >= 0 && weight <= weight_max)) return false;
    weights_[bucket] = weight;
    return true;
}

}  // namespace callsign
