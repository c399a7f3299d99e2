#pragma once
// How long something took, as weights in buckets that lie evenly on a logarithmic scale: a fixed
// size whatever is added, and an error that is a part of the duration, not a span.
//
// A duration in a bucket counts as the bucket's upper edge, which is never less than the duration
// and never more than `error_max` of it above (and a millisecond, since edges are whole ones). What
// is shorter than the shortest counts as that, what is longer than the longest as that.
//
// Pure; it knows no time. Weights that come from a disk go through set(), which refuses what add()
// would not have made.

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
    // Doublings from the shortest to the longest are 25.85.
    static constexpr std::size_t buckets = std::size_t{26} * buckets_per_doubling;
    // More than any weight gets in a run of centuries; far below where sums overflow.
    static constexpr double weight_max = 1e60;

    static std::size_t bucket_of(milliseconds duration) noexcept;
    static milliseconds upper_edge(std::size_t bucket) noexcept;

    // Requires: 0 <= weight.
    void add(milliseconds duration, double weight = 1);
    // The other's weights, each times `factor`.
    void add(const retry_histogram& other, double factor = 1);
    // By 2^-halvings, exactly: how often it is done, and in what steps, makes no difference.
    void halve(int halvings);

    double samples() const noexcept;
    // The shortest duration that at least so much of the weight does not exceed; none: it is empty.
    // Requires: 0 < q <= 1.
    std::optional<milliseconds> quantile(double q) const noexcept;
    // The weight of what took longer than `window`, its own bucket not counted.
    double longer_than(milliseconds window) const noexcept;
    // All durations together, none of them counted for more than `window`. Milliseconds.
    double sum_up_to(milliseconds window) const noexcept;

    double weight(std::size_t bucket) const { return weights_.at(bucket); }
    // False, and nothing is set: there is no such bucket, or no such weight.
    bool set(std::size_t bucket, double weight) noexcept;

    friend bool operator==(const retry_histogram&, const retry_histogram&) = default;

  private:
    std::array<double, buckets> weights_{};
};

}  // namespace callsign
