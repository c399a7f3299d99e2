#pragma once
// A histogram of durations: weights in buckets that are evenly spaced on a logarithmic scale. Its
// size is constant, and its error is relative to the duration.
//
// A duration counts as the upper edge of its bucket, which is never below the duration and at most
// `error_max` above it (plus one millisecond, since edges are whole milliseconds). Durations
// outside of `shortest` and `longest` count as these.
//
// Pure, and independent of time. Weights from disk go through set(), which rejects invalid ones.

#include <callsign/base/time.hpp>

#include <array>
#include <cstddef>
#include <optional>

namespace callsign {

class retry_histogram {
  public:
    static constexpr int buckets_per_doubling = 8;
    static constexpr double error_max = 0.0906;  // 2^(1/8) - 1, rounded up
    static constexpr milliseconds shortest{10};
    static constexpr milliseconds longest = std::chrono::hours{24 * 7};
    // From the shortest to the longest there are 25.85 doublings.
    static constexpr std::size_t buckets = std::size_t{26} * buckets_per_doubling;
    // More than any weight reaches in centuries of operation; far below where sums overflow.
    static constexpr double weight_max = 1e60;

    static std::size_t bucket_of(milliseconds duration) noexcept;
    static milliseconds upper_edge(std::size_t bucket) noexcept;

    // Requires: 0 <= weight.
    void add(milliseconds duration, double weight = 1);
    // Adds the weights of the other, each times `factor`.
    void add(const retry_histogram& other, double factor = 1);
    // Multiplies all weights by 2^-halvings, exactly, so that the steps make no difference.
    void halve(int halvings);

    double samples() const noexcept;
    // Returns the shortest duration that at least the fraction `q` of the weight does not exceed;
    // none: the histogram is empty. Requires: 0 < q <= 1.
    std::optional<milliseconds> quantile(double q) const noexcept;
    // Returns the weight of the durations above `window`, without those in its own bucket.
    double longer_than(milliseconds window) const noexcept;
    // Returns the sum of all durations, each counted as at most `window`, in milliseconds.
    double sum_up_to(milliseconds window) const noexcept;

    double weight(std::size_t bucket) const { return weights_.at(bucket); }
    // False, and nothing is set: there is no such bucket, or the weight is not valid.
    bool set(std::size_t bucket, double weight) noexcept;

    friend bool operator==(const retry_histogram&, const retry_histogram&) = default;

  private:
    std::array<double, buckets> weights_{};
};

}  // namespace callsign
