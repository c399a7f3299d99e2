// The merge of a device that is ahead of the backup, attribute by attribute.
// tests/property/restore_test.cpp verifies that no order of events loses changes.

#include "support/scrub.hpp"
#include "unit/rules/fixture.hpp"

#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/purges.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tasks.hpp>

namespace callsign {
namespace {

class resyncs : public managed_account {
  protected:
    resyncs() {
        send({create(uuid_of(1)), update(uuid_of(1), "description", "old"),
              update(uuid_of(1), "modified", "100"), update(uuid_of(1), "p", "old")});
    }

    // The store becomes a backup of itself: later versions are another history.
    void put_back() {
        now_ += std::chrono::seconds{1};
        const uuid instance = ids_.next(now_);
        run(mark_restored{instance});
        its_ = instance;
        from_ = head().seq;
    }
    uuid later() { return ids_.next(now_ + std::chrono::seconds{1}); }
    find_child::answer child_of_laptops(const uuid& parent) {
        return ask(find_child{account_, parent, resync_of(laptop)});
    }
    std::optional<resync> resync_of(const uuid& client) {
        return devices::find(*store_->begin_read(), client)->resync;
    }
    // Moves the laptop to where its snapshot is requested.
    uuid stand() {
        const auto ahead = std::get<find_child::ahead>(child_of_laptops(later()));
        return std::get<add_version::added>(send(laptop, ahead.id, {})).version;
    }
    merge_snapshot::answer merge(const uuid& version, const task_map& all) {
        merge_snapshot c{.client_id = laptop, .version = version, .account = account_};
        for (const auto& [id, attributes] : all) c.tasks.push_back({id, attributes});
        return run(c);
    }
    void bring(const task_map& all) {
        EXPECT_TRUE(std::holds_alternative<merge_snapshot::done>(merge(stand(), all)));
        run(end_resync{laptop, account_, true});
    }
    // Applies the versions that the laptop reads from there; some may have no effect on it.
    void lead_on(const uuid& from, task_map& own) {
        for (auto next = child_of_laptops(from);
             const auto* const version = std::get_if<find_child::next_version>(&next);
             next = child_of_laptops(version->id)) {
            for (const auto& o : version->operations) carry_out(own, o);
        }
    }
    attributes with(std::vector<std::pair<std::string, std::string>> changes) {
        attributes all = find(uuid_of(1))->attributes;
        for (auto& [name, value] : changes) all.insert_or_assign(name, value);
        return all;
    }
    std::vector<std::string> annotations() {
        std::vector<std::string> all;
        const auto found = find(uuid_of(1));
        for (const auto& [name, value] : found->attributes) {
            if (name.starts_with("annotation_")) all.push_back(value);
        }
        return all;
    }
    // An edit at t0 plus one second.
    void edit_here(const std::string& name, const std::string& value) {
        edit_task c{account_, uuid_of(1)};
        c.changes = {{name, value}};
        run(c);
    }

