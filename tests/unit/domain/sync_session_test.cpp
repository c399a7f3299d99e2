// A device's sync as the server infers it from the device's requests.

#include <callsign/domain/sync_session.hpp>

#include <gtest/gtest.h>

namespace callsign {
namespace {

uuid version(int n) {
    return {{static_cast<std::uint8_t>(n)}};
}
std::vector<operation> changes(std::initializer_list<int> tasks) {
    std::vector<operation> all;
    for (const int n : tasks) {
        all.push_back({operation_kind::update, version(100 + n), "p", "v", precise_time{}});
    }
    return all;
}

struct sync_session_test : ::testing::Test {
    using next_batch = sync_session::next_batch;

    // The device pulls from its base, which is the head: nothing more to pull.
    void pull_to_end(int at) {
        EXPECT_TRUE(its.pull(version(at)));
        its.has_no_child(at);
    }
    void pull(int parent, int child, std::initializer_list<int> others = {}) {
        EXPECT_TRUE(its.pull(version(parent)));
        its.pulled(version(child), changes(others), parent);
    }
    // A push of a device after "up to date", or after its pull was held.
    bool push(int parent, std::initializer_list<int> batch, int taken,
              next_batch next = next_batch::none) {
        if (!its.push(version(parent), changes(batch), next)) return false;
        its.pushed(version(taken));
        return true;
    }

