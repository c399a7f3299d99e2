// The chain of an opaque account: versions are added to its head only, and only a newer snapshot is
// stored.

#include "unit/rules/fixture.hpp"

#include <callsign/rules/rows/accounts.hpp>

namespace callsign {
namespace {

class sealed_chain : public rules_test {
  protected:
    add_sealed_version::answer add(const uuid& parent, std::string segment = "s") {
        return run(add_sealed_version{client, parent, std::move(segment), false, account});
    }
    uuid added(const uuid& parent) {
        return std::get<add_sealed_version::added>(add(parent)).version;
    }
    bool is_kept(const uuid& version) {
        const auto answer = run(add_sealed_snapshot{client, version, "tasks", account});
        return std::get<add_sealed_snapshot::considered>(answer).kept;
    }

    const uuid client = uuid_of(900);
    const account_id account = make("vault", client);
};

TEST_F(sealed_chain, accepts_any_first_parent_and_then_its_head_only) {
    const uuid first = added(uuid_of(77));
    const uuid second = added(first);
    for (const uuid& parent : {uuid{}, first, uuid_of(77), uuid_of(5)}) {
        EXPECT_EQ(std::get<add_sealed_version::expected_parent>(add(parent)).latest, second);
    }
    EXPECT_EQ(accounts::head_of(*store_->begin_read(), account).seq, 2);
}

TEST_F(sealed_chain, registers_unknown_clients_where_allowed) {
    add_sealed_version c{uuid_of(901), {}, "s", false, {}};
    EXPECT_TRUE(std::holds_alternative<no_such_client>(run(c)));
    c.may_register = true;
    const auto theirs = std::get<add_sealed_version::added>(run(c)).account;
    EXPECT_NE(theirs, account);
    EXPECT_EQ(run(register_client{uuid_of(901)}).account.id, theirs);
    EXPECT_EQ(run(register_client{uuid_of(901)}).head.seq, 1);
}

TEST_F(sealed_chain, does_not_exist_once_the_account_is_managed) {
    const auto managed = make("board");
    run(create_device{managed, "laptop", uuid_of(902), "sealed"});
    const add_sealed_version c{uuid_of(902), {}, "s", true, {}};
    EXPECT_TRUE(std::holds_alternative<account_changed>(run(c)));
    const add_sealed_snapshot d{uuid_of(902), uuid_of(1), "tasks", {}};
    EXPECT_TRUE(std::holds_alternative<account_changed>(run(d)));
}

TEST_F(sealed_chain, stores_a_snapshot_that_is_newer_and_near_its_head) {
    EXPECT_FALSE(is_kept(uuid_of(1))) << "its version does not exist";
    std::vector<uuid> all{uuid{}};
    for (int n = 0; n < 7; ++n) all.push_back(added(all.back()));
    EXPECT_FALSE(is_kept(all[7 - add_sealed_snapshot::versions_back_max - 1]));
    EXPECT_TRUE(is_kept(all[7 - add_sealed_snapshot::versions_back_max]));
    EXPECT_TRUE(is_kept(all[5]));
    EXPECT_FALSE(is_kept(all[5])) << "it exists already";
    EXPECT_FALSE(is_kept(all[4])) << "it is older";
    EXPECT_FALSE(is_kept(uuid{}));
    EXPECT_TRUE(is_kept(all[7]));
    const add_sealed_snapshot unknown{uuid_of(901), all[7], "tasks", {}};
    EXPECT_TRUE(std::holds_alternative<no_such_client>(run(unknown)));
}

// The age counts from the instant of the snapshot, in versions and in time.
TEST_F(sealed_chain, reports_the_age_of_its_snapshot) {
    const uuid first = added(uuid{});
    EXPECT_TRUE(is_kept(first));
    const time_point taken = now_;
    now_ += std::chrono::hours{1};
    const auto next = std::get<add_sealed_version::added>(add(first));
    ASSERT_TRUE(next.snapshot);
    EXPECT_EQ(next.snapshot->versions, 0);
    EXPECT_EQ(next.snapshot->age, now_ - taken);
    EXPECT_EQ(std::get<add_sealed_version::added>(add(next.version)).snapshot->versions, 1);
}

}  // namespace
}  // namespace callsign
