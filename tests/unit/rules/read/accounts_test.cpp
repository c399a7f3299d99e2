// Listings of accounts and series.

#include "unit/rules/fixture.hpp"

namespace callsign {
namespace {

using account_queries = rules_test;

TEST_F(account_queries, listings_come_in_pages) {
    for (const char* name : {"a", "b", "c"}) make(name);
    const auto first = ask(list_accounts{{.size = 2}});
    ASSERT_EQ(first.rows.size(), 2u);
    EXPECT_TRUE(first.has_more);
    const auto last = ask(list_accounts{{.size = 2, .after = first.rows.back().id.value}});
    ASSERT_EQ(last.rows.size(), 1u);
    EXPECT_EQ(last.rows[0].name, "c");
    EXPECT_FALSE(last.has_more);
    EXPECT_FALSE(ask(list_accounts{{.size = 3}}).has_more);
    EXPECT_FALSE(ask(list_series{std::string("nobody"), {}}));
    EXPECT_EQ(ask(list_series{std::string("a"), {}})->rows.size(), 1u);
}

}  // namespace
}  // namespace callsign
