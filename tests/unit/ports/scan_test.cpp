// A scan over any number of pages.

#include <callsign/ports/tables/accounts.hpp>
#include <callsign/ports/unit_of_work.hpp>

#include <gtest/gtest.h>
#include <memory>
#include <vector>

namespace callsign {
namespace {

// A given number of accounts, each of which fills a page.
class large_rows final : public row_reader {
  public:
    explicit large_rows(std::int64_t rows) : rows_(rows) {}

    row_ptr fetch(const index_info&, const row_key&, bool) override { return nullptr; }
    row_page scan(const row_range& range) override {
        limits.push_back(range.limit);
        const std::int64_t last = range.after_parts > 0 ? key_reader(range.after).integer() : 0;
        return {{std::make_shared<const account>(account{.id = account_id{last + 1}})},
                last + 1 == rows_};
    }

    std::vector<std::int64_t> limits;

  private:
    std::int64_t rows_;
};

TEST(scan, page_size_grows_up_to_a_limit) {
    constexpr std::int64_t rows = 200;
    large_rows all(rows);
    std::int64_t seen = 0;
    scan_rows(all, nullptr, range_of<accounts_by_id>().get(), [&](const row_ptr& row) {
        EXPECT_EQ(static_cast<const account*>(row.get())->id.value, ++seen);
        return true;
    });
    EXPECT_EQ(seen, rows);
    ASSERT_EQ(std::ssize(all.limits), rows);
    EXPECT_LT(all.limits.front(), std::int64_t{page_rows_max});
    for (std::size_t n = 1; n < all.limits.size(); ++n) {
        EXPECT_GE(all.limits[n], all.limits[n - 1]);
        EXPECT_LE(all.limits[n], std::int64_t{page_rows_max});
    }
}

TEST(scan, the_first_page_has_the_expected_number_of_rows) {
    const auto first_of = [](std::int64_t expected, std::int64_t limit) {
        large_rows all(10);
        const auto rows = range_of<accounts_by_id>().expect(expected).limit(limit);
        scan_rows(all, nullptr, rows.get(), [](const row_ptr&) { return false; });
        return all.limits.front();
    };
    EXPECT_EQ(first_of(100, 1000), 100);
    EXPECT_EQ(first_of(100, 7), 7) << "only 7 rows are wanted";
    EXPECT_EQ(first_of(0, 1000), 1);
    EXPECT_EQ(first_of(100'000, 1'000'000), std::int64_t{page_rows_max});
}

}  // namespace
}  // namespace callsign
