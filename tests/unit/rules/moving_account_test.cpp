// A local account whose tasks move to a remote server.

#include "fixture.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/remotes.hpp>
#include <callsign/rules/rows/tasks.hpp>

#include <gtest/gtest.h>

namespace callsign {
namespace {

// A local account with five tasks, and its move to the remote server.
class moving_account : public rules_test {
  protected:
    moving_account() {
        account_ = std::get<account>(run(create_account{"team", "SYN", "t", sha256("team")})).id;
        for (int n = 1; n <= 5; ++n) make("k" + std::to_string(n));
    }

    receipt make(const std::string& key) {
        const auto begun = run(reserve{account_, key, {}, {}, ""});
        const slot_id id = std::get<reserve::reserved>(begun).slot;
        const auto done = run(fulfil{id, "", {{"description", key}}});
        return std::get<receipted>(done).receipt;
    }
    move_to_remote::answer move() {
        return run(move_to_remote{account_, "https://example.com/", uuid_of(900), "key"});
    }
    take_delivery::taken take(std::int64_t tasks = 500) {
        return std::get<take_delivery::taken>(
            run(take_delivery{.account = account_, .effects_max = tasks}));
    }
    settle::answer settle_as(const take_delivery::taken& sent, const uuid& version) {
        return run(settle{account_, sent.parent, version, sent.operations, sent.parts});
    }
    remote_chain remote() { return *remotes::find(*store_->begin_read(), account_); }
    // The tasks of a replica that syncs with the remote server.
    task_map sent_to_there(std::int64_t tasks_at_once) {
        task_map there;
        for (;;) {
            const auto sent = take(tasks_at_once);
            for (const operation& o : sent.operations) carry_out(there, o);
            if (!remote().moving) return there;
            settle_as(sent, uuid_of(700 + ++sent_));
        }
    }

