// A chain imported from another server keeps the ids of its versions.

#include "unit/rules/fixture.hpp"

#include <callsign/rules/rows/accounts.hpp>

namespace callsign {
namespace {

class sealed_imports : public rules_test {
  protected:
    using version_answer = import_sealed_version::answer;
    version_answer take(const uuid& parent, const uuid& version) {
        return run(import_sealed_version{client, parent, version, "s"});
    }
    import_sealed_snapshot::answer take_snapshot(const uuid& version, std::int64_t since) {
        return run(import_sealed_snapshot{client, version, now_, since, "tasks"});
    }
    template <class Expected, class Answer>
    static bool is(const Answer& answer) {
        return std::holds_alternative<Expected>(answer);
    }

    const uuid client = uuid_of(900);
    const account_id account = make("vault", client);
};

TEST_F(sealed_imports, of_versions_may_be_repeated_and_may_not_branch) {
    using c = import_sealed_version;
    EXPECT_TRUE(is<c::imported>(take(uuid{}, uuid_of(1))));
    EXPECT_TRUE(is<c::imported>(take(uuid_of(1), uuid_of(2))));
    EXPECT_TRUE(is<c::there_already>(take(uuid{}, uuid_of(1))));
    EXPECT_TRUE(is<c::there_already>(take(uuid_of(1), uuid_of(2))));
    EXPECT_TRUE(is<c::differs>(take(uuid_of(1), uuid_of(3)))) << "a second child of its parent";
    EXPECT_TRUE(is<c::differs>(take(uuid_of(7), uuid_of(8)))) << "its parent is not the head";
    EXPECT_TRUE(is<c::differs>(take(uuid_of(2), uuid_of(1)))) << "a cycle";
    EXPECT_TRUE(is<c::differs>(take(uuid_of(2), uuid_of(2)))) << "its own parent";
    EXPECT_TRUE(is<c::differs>(take(uuid_of(2), uuid{}))) << "a nil id";
    EXPECT_EQ(accounts::head_of(*store_->begin_read(), account).version, uuid_of(2));
    EXPECT_TRUE(
        is<no_such_client>(run(import_sealed_version{uuid_of(5), uuid{}, uuid_of(1), "s"})));
}

TEST_F(sealed_imports, of_snapshots_keep_their_age) {
    using c = import_sealed_snapshot;
    take(uuid{}, uuid_of(1));
    EXPECT_TRUE(is<c::unknown_version>(take_snapshot(uuid_of(7), 0)));
    take(uuid_of(1), uuid_of(2));
    EXPECT_TRUE(is<c::imported>(take_snapshot(uuid_of(1), 1)));
    EXPECT_TRUE(is<c::there_already>(take_snapshot(uuid_of(1), 1)));
    const auto next = run(add_sealed_version{client, uuid_of(2), "s", false, account});
    EXPECT_EQ(std::get<add_sealed_version::added>(next).snapshot->versions, 1);
    EXPECT_TRUE(is<c::imported>(take_snapshot(uuid_of(2), 0))) << "a newer one";
    EXPECT_TRUE(is<no_such_client>(run(import_sealed_snapshot{uuid_of(5), {}, now_, 0, ""})));
}

// The rest of a history whose versions were deleted: clients continue after the snapshot.
TEST_F(sealed_imports, accept_a_snapshot_without_versions) {
    using c = import_sealed_snapshot;
    using version = add_sealed_version;
    EXPECT_TRUE(is<c::unknown_version>(take_snapshot(uuid{}, 0)));
    EXPECT_TRUE(is<c::imported>(take_snapshot(uuid_of(5), 0)));
    EXPECT_TRUE(is<c::there_already>(take_snapshot(uuid_of(5), 0)));
    EXPECT_TRUE(is<c::unknown_version>(take_snapshot(uuid_of(6), 0)));

    EXPECT_TRUE(is<up_to_date>(ask(find_sealed_child{account, uuid_of(5)})));
    EXPECT_TRUE(is<unknown_version>(ask(find_sealed_child{account, uuid{}})));
    EXPECT_TRUE(is<import_sealed_version::differs>(take(uuid{}, uuid_of(1))));
    const auto late = run(version{client, uuid{}, "s", false, account});
    EXPECT_EQ(std::get<version::expected_parent>(late).latest, uuid_of(5));
    const auto next = run(version{client, uuid_of(5), "s", false, account});
    EXPECT_EQ(std::get<version::added>(next).snapshot->versions, 0);
    const auto child = ask(find_sealed_child{account, uuid_of(5)});
    EXPECT_EQ(std::get<sealed_version>(child).id, std::get<version::added>(next).version);
    EXPECT_TRUE(is<c::there_already>(take_snapshot(uuid_of(5), 0)));
}

}  // namespace
}  // namespace callsign
