// Goal: the auditor reads around unreadable rows: each row after them is read once, in order, and
// the skipped ones are reported. Its checks are tested with corrupt stores:
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

// A table with the given rows, of which some are unreadable.
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

TEST(audit, reads_all_rows_once_with_any_page_size) {
    const auto rows = first_rows(50);
    for (const std::int64_t page : {1, 7, 25, 50, 64}) {
        const auto all = read(rows, {}, page);
        EXPECT_EQ(all.seen, places(rows.begin(), rows.end()));
        EXPECT_TRUE(all.passed.empty());
    }
}

TEST(audit, skips_single_rows_and_no_others) {
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

TEST(audit, resumes_after_a_range_and_ends_after_the_last_row) {
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

// Otherwise the auditor would not terminate.
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