    account_id account_;
    int sent_ = 10;
};

// Its devices have synced with the remote server before: nothing is sent, and tasks that they add
// are numbered.
TEST_F(moving_account, continues_after_the_last_version_of_its_devices) {
    const uuid left = accounts::head_of(*store_->begin_read(), account_).version;
    const auto move_behind = [&](const uuid& version) {
        return run(move_to_remote{account_, "https://example.com/", uuid_of(900), "key", version});
    };
    make("later");
    EXPECT_TRUE(std::holds_alternative<move_to_remote::has_changed>(move_behind(left)));
    EXPECT_FALSE(remotes::find(*store_->begin_read(), account_));
    const uuid last = accounts::head_of(*store_->begin_read(), account_).version;
    ASSERT_TRUE(std::holds_alternative<move_to_remote::moving>(move_behind(last)));
    EXPECT_EQ(remote().cursor, last);
    EXPECT_FALSE(remote().moving);
    EXPECT_TRUE(take().operations.empty());
    const auto pulled =
        run(apply_remote_version{account_, last, uuid_of(800), {create(uuid_of(801))}});
    EXPECT_EQ(std::get<apply_remote_version::applied>(pulled).numbered, 1);
    const auto made = tasks::find(*store_->begin_read(), account_, uuid_of(801));
    ASSERT_TRUE(made && made->numbered);
    EXPECT_EQ(made->numbered->number, 7);
}

TEST_F(moving_account, sends_every_task_unchanged_and_no_purged_ones) {
    run(edit_task{.account = account_, .task = task_key{"SYN", "", 2}, .purge = true});
    const auto here = store_->begin_read();
    ASSERT_TRUE(std::holds_alternative<move_to_remote::moving>(move()));
    for (const std::int64_t at_once : {500, 1, 2}) {
        write([&](write_tx& tx) {
            auto r = *remotes::find(tx, account_);
            r.moving = moving_tasks{};
            remotes::update(tx, r);
        });
        const task_map there = sent_to_there(at_once);
        EXPECT_EQ(there.size(), 4u) << at_once;
        for (const auto& [id, all] : there) {
            EXPECT_EQ(all, tasks::find(*here, account_, id)->attributes);
        }
    }
}

TEST_F(moving_account, advances_with_each_settled_version_only) {
    move();
    const auto first = take(2);
    EXPECT_FALSE(remote().moving->after);
    settle_as(first, v1);
    ASSERT_TRUE(remote().moving->after);
    EXPECT_EQ(remote().moving->tasks, 2);
    EXPECT_EQ(remote().cursor, v1);
    // Unsettled versions are sent again.
    const auto lost = take(2);
    EXPECT_EQ(take(2).operations.front().uuid, lost.operations.front().uuid);
    settle_as(take(2), v2);
    EXPECT_EQ(remote().moving->tasks, 4);
    told_.clear();
    settle_as(take(2), v3);
    EXPECT_FALSE(remote().moving);
    EXPECT_TRUE(was_told<events::remote_changed>());
    EXPECT_TRUE(take().operations.empty());
}

TEST_F(moving_account, knows_the_versions_it_was_sent_in) {
    move();
    settle_as(take(2), v1);
    settle_as(take(500), v2);
    for (const uuid& version : {v1, v2}) {
        EXPECT_TRUE(ask(knows_version{account_, {version}}));
    }
}

TEST_F(moving_account, outlives_a_remote_that_calls_two_versions_the_same) {
    move();
    settle_as(take(2), v1);
    settle_as(take(2), v1);
    EXPECT_EQ(remote().moving->tasks, 4);
}

TEST_F(moving_account, sends_nothing_else_before_the_move_is_done) {
    move();
    const auto begun = run(reserve{account_, "new", {}, {}, ""});
    const slot_id slot = std::get<reserve::reserved>(begun).slot;
    run(begin_delivery{slot, "", {{"description", "new"}}});
    const edit_task edit{
        .account = account_, .task = task_key{"SYN", "", 5}, .changes = {{"project", "home"}}};
    auto sent = std::get<take_delivery::taken>(run(take_delivery{account_, {edit}, 2}));
    EXPECT_TRUE(sent.answered.empty());
    EXPECT_TRUE(sent.has_more);
    for (const delivery_part& part : sent.parts) EXPECT_FALSE(part.effect || part.edit);
    settle_as(sent, v1);
    settle_as(take(), v2);
    sent = std::get<take_delivery::taken>(run(take_delivery{account_, {edit}, 2}));
    EXPECT_EQ(sent.parts.size(), 2u);
}

// Other replicas may sync with the remote server from the first version on.
TEST_F(moving_account, remote_changes_during_the_move_are_not_reverted) {
    move();
    const auto first = take(1);
    settle_as(first, v1);
    const uuid task = first.operations.front().uuid;
    run(apply_remote_version{account_, v1, v2, {update(task, "description", "theirs", now_)}});
    // As after a restore of its row.
    write([&](write_tx& tx) {
        auto r = *remotes::find(tx, account_);
        r.moving = moving_tasks{};
        remotes::update(tx, r);
    });
    EXPECT_EQ(sent_to_there(500).at(task).at("description"), "theirs");
}

TEST_F(moving_account, after_an_accepted_loss_it_begins_again) {
    move();
    settle_as(take(2), v1);
    run(halt_remote{account_, remote_halt::history_lost, remote()});
    run(edit_remote{.account = account_, .accept_loss = true});
    EXPECT_TRUE(remote().cursor.is_nil());
    EXPECT_EQ(remote().moving, moving_tasks{});
}

TEST_F(moving_account, after_a_restart_from_a_snapshot_it_begins_again) {
    move();
    settle_as(take(2), v1);
    run(apply_remote_state{.account = account_, .reached = apply_remote_state::end{v3, v2}});
    EXPECT_EQ(remote().cursor, v3);
    EXPECT_EQ(remote().moving, moving_tasks{});
}

TEST_F(moving_account, repeating_the_request_changes_nothing) {
    move();
    settle_as(take(2), v1);
    EXPECT_TRUE(std::holds_alternative<move_to_remote::moving>(move()));
    EXPECT_EQ(remote().moving->tasks, 2);
    EXPECT_TRUE(std::holds_alternative<move_to_remote::already_remote>(
        run(move_to_remote{account_, "https://example.com/", uuid_of(901), "key"})));
}

TEST_F(moving_account, has_a_unique_client_id) {
    move();
    account_ = std::get<account>(run(create_account{"second", "S", "t", sha256("second")})).id;
    EXPECT_TRUE(std::holds_alternative<client_id_taken>(move()));
    EXPECT_FALSE(remotes::find(*store_->begin_read(), account_));
}

TEST_F(moving_account, is_rejected_while_local_devices_sync) {
    const auto device = run(create_device{account_, "laptop", uuid_of(30), "key"});
    const device_id id = std::get<callsign::device>(device).id;
    const auto rejected = move();
    EXPECT_EQ(std::get<move_to_remote::has_devices>(rejected).active, 1u);
    EXPECT_FALSE(remotes::find(*store_->begin_read(), account_));
    run(revoke_device{account_ref{account_}, id});
    EXPECT_TRUE(std::holds_alternative<move_to_remote::moving>(move()));
}

// Phase 1 was local; phase 2 has to be remote.
TEST_F(moving_account, a_creation_begun_locally_is_completed_remotely) {
    const auto begun = run(reserve{account_, "new", {}, {}, ""});
    const slot_id slot = std::get<reserve::reserved>(begun).slot;
    move();
    EXPECT_TRUE(std::holds_alternative<fulfil::slot_missing>(run(fulfil{slot, "", {}})));
    EXPECT_TRUE(std::get<reserve::reserved>(run(reserve{account_, "new", {}, {}, ""})).is_remote);
}

TEST_F(moving_account, without_a_task_there_is_nothing_to_send) {
    account_ = std::get<account>(run(create_account{"empty", "E", "t", sha256("empty")})).id;
    move();
    EXPECT_TRUE(take().operations.empty());
    EXPECT_FALSE(remote().moving);
}

}  // namespace
}  // namespace callsign
