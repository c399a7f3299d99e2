// Goal: the histogram's quantiles equal those of the durations, to within a bucket. Method: random
// durations, compared with the exact quantile of their sorted list.

#include <callsign/domain/retry_histogram.hpp>

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <rapidcheck/gtest.h>
#include <vector>

namespace callsign {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

// Uniform over the orders of magnitude, and beyond both ends.
rc::Gen<std::vector<milliseconds>> some_durations() {
    const auto one = rc::gen::map(rc::gen::inRange(-1000, 31'000), [](int millis_of_doublings) {
        return milliseconds{std::llround(std::exp2(millis_of_doublings / 1000.0))};
    });
    return rc::gen::nonEmpty(rc::gen::container<std::vector<milliseconds>>(one));
}

milliseconds exact_quantile(std::vector<milliseconds> all, double q) {
    std::sort(all.begin(), all.end());
    const auto rank = std::ceil(q * static_cast<double>(all.size()) - 1e-9);
    return all[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

TEST(retry_histogram, buckets_lie_eight_to_a_doubling) {
    using h = retry_histogram;
    EXPECT_EQ(h::upper_edge(0), 10ms);
    EXPECT_EQ(h::upper_edge(8), 20ms);
    EXPECT_EQ(h::upper_edge(h::buckets - 1), h::longest);
    for (std::size_t i = 1; i < h::buckets; ++i) {
        const auto below = h::upper_edge(i - 1), edge = h::upper_edge(i);
        ASSERT_LT(below, edge);
        EXPECT_EQ(h::bucket_of(edge), i);
        EXPECT_EQ(h::bucket_of(below + 1ms), i);
        EXPECT_LE(static_cast<double>((edge - 1ms).count()),
                  static_cast<double>(below.count()) * (1 + h::error_max));
    }
}

TEST(retry_histogram, what_is_beyond_the_ends_counts_as_the_ends) {
    retry_histogram h;
    h.add(milliseconds::min());
    h.add(0ms);
    EXPECT_EQ(h.quantile(1), 10ms);
    h.add(milliseconds::max(), 3);
    EXPECT_EQ(h.quantile(0.5), retry_histogram::longest);
    EXPECT_EQ(h.samples(), 5);
}

TEST(retry_histogram, an_empty_one_has_no_quantile) {
    EXPECT_FALSE(retry_histogram{}.quantile(0.99));
    EXPECT_EQ(retry_histogram{}.longer_than(0ms), 0);
    EXPECT_EQ(retry_histogram{}.sum_up_to(1h), 0);
}

RC_GTEST_PROP(retry_histogram, a_quantile_is_within_its_bucket_of_the_exact_one, ()) {
    const auto all = *some_durations();
    const double q = *rc::gen::element(0.01, 0.5, 0.9, 0.99, 0.999, 1.0);
    retry_histogram h;
    for (const milliseconds d : all) h.add(d);
    const auto exact =
        std::clamp(exact_quantile(all, q), retry_histogram::shortest, retry_histogram::longest);
    const auto said = *h.quantile(q);
    RC_ASSERT(said >= exact);
    RC_ASSERT(static_cast<double>((said - 1ms).count()) <=
              static_cast<double>(exact.count()) * (1 + retry_histogram::error_max));
}

// Quantiles are the same for any weight of the samples: decayed samples have any weight.
RC_GTEST_PROP(retry_histogram, quantiles_do_not_depend_on_the_unit_of_weight, ()) {
    const auto all = *some_durations();
    const double weight = std::exp2(*rc::gen::inRange(-100, 100));
    retry_histogram one, other;
    for (const milliseconds d : all) {
        one.add(d);
        other.add(d, weight);
    }
    for (const double q : {0.5, 0.9, 0.99}) RC_ASSERT(one.quantile(q) == other.quantile(q));
}

RC_GTEST_PROP(retry_histogram, two_added_together_equal_one_of_both, ()) {
    const auto first = *some_durations(), second = *some_durations();
    retry_histogram one, other, both;
    for (const milliseconds d : first) one.add(d), both.add(d);
    for (const milliseconds d : second) other.add(d), both.add(d);
    one.add(other);
    RC_ASSERT(one == both);
}

RC_GTEST_PROP(retry_histogram, what_took_longer_is_counted_but_for_one_bucket, ()) {
    const auto all = *some_durations();
    const auto window = milliseconds{*rc::gen::inRange(10, 600'000'000)};
    retry_histogram h;
    for (const milliseconds d : all) h.add(d);
    const auto longer = std::count_if(all.begin(), all.end(), [&](milliseconds d) {
        return retry_histogram::bucket_of(d) > retry_histogram::bucket_of(window);
    });
    RC_ASSERT(h.longer_than(window) == static_cast<double>(longer));
    RC_ASSERT(h.sum_up_to(window) <=
              static_cast<double>(window.count()) * static_cast<double>(all.size()));
}

TEST(retry_histogram, halving_is_exact_in_any_steps) {
    retry_histogram at_once, in_steps;
    at_once.add(3s, 1.0 / 3);
    in_steps = at_once;
    at_once.halve(40);
    for (int i = 0; i < 20; ++i) in_steps.halve(2);
    EXPECT_EQ(at_once, in_steps);
}

TEST(retry_histogram, a_record_that_add_could_not_have_made_is_rejected) {
    retry_histogram h;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    EXPECT_FALSE(h.set(retry_histogram::buckets, 1));
    EXPECT_FALSE(h.set(0, -1));
    EXPECT_FALSE(h.set(0, infinity));
    EXPECT_FALSE(h.set(0, std::numeric_limits<double>::quiet_NaN()));
    EXPECT_FALSE(h.set(0, retry_histogram::weight_max * 2));
    EXPECT_EQ(h, retry_histogram{});
    EXPECT_TRUE(h.set(5, 0.25));
    EXPECT_EQ(h.weight(5), 0.25);
}

// Sums stay finite for any samples.
TEST(retry_histogram, weights_do_not_overflow) {
    retry_histogram h;
    for (int i = 0; i < 10; ++i) {
        for (std::size_t b = 0; b < retry_histogram::buckets; ++b) {
            h.add(retry_histogram::upper_edge(b), retry_histogram::weight_max);
        }
        h.add(h, retry_histogram::weight_max);
    }
    EXPECT_TRUE(std::isfinite(h.samples()));
    EXPECT_TRUE(std::isfinite(h.sum_up_to(milliseconds::max())));
    EXPECT_TRUE(h.quantile(0.99));
}

}  // namespace
}  // namespace callsign
