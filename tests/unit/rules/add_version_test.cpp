// Versions from devices: stale versions, rebases, rejections, and steps.

#include "unit/rules/fixture.hpp"

#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/forks.hpp>
#include <callsign/rules/transform.hpp>

namespace callsign {
namespace {

using sent_versions = managed_account;

// ---- stale versions ----

TEST_F(sent_versions, a_stale_version_is_transformed_and_its_device_rebased) {
    send({create(uuid_of(1)), update(uuid_of(1), "p", "old")});
    const uuid common = head().version;
    send({update(uuid_of(1), "p", "early", t0 + milliseconds{1}),
          update(uuid_of(1), "q", "by laptop")});
    const auto late = std::get<add_version::added>(
        send(phone, common, {update(uuid_of(1), "p", "later", t0 + milliseconds{2})}));
    EXPECT_TRUE(late.stale);
    EXPECT_EQ(attribute(uuid_of(1), "p"), "later");
    EXPECT_EQ(attribute(uuid_of(1), "q"), "by laptop");
    // The phone has p already; it lacks q.
    const auto back = std::get<find_child::next_version>(child_of(late.version));
    EXPECT_EQ(back.id, head().version);
    EXPECT_EQ(back.operations, (operations{update(uuid_of(1), "q", "by laptop")}));
    EXPECT_TRUE(std::holds_alternative<up_to_date>(child_of(back.id)));
    // The chain contains only the device's own operation.
    EXPECT_EQ(chain().back().operations,
              (operations{update(uuid_of(1), "p", "later", t0 + milliseconds{2})}));
}

TEST_F(sent_versions, a_version_on_a_fork_version_is_stale_too) {
    const auto first = std::get<add_version::added>(send(laptop, uuid{}, {create(uuid_of(1))}));
    const auto side = std::get<add_version::added>(send(phone, uuid{}, {create(uuid_of(2))}));
    EXPECT_FALSE(first.stale);
    EXPECT_TRUE(side.stale);
    const auto again =
        std::get<add_version::added>(send(phone, side.version, {update(uuid_of(2), "p", "v")}));
    EXPECT_TRUE(again.stale);
    task_map own{{uuid_of(2), {{"p", "v"}}}};
    follow(again.version, own);
    EXPECT_EQ(own, tasks());
    EXPECT_EQ(own.at(uuid_of(2)).at("p"), "v");
    EXPECT_EQ(own.at(uuid_of(2)).at("key"), "SYN-2");
}

// An operation that lost against the device is not compared again.
TEST_F(sent_versions, operations_dropped_on_a_fork_version_conflict_no_further) {
    send({create(uuid_of(1))});
    const uuid common = head().version;
    send({update(uuid_of(1), "p", "theirs", t0 + milliseconds{5})});
    const auto side = std::get<add_version::added>(
        send(phone, common, {update(uuid_of(1), "p", "mine", t0 + milliseconds{9})}));
    EXPECT_EQ(attribute(uuid_of(1), "p"), "mine");
    // The clock of the device was set back.
    const auto again = std::get<add_version::added>(
        send(phone, side.version, {update(uuid_of(1), "p", "mine again", t0)}));
    EXPECT_EQ(attribute(uuid_of(1), "p"), "mine again");
    task_map own{{uuid_of(1), {{"key", "SYN-1"}, {"p", "mine again"}}}};
    follow(again.version, own);
    EXPECT_EQ(own, tasks());
}

// No other device has changed its tasks: nothing is transformed, and the missed versions are not
// copied; the result is the same for the device.
TEST_F(sent_versions, a_device_far_behind_is_rebased_over_all_missed_versions) {
    uuid place{};
    task_map own;
    for (int n = 0; n < 5; ++n) {
        send({create(uuid_of(100 + n))});
        const operations mine{create(uuid_of(n)), update(uuid_of(n), "p", "v")};
        const auto late = std::get<add_version::added>(send(phone, place, mine));
        EXPECT_TRUE(late.stale);
        for (const auto& o : mine) EXPECT_TRUE(carry_out(own, o));
        place = late.version;
    }
    // A task of the device, which has got a key from the server.
    const auto again = std::get<add_version::added>(
        send(phone, place, {update(uuid_of(0), "p", "w"), update(uuid_of(0), "key", "X")}));
    own.at(uuid_of(0))["p"] = "w";
    own.at(uuid_of(0))["key"] = "X";
    follow(again.version, own);
    EXPECT_EQ(own, tasks());
    EXPECT_EQ(own.size(), 10u);
    EXPECT_EQ(own.at(uuid_of(0)).at("key"), key_of(*find(uuid_of(0))->numbered));
}

// The task was created and deleted within the segment, but another device created it too: the
// Delete applies.
TEST_F(sent_versions, a_stale_delete_of_a_task_that_others_created_too_is_not_lost) {
    send({create(uuid_of(2))});
    const uuid common = head().version;
    send({create(uuid_of(1)), update(uuid_of(1), "p", "by laptop")});
    const auto late = std::get<add_version::added>(
        send(phone, common,
             {create(uuid_of(1)), update(uuid_of(1), "p", "v"), remove(uuid_of(1)),
              create(uuid_of(3)), remove(uuid_of(3))}));
    EXPECT_EQ(attribute(uuid_of(1), "p"), "(no task)");
    EXPECT_FALSE(find(uuid_of(3)));  // no other device ever receives this task
    task_map own{{uuid_of(2), {{"key", "SYN-1"}}}};
    follow(late.version, own);
    EXPECT_EQ(own, tasks());
}

TEST_F(sent_versions, operations_without_effect_are_not_on_the_chain) {
    send(
        {update(uuid_of(9), "p", "v"), remove(uuid_of(8)), create(uuid_of(1)), create(uuid_of(1))});
    EXPECT_EQ(chain()[0].operations, operations{create(uuid_of(1))});
}

// ---- rejections write nothing ----

TEST_F(sent_versions, a_client_that_is_no_device_of_the_account_is_rejected) {
    EXPECT_TRUE(
        std::holds_alternative<no_such_client>(send(uuid_of(999), uuid{}, {create(uuid_of(1))})));
    write([&](write_tx& tx) { devices::revoke(tx, devices::find(tx, phone)->id, now_); });
    EXPECT_TRUE(std::holds_alternative<device_revoked>(send(phone, uuid{}, {create(uuid_of(1))})));
    EXPECT_TRUE(std::holds_alternative<add_version::unknown_parent>(
        send(laptop, uuid_of(77), {create(uuid_of(1))})));
    EXPECT_EQ(head().seq, 0);
}

// ---- limits of a task ----

// If the version were rejected for its excess, the device would send it again and again.
TEST_F(sent_versions, operations_beyond_the_size_of_a_task_are_reverted) {
    send({create(uuid_of(1)), update(uuid_of(1), "a", std::string(task_bytes_max - 40, 'x'))});
    const auto seq = head().seq;
    const operations sent{update(uuid_of(1), "b", std::string(80, 'y')),
                          update(uuid_of(1), "c", "z"), update(uuid_of(1), "status", "pending"),
                          create(uuid_of(2))};
    EXPECT_EQ(std::get<add_version::added>(send(laptop, head().version, sent)).cut, 1);
    EXPECT_EQ(attribute(uuid_of(1), "b"), "(none)");
    EXPECT_EQ(attribute(uuid_of(1), "status"), "pending");
    EXPECT_EQ(attribute(uuid_of(1), "key"), "SYN-1");
    EXPECT_TRUE(find(uuid_of(2)));
    // The device receives the reversal.
    const auto all = chain();
    ASSERT_EQ(all.size(), static_cast<std::size_t>(seq) + 2);
    EXPECT_EQ(all[seq].operations, sent);
    EXPECT_EQ(all[seq + 1].operations.front(), update(uuid_of(1), "c", std::nullopt, now_));
    EXPECT_EQ(find(uuid_of(1))->last_seq, seq + 2);
}

TEST_F(sent_versions, a_sync_may_exceed_the_limit_of_a_request) {
    synced_task_bytes_max_ = 3 * task_bytes_max;
    const std::string note(2 * task_bytes_max, 'x');
    const operations sent{create(uuid_of(1)), update(uuid_of(1), "annotation_1600000000", note)};
    send(sent);
    EXPECT_EQ(attribute(uuid_of(1), "annotation_1600000000"), note);
    // Requests with small additions still succeed.
    edit_task edit{account_, uuid_of(1), {{"status", "completed"}}};
    EXPECT_TRUE(std::holds_alternative<edit_task::edited>(run(edit)));
    EXPECT_NE(attribute(uuid_of(1), "end"), "(none)");
    task_map own;
    follow(uuid{}, own);
    EXPECT_EQ(own, tasks());
    // Beyond that the limit applies as to any task.
    const operations more{update(uuid_of(1), "more", note)};
    EXPECT_EQ(std::get<add_version::added>(send(laptop, head().version, more)).cut, 1);
    EXPECT_EQ(attribute(uuid_of(1), "more"), "(none)");
    EXPECT_EQ(attribute(uuid_of(1), "annotation_1600000000"), note);
}

TEST_F(sent_versions, a_task_has_a_maximum_of_attributes) {
    const auto named = [](std::size_t n) { return "x" + std::to_string(10'000 + n); };
    const auto updates = [&](std::size_t from, std::size_t to) {
        operations all;
        for (std::size_t n = from; n < to; ++n) all.push_back(update(uuid_of(1), named(n), "v"));
        return all;
    };
    auto made = updates(0, task_attributes_max + 2'000);
    made.insert(made.begin(), create(uuid_of(1)));
    for (std::span<const operation> rest(made); !rest.empty();) {
        const auto done = send(laptop, head().version, {rest.begin(), rest.end()});
        rest = rest.subspan(std::get<add_version::added>(done).taken);
    }
    EXPECT_EQ(find(uuid_of(1))->attributes.size(), task_attributes_max);  // including the key
    EXPECT_EQ(attribute(uuid_of(1), named(task_attributes_max - 2)), "v");
    EXPECT_EQ(attribute(uuid_of(1), named(task_attributes_max - 1)), "(none)");
    // Existing attributes can be changed; no further ones are added.
    send(laptop, head().version,
         {update(uuid_of(1), "another", "w"), update(uuid_of(1), named(0), "w")});
    EXPECT_EQ(find(uuid_of(1))->attributes.size(), task_attributes_max);
    EXPECT_EQ(attribute(uuid_of(1), "another"), "(none)");
    EXPECT_EQ(attribute(uuid_of(1), named(0)), "w");
    edit_task edit{account_, uuid_of(1), {{named(1), "w"}}};
    // "modified" would now be one too many.
    EXPECT_EQ(std::get<task_too_large>(run(edit)).task, uuid_of(1));
    edit.changes = {{named(1), std::nullopt}};
    EXPECT_TRUE(std::holds_alternative<edit_task::edited>(run(edit)));
}

// The reversal of its first parts counts as missed by the last ones, which do not conflict with it.
TEST_F(sent_versions, a_segment_far_beyond_the_limits_of_a_task_is_accepted) {
    add_version c{laptop, uuid{}, {create(uuid_of(1))}, account_, 0};
    for (std::size_t n = 1; n < 3 * missed_changes::operations_max; ++n) {
        c.operations.push_back(update(uuid_of(1), "x" + std::to_string(n), "v"));
    }
    replay own;
    for (const operation& o : c.operations) own.carry_out(o);
    std::int64_t cut = 0;
    while (!c.operations.empty()) {
        const auto added = std::get<add_version::added>(take(c));
        cut += added.cut;
        testing::go_on(c, added);
    }
    EXPECT_GT(cut, 1);
    for (auto next = child_of(c.parent);;) {
        const auto* const child = std::get_if<find_child::next_version>(&next);
        if (!child) break;
        for (const operation& o : child->operations) EXPECT_TRUE(own.carry_out(o));
        next = child_of(uuid(child->id));
    }
    EXPECT_EQ(own.tasks(), tasks());
    EXPECT_EQ(own.find(uuid_of(1))->size(), task_attributes_max);
}

TEST_F(sent_versions, a_device_that_has_missed_too_much_must_pull_first) {
    send({create(uuid_of(1))});
    constexpr std::size_t each = 5'000;
    for (std::size_t n = 0; n <= missed_changes::operations_max * 2; n += each) {
        send(operations(each, update(uuid_of(1), "p", "v")));
    }
    EXPECT_TRUE(std::holds_alternative<add_version::too_far_behind>(
        send(phone, uuid{}, {create(uuid_of(1)), update(uuid_of(1), "p", "w")})));
    EXPECT_TRUE(std::holds_alternative<add_version::added>(
        send(phone, head().version, {update(uuid_of(1), "p", "w")})));
    // The limit does not count missed operations on other tasks.
    send({create(uuid_of(3))});
    EXPECT_TRUE(std::holds_alternative<add_version::added>(
        send(phone, uuid{}, {create(uuid_of(3)), update(uuid_of(3), "p", "w")})));
    // Operations on new tasks conflict with none; and a rebase has no limit.
    const auto late = std::get<add_version::added>(send(laptop, uuid{}, {create(uuid_of(2))}));
    EXPECT_TRUE(late.stale);
    task_map own{{uuid_of(2), {}}};
    follow(late.version, own);
    EXPECT_EQ(own, tasks());
}

TEST_F(sent_versions, missed_versions_are_read_first_for_a_device_far_behind) {
    send({create(uuid_of(1)), create(uuid_of(2)), update(uuid_of(2), "p", "v")});
    const uuid common = head().version;
    const std::string large(100'000, 'x');
    for (std::size_t n = 0; n * large.size() <= add_version::read_bytes_max; ++n) {
        send({update(uuid_of(2), "q" + std::to_string(n), large)});
    }
    send({update(uuid_of(2), "p", "theirs")});
    const auto before = chain().size();
    const operations sent{update(uuid_of(2), "p", "mine", t0 + milliseconds{5}),
                          update(uuid_of(2), "r", "mine")};
    add_version c{phone, common, sent, account_, 0};
    add_version late = c;
    EXPECT_TRUE(std::holds_alternative<add_version::needs_missed>(run(c)));
    EXPECT_EQ(chain().size(), before) << "nothing was changed";
    // Operations that cannot conflict with the batch are not kept.
    const auto found =
        std::get<find_missed::found>(ask(find_missed{account_, phone, common, 0, sent}));
    EXPECT_TRUE(found.is_all);
    EXPECT_EQ(found.next.operations, operations{update(uuid_of(2), "p", "theirs")});
    EXPECT_EQ(found.next.bytes, work_of(found.next.operations));
    EXPECT_GT(found.next.read_bytes, add_version::read_bytes_max);
    task_map own{{uuid_of(1), {{"key", "SYN-1"}}},
                 {uuid_of(2), {{"key", "SYN-2"}, {"p", "mine"}, {"r", "mine"}}}};
    follow(std::get<add_version::added>(take(c)).version, own);
    EXPECT_EQ(own, tasks());
    EXPECT_EQ(attribute(uuid_of(2), "p"), "mine");
    // The command itself reads the versions added since.
    const auto ask_store = [this](const find_missed& q) { return ask(q); };
    ASSERT_TRUE(testing::read_missed(late, step_work_max, ask_store));
    send({update(uuid_of(2), "r", "theirs", t0 + milliseconds{7})});
    EXPECT_TRUE(std::holds_alternative<add_version::added>(run(late)));
    EXPECT_EQ(attribute(uuid_of(2), "r"), "theirs");
}

TEST_F(sent_versions, the_data_read_for_a_device_is_limited) {
    const auto is_too_much = [](std::size_t bytes, std::size_t read_bytes) {
        missed_changes missed;
        missed.append({.bytes = bytes, .read_bytes = read_bytes});
        return missed.is_too_much();
    };
    using missed = missed_changes;
    EXPECT_FALSE(is_too_much(missed::bytes_max, missed::read_bytes_max));
    EXPECT_TRUE(is_too_much(missed::bytes_max + 1, 0));
    EXPECT_TRUE(is_too_much(0, missed::read_bytes_max + 1));
    send({create(uuid_of(1))});
    const auto one = std::get<find_missed::found>(ask(find_missed{account_, phone, uuid{}}));
    EXPECT_EQ(one.next.read_bytes, 2 * work_of_task + work_of(create(uuid_of(1))) +
                                       work_of(update(uuid_of(1), "key", "SYN-1")));
    // At least one version is read, however small the part.
    find_missed part{account_, phone, uuid{}};
    part.work_max = 1;
    const auto first = std::get<find_missed::found>(ask(part));
    EXPECT_EQ(first.next.through, 1);
    EXPECT_FALSE(first.is_all);
    EXPECT_TRUE(
        std::holds_alternative<unknown_version>(ask(find_missed{account_, phone, uuid_of(99)})));
    EXPECT_TRUE(
        std::holds_alternative<unknown_version>(ask(find_missed{account_, uuid_of(99), uuid{}})));
}

// ---- rebase ----

TEST_F(sent_versions, a_stale_device_is_rebased_version_by_version) {
    send({create(uuid_of(1)), update(uuid_of(1), "p", "0")});
    const uuid common = head().version;
    task_map own = tasks();
    send({update(uuid_of(1), "p", "1"), update(uuid_of(1), "q", "1")});
    send({update(uuid_of(1), "p", "2"), update(uuid_of(1), "r", "2")});
    const auto late = std::get<add_version::added>(
        send(phone, common, {update(uuid_of(1), "p", "late", t0 + milliseconds{9})}));
    const uuid on_chain = head().version;
    // Operations that lose against the device's own are omitted. Each position on the way has a
    // version id, from which the device may even push.
    const auto first = std::get<find_child::next_version>(child_of(late.version));
    EXPECT_EQ(first.operations, operations{update(uuid_of(1), "q", "1")});
    const auto second = std::get<find_child::next_version>(child_of(first.id));
    EXPECT_EQ(second.operations, operations{update(uuid_of(1), "r", "2")});
    EXPECT_EQ(second.id, on_chain);

    const auto again = std::get<add_version::added>(
        send(phone, first.id, {update(uuid_of(1), "r", "mine", t0 + milliseconds{9})}));
    EXPECT_TRUE(again.stale);
    own.at(uuid_of(1))["p"] = "late";
    own.at(uuid_of(1))["q"] = "1";
    own.at(uuid_of(1))["r"] = "mine";
    follow(again.version, own);
    EXPECT_EQ(own, tasks());
}

// After the last of its own versions the device is on the chain, and positions have the ids of the
// chain.
TEST_F(sent_versions, a_position_beyond_the_rebase_is_unknown) {
    send({create(uuid_of(1))});
    uuid name = std::get<add_version::added>(send(phone, uuid{}, {create(uuid_of(2))})).version;
    for (const int steps : {3, 4, 200}) {
        name.data[15] = static_cast<std::uint8_t>(steps);
        EXPECT_TRUE(std::holds_alternative<unknown_version>(child_of(name))) << steps;
    }
}

// The size of a stale version is that of its operations, regardless of the missed versions.
TEST_F(sent_versions, a_fork_version_copies_no_missed_operations) {
    send({create(uuid_of(1)), create(uuid_of(2)), update(uuid_of(1), "p", "v")});
    const uuid common = head().version;
    for (int n = 0; n < 10; ++n) {
        operations large;
        for (int i = 0; i < 500; ++i) {
            large.push_back(update(uuid_of(2), "p" + std::to_string(i), std::string(100, 'x')));
        }
        large.push_back(update(uuid_of(1), "q", std::to_string(n)));
        send(std::move(large));
    }
    const auto late = std::get<add_version::added>(
        send(phone, common, {update(uuid_of(1), "q", "late", t0 + milliseconds{9})}));
    const auto side = forks::find(*store_->begin_read(), account_, fork_of(late.version));
    ASSERT_TRUE(side);
    EXPECT_EQ(side->own.size(), 1u);
    EXPECT_EQ(side->dropped.size(), 10u);
}

// The oldest fork versions are deleted first; a device whose own is deleted begins at its last
// complete sync.
TEST_F(sent_versions, a_device_whose_fork_version_was_deleted_syncs_again) {
    send({create(uuid_of(1))});
    const uuid common = head().version;
    send({create(uuid_of(2))});
    const operations mine{update(uuid_of(1), "p", "mine")};
    const auto first = std::get<add_version::added>(send(phone, common, mine));
    const auto abandon = [&](std::int64_t times) {
        write([&](write_tx& tx) {
            for (std::int64_t n = 0; n < times; ++n) {
                forks::put(tx, account_, {{ids_.next(now_), 0, now_}, {{1}, {}}},
                           {add_version::fork_versions_max, add_version::fork_version_bytes_max});
            }
        });
    };
    abandon(add_version::fork_versions_max - 1);
    EXPECT_TRUE(std::holds_alternative<find_child::next_version>(child_of(first.version)));
    abandon(1);
    EXPECT_TRUE(std::holds_alternative<unknown_version>(child_of(first.version)));
    // As in the client: operations of the incomplete sync are transformed over the pulled ones.
    task_map own{{uuid_of(1), {{"key", "SYN-1"}}}};
    follow(common, own);
    EXPECT_EQ(own, tasks());
    EXPECT_EQ(own.at(uuid_of(1)).at("p"), "mine");
}

// ---- in steps ----

TEST_F(sent_versions, a_large_segment_is_applied_in_steps) {
    add_version c{laptop, uuid{}, {}, account_, 0};
    for (int n = 0; n < 50; ++n) {
        c.operations.push_back(create(uuid_of(n)));
        c.operations.push_back(update(uuid_of(n), "p", "v"));
    }
    task_map own;
    for (const auto& o : c.operations) carry_out(own, o);
    c.work_max = 5'000;
    int steps = 0;
    std::int64_t numbered = 0;
    std::vector<uuid> told;
    while (!c.operations.empty()) {
        const auto added = std::get<add_version::added>(run(c));
        ASSERT_GT(added.taken, 0u);
        EXPECT_LT(added.taken, 20u);
        testing::go_on(c, added);
        numbered += added.numbered;
        told.push_back(added.version);
        ++steps;
    }
    EXPECT_GT(steps, 5);
    EXPECT_EQ(numbered, 50);
    EXPECT_EQ(attribute(uuid_of(49), "key"), "SYN-50");
    // The device receives all keys; of the intermediate positions only the last is stored.
    follow(c.parent, own);
    EXPECT_EQ(own, tasks());
    told.pop_back();
    for (const uuid& id : told) {
        EXPECT_FALSE(forks::find(*store_->begin_read(), account_, id));
    }
}

TEST_F(sent_versions, the_work_of_a_step_counts_the_tasks_it_touches) {
    send({create(uuid_of(1)), update(uuid_of(1), "a", std::string(100'000, 'x')),
          create(uuid_of(2)), update(uuid_of(2), "a", std::string(100'000, 'x'))});
    add_version c{laptop, head().version, {}, account_, 0};
    c.operations = {update(uuid_of(1), "p", "v"), update(uuid_of(2), "p", "v")};
    c.work_max = 150'000;
    EXPECT_EQ(std::get<add_version::added>(run(c)).taken, 1u);
    // Many changes of one large task are one step.
    c.parent = head().version;
    c.operations = operations(100, update(uuid_of(2), "p", "w"));
    c.work_max = 50'000;
    EXPECT_EQ(std::get<add_version::added>(run(c)).taken, 100u);
}

TEST_F(sent_versions, a_segment_is_submitted_in_steps) {
    operations all;
    EXPECT_EQ(step_of(all), 0u);
    all.push_back(update(uuid_of(1), "p", std::string(2 * step_work_max, 'x')));
    EXPECT_EQ(step_of(all), 1u);
    all = operations(3, update(uuid_of(1), "p", std::string(step_work_max / 2, 'x')));
    EXPECT_EQ(step_of(all), 1u);
    all = operations(1000, create(uuid_of(1)));
    EXPECT_EQ(step_of(all), 1000u);
    for (int n = 0; n < 1000; ++n) all[static_cast<std::size_t>(n)] = create(uuid_of(n));
    for (int n = 0; n < 1000; ++n) all.push_back(create(uuid_of(1000 + n)));
    EXPECT_LT(step_of(all), 2000u);
    EXPECT_GT(step_of(all), 500u);
}

}  // namespace
}  // namespace callsign
