// Accounts, tokens, series and devices: a change of cached rows has an event.

#include "unit/rules/fixture.hpp"

namespace callsign {
namespace {

using aggregates = rules_test;

TEST_F(aggregates, changes_of_cached_rows_have_events) {
    const auto id = make("a");
    EXPECT_TRUE(was_told<events::account_created>());
    const auto made = std::get<device>(run(create_device{id, "laptop", uuid_of(901), "sealed"}));
    EXPECT_TRUE(was_told<events::device_created>());
    run(revoke_device{id, made.id});
    EXPECT_TRUE(was_told<events::device_revoked>());
    const auto given = std::get<token>(run(create_token{id, "t2", token_scope::read, sha256("2")}));
    EXPECT_TRUE(was_told<events::token_created>());
    run(revoke_token{given.id, id});
    EXPECT_TRUE(was_told<events::token_revoked>());
    run(create_series{id, "HOME", ""});
    EXPECT_TRUE(was_told<events::series_created>());
    told_.clear();
    run(revoke_token{given.id, id});
    run(revoke_device{id, made.id});
    EXPECT_TRUE(told_.empty()) << "repeating it changes nothing";
    run(register_client{uuid_of(902)});
    ASSERT_EQ(told_.size(), 1u);
    EXPECT_EQ(std::get<events::account_created>(told_[0]).client_id, uuid_of(902));
    told_.clear();
    run(register_client{uuid_of(902)});
    EXPECT_TRUE(told_.empty());
}

}  // namespace
}  // namespace callsign
