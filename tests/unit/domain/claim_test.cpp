#include <callsign/domain/command.hpp>
#include <callsign/domain/query.hpp>

#include <gtest/gtest.h>

namespace callsign {
namespace {

// A command with some of its members set.
template <class Command, class Set>
Command with(Set set) {
    Command c;
    set(c);
    return c;
}

TEST(claim, a_command_counts_on_its_account) {
    const auto of_seven = [](auto& c) { c.account = account_id{7}; };
    EXPECT_EQ(claim_of(with<reserve>(of_seven)).who, payer(account_id{7}));
    EXPECT_EQ(claim_of_any(with<edit_task>(of_seven)).who, payer(account_id{7}));
    EXPECT_EQ(claim_of(with<import_tasks>(of_seven)).who, payer(account_id{7}));
    EXPECT_EQ(claim_of(with<add_version>(of_seven)).who, payer(account_id{7}));
}

TEST(claim, all_anonymous_clients_are_one) {
    add_sealed_version unknown;
    unknown.may_register = true;
    EXPECT_EQ(claim_of(unknown).who, payer::anonymous());
    EXPECT_EQ(claim_of(add_sealed_snapshot{}).who, payer::anonymous());
    unknown.account = account_id{7};
    EXPECT_EQ(claim_of(unknown).who, payer(account_id{7}));
}

TEST(claim, operators_and_the_system_share_with_no_account) {
    EXPECT_EQ(claim_of(create_account{}).who, payer::operators());
    EXPECT_EQ(claim_of(import_sealed_version{}).who, payer::operators());
    EXPECT_EQ(claim_of(revoke_token{}).who, payer::operators());
    EXPECT_TRUE(claim_of(reconcile_pending{}).who.is_system());
    EXPECT_TRUE(claim_of(forget_settled{}).who.is_system());
}

// Cost is proportional to size: a command with more content weighs more, by about as much.
TEST(claim, a_command_weighs_what_it_carries) {
    const std::string much(100'000, 'x');
    const auto weighs = [](const command& c) { return claim_of_any(c).price.weight(); };
    const auto grown = [&](const command& small, const command& large) {
        return weighs(large) - weighs(small);
    };
    const auto segment_of = [&](auto& c) { c.segment = much; };
    const auto bytes_of = [&](auto& c) { c.bytes = much; };
    const auto heavier = [&]<class Command>(const Command& with_it) {
        return grown(Command{}, with_it);
    };
    EXPECT_EQ(heavier(with<fulfil>([&](auto& c) { c.attributes["description"] = much; })),
              100'011u);
    EXPECT_EQ(heavier(with<reserve>([&](auto& c) { c.key = much; })), 100'000u);
    EXPECT_EQ(heavier(with<edit_task>([&](auto& c) { c.bytes = 100'000; })), 100'000u);
    EXPECT_EQ(heavier(with<add_sealed_version>(segment_of)), 100'000u);
    EXPECT_EQ(heavier(with<import_sealed_version>(segment_of)), 100'000u);
    EXPECT_EQ(heavier(with<add_sealed_snapshot>(bytes_of)), 100'000u);
    EXPECT_EQ(heavier(with<import_sealed_snapshot>(bytes_of)), 100'000u);

    add_version segment;
    segment.bytes = 100'000;
    EXPECT_EQ(grown(add_version{}, segment), 100'000u);
    segment.operations.resize(100);
    EXPECT_GT(grown(add_version{}, segment), 500'000u);
    import_tasks import;
    import.tasks.resize(100);
    EXPECT_GT(grown(import_tasks{}, import), 400'000u);
    manage_account manage;
    manage.history.resize(50);
    manage.tasks.resize(50);
    EXPECT_GE(grown(manage_account{}, manage), 400'000u);
    edit_task edit;
    edit.changes.resize(100);
    EXPECT_GE(grown(edit_task{}, edit), 400'000u);
    // Each ref is a look-up, and in an edit also a change.
    edit_task refs;
    refs.depends.emplace(100);
    EXPECT_EQ(claim_of(refs).price.rows, 100u);
    EXPECT_EQ(claim_of(refs).price.operations, 101u);
    EXPECT_EQ(claim_of(with<reserve>([](auto& c) { c.depends.resize(100); })).price.rows, 100u);
    EXPECT_GT(heavier(with<reconcile_pending>([](auto& c) { c.limit = 100; })), 100'000u);
    EXPECT_GT(heavier(with<forget_settled>([](auto& c) { c.limit = 100; })), 200'000u);
}

}  // namespace
}  // namespace callsign
