#include <callsign/net/body_budget.hpp>

#include <gtest/gtest.h>

namespace callsign::net {
namespace {

TEST(body_budget, has_one_total) {
    body_budget budget(100, 100);
    EXPECT_TRUE(budget.take(account_id{1}, 60));
    EXPECT_FALSE(budget.take(account_id{2}, 41));
    EXPECT_TRUE(budget.take(account_id{2}, 40));
    EXPECT_EQ(budget.held(), 100u);
    EXPECT_FALSE(budget.take(account_id{3}, 1));
    EXPECT_TRUE(budget.take(account_id{3}, 0));
    budget.give_back(account_id{1}, 60);
    EXPECT_TRUE(budget.take(account_id{3}, 60));
    EXPECT_EQ(budget.held_by(account_id{1}), 0u);
    EXPECT_EQ(budget.held_by(account_id{3}), 60u);
}

TEST(body_budget, no_payer_holds_more_than_its_share) {
    body_budget budget(100, 70);
    EXPECT_FALSE(budget.take(account_id{1}, 71));
    EXPECT_TRUE(budget.take(account_id{1}, 70));
    EXPECT_FALSE(budget.take(account_id{1}, 1));
    EXPECT_TRUE(budget.take(account_id{2}, 30));
    budget.give_back(account_id{1}, 1);
    EXPECT_TRUE(budget.take(account_id{1}, 1));
}

// Memory that is taken and released in any order is released completely.
TEST(body_budget, a_lease_releases_what_it_holds) {
    const auto budget = std::make_shared<body_budget>(100, 100);
    {
        body_lease a(budget, account_id{7});
        EXPECT_TRUE(a.reserve(40));
        EXPECT_TRUE(a.reserve(20));
        EXPECT_FALSE(a.reserve(41));
        EXPECT_EQ(a.bytes(), 60u);
        EXPECT_TRUE(a.resize(10));
        EXPECT_EQ(budget->held_by(account_id{7}), 10u);
        EXPECT_FALSE(a.resize(101));
        EXPECT_EQ(a.bytes(), 10u);
        body_lease b(std::move(a));
        EXPECT_EQ(budget->held(), 10u);
        body_lease c(budget, account_id{8});
        EXPECT_TRUE(c.reserve(90));
        c = std::move(b);
        EXPECT_EQ(budget->held(), 10u);
        EXPECT_EQ(budget->held_by(account_id{8}), 0u);
        c.pays(account_id{9});
        EXPECT_EQ(budget->held_by(account_id{7}), 0u);
        EXPECT_TRUE(c.reserve(5));
        EXPECT_EQ(budget->held_by(account_id{9}), 15u);
    }
    EXPECT_EQ(budget->held(), 0u);
}

TEST(body_budget, a_lease_of_no_budget_is_granted_all) {
    body_lease free;
    EXPECT_TRUE(free.reserve(std::size_t{1} << 60));
    EXPECT_TRUE(free.resize(5));
    EXPECT_EQ(free.bytes(), 5u);
}

}  // namespace
}  // namespace callsign::net