    sync_session its;
};

TEST_F(sync_session_test, a_held_device_pushes_and_one_that_ended_there_resumes) {
    ASSERT_TRUE(its.pull(version(1)));
    its.held(version(11), 5, 1);
    EXPECT_FALSE(its.pull(version(11))) << "it must push now";
    // The device had nothing to push, so its next sync begins at this version.
    const auto next = its.pull(version(11));
    ASSERT_TRUE(next);
    EXPECT_EQ(next->own_through, 5);
    // An interrupted sync begins where the one before began.
    EXPECT_EQ(its.pull(version(1))->own_through, std::nullopt);
}

TEST_F(sync_session_test, a_first_batch_may_be_about_what_others_changed) {
    pull(1, 2, {1, 2});
    pull_to_end(2);
    EXPECT_TRUE(push(2, {1, 2, 3}, 3));
}

TEST_F(sync_session_test, a_later_batch_about_what_was_pulled_before_an_earlier_one_is_rejected) {
    pull(1, 2, {1});
    pull_to_end(2);
    EXPECT_TRUE(push(2, {5}, 3));
    pull(3, 4, {6});
    pull_to_end(4);
    EXPECT_TRUE(push(4, {5, 6}, 5)) << "rebased over the version of another device";
    pull_to_end(5);
    EXPECT_FALSE(push(5, {7, 1}, 6));
    // The device begins again from its base with all batches.
    EXPECT_TRUE(its.pull(version(1))->pushes_first);
    its.held(version(11), 5, 1);
    EXPECT_FALSE(its.pull(version(11)));
    EXPECT_TRUE(push(11, {5}, 7));
    EXPECT_TRUE(its.pull(version(7))->pushes_first);
    its.held(version(17), 6, 1);
    EXPECT_FALSE(its.pull(version(17)));
    // The sync ended at this version: the next one pulls.
    EXPECT_FALSE(its.pull(version(17))->pushes_first);
}

// The change of another device may have dropped operations from the batch.
TEST_F(sync_session_test, a_task_that_others_change_before_two_batches_rejects_the_later_one) {
    pull(1, 2, {1});
    pull_to_end(2);
    EXPECT_TRUE(push(2, {5}, 3));
    pull(3, 4, {1});
    pull_to_end(4);
    EXPECT_FALSE(push(4, {6}, 5));
}

TEST_F(sync_session_test, more_tasks_than_are_tracked_count_as_all) {
    ASSERT_TRUE(its.pull(version(1)));
    std::vector<operation> many;
    for (std::size_t n = 0; n <= sync_session::others_tasks_max; ++n) {
        uuid id{};
        id.data[0] = static_cast<std::uint8_t>(n);
        id.data[1] = static_cast<std::uint8_t>(n >> 8);
        many.push_back({operation_kind::create, id, {}, {}, {}});
    }
    its.pulled(version(2), many, 1);
    pull_to_end(2);
    EXPECT_TRUE(push(2, {5}, 3));
    pull_to_end(3);
    EXPECT_FALSE(push(3, {6}, 4));
}

TEST_F(sync_session_test, a_device_that_has_another_batch_is_known_by_the_size_of_the_last) {
    pull_to_end(1);
    EXPECT_TRUE(push(1, {5}, 2, next_batch::likely));
    EXPECT_TRUE(its.pull(version(2))->has_another_batch);
    its.held(version(12), 5, 1);
    EXPECT_FALSE(its.pull(version(12)));
    EXPECT_TRUE(push(12, {6}, 3, next_batch::possible));
    EXPECT_FALSE(its.pull(version(3))->has_another_batch);
    its.pulled(version(4), {}, 3);
    pull_to_end(4);
    // There was no other batch: the next sync receives the versions that follow.
    pull_to_end(4);
    EXPECT_TRUE(push(4, {7}, 5, next_batch::likely));
    EXPECT_TRUE(its.pull(version(5))->has_another_batch);
    its.held(version(15), 8, 4);
    EXPECT_FALSE(its.pull(version(15)));
    const auto next = its.pull(version(15));
    EXPECT_FALSE(next->has_another_batch);
    EXPECT_EQ(next->own_through, 8);
}

// This holds as long as the device pulls.
TEST_F(sync_session_test, a_device_that_lacked_too_much_pulls_and_may_push_again) {
    pull_to_end(1);
    EXPECT_TRUE(push(1, {5}, 2, next_batch::likely));
    pull(2, 3);
    EXPECT_TRUE(its.pull(version(3))->has_another_batch);
}

// A non-stock client may push one batch in pieces.
TEST_F(sync_session_test, a_piece_after_another_one_belongs_to_the_same_batch) {
    pull(1, 2, {1});
    pull_to_end(2);
    EXPECT_TRUE(push(2, {5}, 3));
    EXPECT_TRUE(push(3, {1}, 4));
}

TEST_F(sync_session_test, tasks_pulled_in_one_sync_do_not_affect_the_next) {
    pull(1, 2, {1});
    pull_to_end(2);
    EXPECT_TRUE(push(2, {5}, 3));
    pull_to_end(3);
    pull_to_end(3);
    EXPECT_TRUE(push(3, {1}, 4));
}

TEST_F(sync_session_test, a_device_that_is_too_far_behind_pulls_first) {
    pull(1, 2, {1});
    EXPECT_TRUE(push(2, {5}, 3));
    pull_to_end(3);
    EXPECT_FALSE(push(3, {1}, 4));
    its.is_too_far_behind();
    const auto next = its.pull(version(1));
    EXPECT_FALSE(next->pushes_first);
    EXPECT_TRUE(next->pulls_first);
    EXPECT_FALSE(next->pulls_own);
    its.pulled(version(2), changes({1}), 1);
    EXPECT_TRUE(push(2, {5}, 3));
    pull_to_end(3);
    EXPECT_TRUE(push(3, {1}, 4)) << "otherwise it would be rejected forever";
}

TEST_F(sync_session_test, a_device_that_is_too_far_behind_twice_pulls_its_own_versions_too) {
    for (int n = 0; n < 2; ++n) {
        EXPECT_FALSE(its.pull(version(1))->pulls_own);
        its.held(version(11), 5, 1);
        EXPECT_FALSE(its.pull(version(11)));
        EXPECT_TRUE(its.push(version(11), changes({1}), next_batch::none));
        its.is_too_far_behind();
    }
    EXPECT_TRUE(its.pull(version(1))->pulls_own);
    pull_to_end(2);
    pull_to_end(2);
    EXPECT_FALSE(its.pull(version(2))->pulls_own) << "its batches are pushed by now";
}

// The server was restarted during the sync.
TEST_F(sync_session_test, a_sync_that_may_be_resumed_pushes_no_large_batch) {
    its = sync_session(true);
    EXPECT_TRUE(its.pull(version(2))->may_be_resumed);
    its.has_no_child(2);
    EXPECT_FALSE(its.push(version(2), changes({5}), next_batch::possible));
    EXPECT_FALSE(its.pull(version(2))->may_be_resumed) << "the session has seen it begin";
    its = sync_session(true);
    EXPECT_FALSE(its.pull(uuid{})->may_be_resumed) << "the device has no version yet";
    its = sync_session(true);
    EXPECT_FALSE(its.push(version(2), changes({5}), next_batch::possible)) << "without a pull";
}

// An interrupted sync begins again where it began before; a replica that returns to a version
// before its last commit is another replica.
TEST_F(sync_session_test, a_client_id_that_goes_back_repeatedly_is_shared) {
    for (int n = 0; n < 3; ++n) {
        pull(1, 9);
        EXPECT_FALSE(its.pull(version(1))->is_shared);
    }
    for (int n = 0; n < sync_session::shared_from; ++n) {
        pull_to_end(10 + n);
        pull_to_end(10 + n);
        EXPECT_FALSE(its.pull(version(2))->is_shared);
        its.pulled(version(3), {}, 2);
    }
    EXPECT_TRUE(its.pull(version(2))->is_shared);
    pull(2, 3, {1});
    EXPECT_TRUE(push(3, {5}, 4));
    pull_to_end(4);
    EXPECT_TRUE(push(4, {1}, 5));
}

TEST_F(sync_session_test, replicas_that_share_a_client_id_each_resume_from_their_version) {
    for (std::size_t n = 0; n <= sync_session::names_max; ++n) {
        ASSERT_TRUE(its.pull(version(1)));
        its.held(version(20 + static_cast<int>(n)), static_cast<std::int64_t>(n), 1);
    }
    EXPECT_EQ(its.pull(version(20))->own_through, std::nullopt);
    EXPECT_EQ(its.pull(version(21))->own_through, 1);
    EXPECT_EQ(its.pull(version(28))->own_through, 8);
}

TEST_F(sync_session_test, changes_in_a_snapshot_need_not_be_pushed_again) {
    ASSERT_TRUE(its.pull(version(1)));
    EXPECT_TRUE(push(1, {5}, 2));
    its.merged(7);
    EXPECT_EQ(its.pull(version(2))->own_through, 7);
}

}  // namespace
}  // namespace callsign
