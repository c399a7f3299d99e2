// Goal: the auditor reads around what cannot be read: each row behind it is seen once, in order,
// and what was passed over is told. What it proves is tested where stores can be damaged:
// tests/unit/store/check_test.cpp.

#include "rules/audit/parts.hpp"

#include <gtest/gtest.h>
#include <set>

namespace callsign::rules::auditing {
namespace {

using places = std::vector<std::int64_t>;

struct reading {
    places seen;
    std::vector<std::pair<std::int64_t, std::int64_t>> passed;
};

// A table with rows at `rows`, of which some cannot be read.
reading read(const std::set<std::int64_t>& rows, const std::set<std::int64_t>& damaged,
             std::int64_t page_rows) {
    reading all;
    each_row(
        page_rows,
        [&](std::int64_t after, std::int64_t limit) {
            places page;
            for (auto at = rows.upper_bound(after); at != rows.end() && std::ssize(page) < limit;
                 ++at) {
                if (damaged.contains(*at)) throw_damaged("rows", *at, "it is other bytes");
                page.push_back(*at);
            }
            return page;
        },
        [](std::int64_t row) { return row; }, [&](std::int64_t row) { all.seen.push_back(row); },
        [&](std::int64_t from, std::int64_t to, const std::string& why) {
            EXPECT_NE(why.find("other bytes"), why.npos);
            all.passed.emplace_back(from, to);
        });
    return all;
}

std::set<std::int64_t> first_rows(std::int64_t n) {
    std::set<std::int64_t> all;
    for (std::int64_t i = 1; i <= n; ++i) all.insert(i);
    return all;
}

TEST(audit, reads_all_rows_once_whatever_the_page) {
    const auto rows = first_rows(50);
    for (const std::int64_t page : {1, 7, 25, 50, 64}) {
        const auto all = read(rows, {}, page);
        EXPECT_EQ(all.seen, places(rows.begin(), rows.end()));
        EXPECT_TRUE(all.passed.empty());
    }
}

TEST(audit, passes_over_single_rows_and_no_others) {
    const auto rows = first_rows(50);
    const std::set<std::int64_t> damaged{1, 2, 9, 31, 33, 50};
    for (const std::int64_t page : {1, 8, 64}) {
        const auto all = read(rows, damaged, page);
        EXPECT_EQ(all.seen.size(), 44u);
        for (const std::int64_t row : all.seen) EXPECT_FALSE(damaged.contains(row));
        EXPECT_TRUE(std::ranges::is_sorted(all.seen));
        EXPECT_EQ(all.passed.back(), std::pair(std::int64_t{49}, std::int64_t{50}));
    }
}

TEST(audit, goes_on_behind_a_stretch_and_ends_where_nothing_follows) {
    auto rows = first_rows(1000);
    std::set<std::int64_t> damaged;
    for (std::int64_t i = 300; i < 700; ++i) damaged.insert(i);
    const auto all = read(rows, damaged, 32);
    ASSERT_EQ(all.passed.size(), 1u);
    EXPECT_EQ(all.passed[0].first, 299);
    EXPECT_GE(all.passed[0].second, 699);
    EXPECT_EQ(all.seen.back(), 1000);
    for (std::int64_t i = 700; i <= 1000; ++i) damaged.insert(i);
    const auto rest = read(rows, damaged, 32);
    EXPECT_EQ(rest.seen.back(), 299);
    EXPECT_EQ(rest.passed.size(), 1u);
}

// Otherwise it would be led round and round.
TEST(audit, does_not_follow_rows_that_are_out_of_order) {
    int pages = 0;
    bool was_told = false;
    each_row(
        4,
        [&](std::int64_t, std::int64_t limit) {
            EXPECT_LT(++pages, 1000);
            return places(static_cast<std::size_t>(limit), 5);
        },
        [](std::int64_t row) { return row; }, [](std::int64_t) {},
        [&](std::int64_t, std::int64_t, const std::string&) { was_told = true; });
    EXPECT_TRUE(was_told);
}

}  // namespace
}  // namespace callsign::rules::auditing
