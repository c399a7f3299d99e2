// The second half of a sweep: deletion of expired settled slots and fork versions.

#include "unit/rules/fixture.hpp"

#include <callsign/rules/rows/accounts.hpp>

namespace callsign {
namespace {

using forgotten = managed_account;

// Failed slots, and those of tasks that another request or a device created.
TEST_F(forgotten, slots_are_settled_longer_than_the_retention) {
    constexpr milliseconds retention{1'000};
    const auto is_known = [&](const char* key) {
        return ask(find_slot{account_, key}).has_value();
    };
    send({create(uuid_of(1))});
    run(reserve{account_, "settled", {}, uuid_of(1), ""});
    reserved("pending");
    const time_point at = now_ - milliseconds{1};
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
    run(reconcile_pending{{}, 10, retention, {}});
    ASSERT_EQ(ask(find_slot{account_, "pending"})->slot.state, slot_state::failed);
    now_ += 100 * retention;
    EXPECT_EQ(run(forget_settled{{}, 10, retention}).forgotten, 1);
    EXPECT_FALSE(is_known("pending"));
}

// One retry after any time, and even after a purge, creates no second task.
TEST_F(forgotten, a_key_is_kept_as_long_as_the_task_that_it_created) {
    const auto made = std::get<receipted>(run(fulfil{reserved("k"), "", {}})).receipt;
    now_ += std::chrono::hours{24 * 3650};
    EXPECT_EQ(run(forget_settled{{}, 10, milliseconds{1}}).forgotten, 0);
    const auto retry = [&](const char* payload = "") {
        return run(reserve{account_, "k", sha256(payload), {}, ""});
    };
    EXPECT_EQ(std::get<receipted>(run(reserve{account_, "k", {}, {}, ""})).receipt, made);
    run(edit_task{.account = account_, .task = made.uuid, .purge = true});
    now_ += std::chrono::hours{24 * 3650};
    EXPECT_EQ(run(forget_settled{{}, 10, milliseconds{1}}).forgotten, 0);
    EXPECT_EQ(std::get<receipted>(retry()).receipt, made);
}

// A fingerprint would confirm a guess of the purged text.
TEST_F(forgotten, the_fingerprint_of_a_purged_task_is_removed) {
    reserve c{account_, "k", sha256("secret"), {}, ""};
    const auto id = std::get<reserve::reserved>(run(c)).slot;
    const auto made = std::get<receipted>(run(fulfil{id, "", {}})).receipt;
    c.fingerprint = sha256("other");
    EXPECT_TRUE(std::holds_alternative<key_conflict>(run(c)));
    run(edit_task{.account = account_, .task = made.uuid, .purge = true});
    EXPECT_EQ(ask(find_slot{account_, "k"})->slot.fingerprint, digest{});
    EXPECT_EQ(std::get<receipted>(run(c)).receipt, made) << "no longer compared";
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
