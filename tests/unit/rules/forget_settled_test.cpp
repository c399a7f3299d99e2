// The second half of a sweep: deletion of expired settled slots and fork versions.

#include "unit/rules/fixture.hpp"

#include <callsign/rules/rows/accounts.hpp>

namespace callsign {
namespace {

using forgotten = managed_account;

TEST_F(forgotten, slots_are_settled_longer_than_the_retention) {
    constexpr milliseconds retention{1'000};
    const auto is_known = [&](const char* key) {
        return ask(find_slot{account_, key}).has_value();
    };
    const auto settled = reserved("settled");
    reserved("pending");
    run(fulfil{settled, "", {}});
    const time_point at = now_;
    // the sweep runs when the slot is exactly as old as the retention
    now_ = at + retention - milliseconds{1};
    EXPECT_EQ(run(forget_settled{{}, 10, retention}).forgotten, 0);
    EXPECT_TRUE(is_known("settled"));
    now_ = at + retention;
    EXPECT_EQ(run(forget_settled{{}, 10, retention}).forgotten, 1);
    EXPECT_FALSE(is_known("settled"));
    now_ += 100 * retention;
    EXPECT_EQ(run(forget_settled{{}, 10, retention}).forgotten, 0);
    EXPECT_TRUE(is_known("pending")) << "at any age";
}

// The idempotency key is free again; its task and number stay.
TEST_F(forgotten, a_key_creates_another_task) {
    const auto create_with = [&](const char* key) {
        return key_of(std::get<receipted>(run(fulfil{reserved(key), "", {}})).receipt);
    };
    EXPECT_EQ(create_with("k"), "SYN-1");
    now_ += std::chrono::hours{1};
    run(forget_settled{{}, 10, milliseconds{1}});
    EXPECT_EQ(create_with("k"), "SYN-2");
    EXPECT_TRUE(std::holds_alternative<task>(ask(find_task{account_, *parse_task_ref("SYN-1")})));
}

TEST_F(forgotten, fork_versions_are_as_old) {
    send({create(uuid_of(1))});
    const auto late = std::get<add_version::added>(send(phone, uuid{}, {create(uuid_of(2))}));
    now_ += std::chrono::hours{1};
    run(forget_settled{slot_id{}, 10, std::chrono::hours{2}});
    EXPECT_TRUE(std::holds_alternative<find_child::next_version>(child_of(late.version)));
    run(forget_settled{slot_id{}, 10, milliseconds{1}});
    EXPECT_TRUE(std::holds_alternative<unknown_version>(child_of(late.version)));
    EXPECT_TRUE(std::holds_alternative<add_version::unknown_parent>(
        send(phone, late.version, {create(uuid_of(3))})));
}

// Task history has its own retention, independent of slots, and is deleted a few rows per step.
TEST_F(forgotten, task_history_has_its_own_retention) {
    constexpr auto hour = std::chrono::hours{1};
    key_attribute_ = "";
    send({create(uuid_of(1)), update(uuid_of(1), "p", "0")});
    for (int n = 1; n <= 5; ++n) send({update(uuid_of(1), "p", std::to_string(n))});
    const auto begins = [&] { return accounts::history_from(*store_->begin_read(), account_); };
    now_ += hour;
    EXPECT_FALSE(run(forget_settled{{}, 2, milliseconds{1}, 2 * hour}).next);
    EXPECT_EQ(begins(), 0);
    EXPECT_TRUE(run(forget_settled{{}, 2, 9 * hour, milliseconds{1}}).next);
    EXPECT_EQ(begins(), 2);
    EXPECT_TRUE(run(forget_settled{{}, 2, 9 * hour, milliseconds{1}}).next);
    EXPECT_FALSE(run(forget_settled{{}, 2, 9 * hour, milliseconds{1}}).next);
    EXPECT_EQ(begins(), 5);
    EXPECT_EQ(attribute(uuid_of(1), "p"), "5");
}

}  // namespace
}  // namespace callsign