    uuid its_{};
    std::int64_t from_ = 0;
};

using texts = std::vector<std::string>;

TEST_F(resyncs, a_change_of_the_device_only_is_merged) {
    put_back();
    edit_here("q", "here");
    attributes theirs = with({{"p", "new"}, {"modified", "200"}});
    theirs.erase("q");
    theirs.erase("description");
    bring({{uuid_of(1), theirs}});
    EXPECT_EQ(attribute(uuid_of(1), "p"), "new");
    EXPECT_EQ(attribute(uuid_of(1), "description"), "(none)");
    EXPECT_EQ(attribute(uuid_of(1), "q"), "here");
    EXPECT_EQ(attribute(uuid_of(1), "modified"), "1700000001");
    EXPECT_EQ(annotations(), texts{});
}

TEST_F(resyncs, of_two_changes_the_later_wins_and_the_other_is_kept) {
    put_back();
    edit_here("p", "here");
    const task_map older{{uuid_of(1), with({{"p", "there"}, {"modified", "200"}})}};
    bring(older);
    EXPECT_EQ(attribute(uuid_of(1), "p"), "here");
    EXPECT_EQ(annotations(), texts{"laptop had p: there"});
    bring(older);  // the response to the first was lost
    EXPECT_EQ(annotations(), texts{"laptop had p: there"});
    bring({{uuid_of(1), with({{"p", "there again"}, {"modified", "1700000002"}})}});
    EXPECT_EQ(attribute(uuid_of(1), "p"), "there again");
    EXPECT_EQ(annotations(), (texts{"laptop had p: there", "The server had p: here"}));
}

// The edit was not synced before the merge, and was made with a clock behind the server's.
TEST_F(resyncs, an_unsynced_edit_wins_over_a_merged_one) {
    put_back();
    const uuid common = head().version;
    bring({{uuid_of(1), with({{"p", "brought"}, {"modified", "200"}})}});
    EXPECT_EQ(attribute(uuid_of(1), "p"), "brought");
    send(phone, common, {update(uuid_of(1), "p", "mine", t0)});
    EXPECT_EQ(attribute(uuid_of(1), "p"), "mine");
}

TEST_F(resyncs, the_key_is_the_servers) {
    put_back();
    bring({{uuid_of(1), with({{"key", "SYN-9"}, {"modified", "200"}})}});
    EXPECT_EQ(attribute(uuid_of(1), "key"), "SYN-1");
    EXPECT_EQ(annotations(), texts{});
}

// The merge has no change for the device, so the version must be made to have an effect there.
TEST_F(resyncs, where_history_has_expired_the_device_gets_the_servers_state) {
    put_back();
    edit_here("p", "here");
    write([&](write_tx& tx) { history::forget(tx, now_ + std::chrono::hours{1}, 100); });
    ASSERT_FALSE(history::find_as_of(*store_->begin_read(), account_, uuid_of(1), from_));
    task_map own{{uuid_of(1), with({{"p", "there"}, {"r", "alone"}, {"modified", "200"}})}};
    const uuid version = stand();
    ASSERT_TRUE(std::holds_alternative<merge_snapshot::done>(merge(version, own)));
    run(end_resync{laptop, account_, true});
    EXPECT_EQ(attribute(uuid_of(1), "p"), "here");
    EXPECT_EQ(attribute(uuid_of(1), "r"), "alone");
    lead_on(version, own);
    EXPECT_EQ(own, tasks());
}

TEST_F(resyncs, local_purges_persist_and_tasks_purged_on_the_device_are_recreated) {
    send({create(uuid_of(2)), create(uuid_of(3))});
    put_back();
    edit_task purge{account_, uuid_of(2)};
    purge.purge = true;
    run(purge);
    const uuid version = stand();
    merge(version, {{uuid_of(1), with({})}, {uuid_of(2), {{"description", "still there"}}}});
    run(recreate_tasks{laptop, version, {uuid_of(3), uuid_of(77)}, account_});
    run(end_resync{laptop, account_, true});
    EXPECT_TRUE(find(uuid_of(2))->purged);
    EXPECT_EQ(attribute(uuid_of(3), "key"), "SYN-3");
    task_map own{{uuid_of(1), with({})}, {uuid_of(2), {}}};
    lead_on(version, own);
    EXPECT_EQ(own, tasks());
    EXPECT_TRUE(own.contains(uuid_of(3)));
}

// The text of the task must stay, and the next device ahead is compared with the common state.
TEST_F(resyncs, a_recreated_task_is_not_purged) {
    put_back();
    const uuid version = stand();
    merge(version, {});
    run(recreate_tasks{laptop, version, {uuid_of(1)}, account_});
    EXPECT_TRUE(purges::of_next(*store_->begin_read(), {}, 10).empty());
}

// The former state of the task is not known any more.
TEST_F(resyncs, a_task_purged_and_created_again_is_merged_conservatively) {
    put_back();
    const uuid tablet = uuid_of(903);
    run(create_device{
        .account = account_, .name = "tablet", .client_id = tablet, .sealed_key = "key"});
    send(tablet, head().version, {remove(uuid_of(1))});
    send(tablet, head().version,
         {create(uuid_of(1)), update(uuid_of(1), "p", "here"),
          update(uuid_of(1), "modified", "100")});
    testing::scrub_all([&](auto q) { return ask(q); },
                       [&](auto c) { return std::optional(run(c)); }, std::size_t{1} << 20);
    ASSERT_TRUE(history::find_as_of(*store_->begin_read(), account_, uuid_of(1), from_)->purged);
    bring({{uuid_of(1), {{"modified", "200"}}}});
    EXPECT_EQ(attribute(uuid_of(1), "p"), "(none)");
    EXPECT_EQ(annotations(), texts{"The server had p: here"});
}

TEST_F(resyncs, series_resume_when_all_devices_are_back_and_one_was_ahead) {
    put_back();
    const auto is_held = [&] {
        return all_series::default_of(*store_->begin_read(), account_)->held;
    };
    EXPECT_EQ(std::get<end_resync::done>(run(end_resync{phone, account_})).resumed, 0);
    EXPECT_EQ(resync_of(phone)->now, resync::state::seen);
    EXPECT_TRUE(is_held());
    const uuid version = stand();
    merge(version, {{uuid_of(5), {{"key", "SYN-5"}}}, {uuid_of(6), {{"p", "v"}}}});
    EXPECT_EQ(attribute(uuid_of(6), "key"), "(none)");
    EXPECT_TRUE(is_held());
    EXPECT_EQ(std::get<end_resync::done>(run(end_resync{laptop, account_, true})).resumed, 1);
    EXPECT_FALSE(is_held());
    EXPECT_EQ(attribute(uuid_of(5), "key"), "SYN-5");
    EXPECT_EQ(attribute(uuid_of(6), "key"), "SYN-6");
}

// The lost server had received the task from the phone, whose sync got no response.
TEST_F(resyncs, a_device_brings_the_number_of_a_task_that_came_without_it) {
    put_back();
    run(end_resync{phone, account_});
    run(add_version{
        phone, head().version, {create(uuid_of(5)), update(uuid_of(5), "p", "v")}, account_});
    EXPECT_EQ(attribute(uuid_of(5), "key"), "(none)");
    bring({{uuid_of(5), {{"p", "v"}, {"key", "SYN-5"}}}, {uuid_of(6), {{"key", "SYN-7"}}}});
    EXPECT_EQ(attribute(uuid_of(5), "key"), "SYN-5");
    EXPECT_EQ(attribute(uuid_of(6), "key"), "SYN-7");
}

TEST_F(resyncs, a_lost_device_is_waited_for_until_it_is_revoked) {
    put_back();
    bring({{uuid_of(5), {{"key", "SYN-5"}}}});
    EXPECT_TRUE(all_series::default_of(*store_->begin_read(), account_)->held);
    run(revoke_device{account_ref{account_}, devices::find(*store_->begin_read(), phone)->id});
    EXPECT_FALSE(all_series::default_of(*store_->begin_read(), account_)->held);
}

TEST_F(resyncs, without_a_device_ahead_series_stay_held) {
    put_back();
    run(end_resync{phone, account_});
    run(end_resync{laptop, account_});
    EXPECT_TRUE(all_series::default_of(*store_->begin_read(), account_)->held);
}

// A device whose own disk was restored is ahead of the backup a second time.
TEST_F(resyncs, a_device_comes_back_twice) {
    put_back();
    bring({{uuid_of(5), {{"key", "SYN-5"}}}});
    EXPECT_EQ(resync_of(laptop)->now, resync::state::returned);
    const uuid version = stand();
    EXPECT_EQ(resync_of(laptop)->now, resync::state::expected);
    EXPECT_TRUE(std::holds_alternative<find_child::awaits_snapshot>(child_of_laptops(version)));
    merge(version, {{uuid_of(5), {{"key", "SYN-5"}, {"p", "v"}}}});
    run(end_resync{laptop, account_, true});
    EXPECT_EQ(attribute(uuid_of(5), "p"), "v");
    task_map own;
    lead_on(version, own);
    EXPECT_TRUE(own.contains(uuid_of(5)));
}

TEST_F(resyncs, an_unrequested_snapshot_is_ignored) {
    EXPECT_TRUE(std::holds_alternative<merge_snapshot::not_awaited>(
        merge(later(), {{uuid_of(1), with({{"p", "x"}})}})));
    put_back();
    const uuid version = stand();
    EXPECT_TRUE(std::holds_alternative<merge_snapshot::not_awaited>(
        merge(head().version, {{uuid_of(1), with({{"p", "x"}})}})));
    run(revoke_device{account_ref{account_}, devices::find(*store_->begin_read(), laptop)->id});
    EXPECT_TRUE(std::holds_alternative<device_revoked>(merge(version, {})));
    EXPECT_TRUE(std::holds_alternative<no_such_client>(
        run(merge_snapshot{.client_id = uuid_of(77), .version = version})));
    EXPECT_EQ(attribute(uuid_of(1), "p"), "old");
}

TEST_F(resyncs, a_second_restore_keeps_the_devices_missing_since_the_first) {
    put_back();
    run(end_resync{phone, account_});
    const auto first = from_;
    run(resume_series{account_ref{account_}, "SYN"});
    send({create(uuid_of(9))});
    put_back();
    EXPECT_GT(from_, first);
    EXPECT_EQ(resync_of(laptop), (resync{first, resync::state::expected}));
    EXPECT_EQ(resync_of(phone), (resync{from_, resync::state::expected}));
}

}  // namespace
}  // namespace callsign
