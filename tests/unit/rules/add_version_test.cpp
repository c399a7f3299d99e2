// What a device sends: stale versions, the way back to the chain, refusals, and steps.

#include "unit/rules/fixture.hpp"

#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/forks.hpp>
#include <callsign/rules/transform.hpp>

namespace callsign {
namespace {

using sent_versions = managed_account;

// ---- stale versions ----

TEST_F(sent_versions, a_late_version_is_transformed_and_its_device_led_back) {
    send({create(uuid_of(1)), update(uuid_of(1), "p", "old")});
    const uuid common = head().version;
    send({update(uuid_of(1), "p", "early", t0 + milliseconds{1}),
          update(uuid_of(1), "q", "by laptop")});
    const auto late = std::get<add_version::added>(
        send(phone, common, {update(uuid_of(1), "p", "later", t0 + milliseconds{2})}));
    EXPECT_TRUE(late.stale);
    EXPECT_EQ(attribute(uuid_of(1), "p"), "later");
    EXPECT_EQ(attribute(uuid_of(1), "q"), "by laptop");
    // The phone has p already; what it lacks is q.
    const auto back = std::get<find_child::next_version>(child_of(late.version));
    EXPECT_EQ(back.id, head().version);
    EXPECT_EQ(back.operations, (operations{update(uuid_of(1), "q", "by laptop")}));
    EXPECT_TRUE(std::holds_alternative<up_to_date>(child_of(back.id)));
    // On the chain there is only what it said.
    EXPECT_EQ(chain().back().operations,
              (operations{update(uuid_of(1), "p", "later", t0 + milliseconds{2})}));
}

TEST_F(sent_versions, a_version_on_a_fork_version_is_late_too) {
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

// What lost against the device once is not asked again.
TEST_F(sent_versions, what_was_dropped_on_a_fork_version_meets_nothing_more) {
    send({create(uuid_of(1))});
    const uuid common = head().version;
    send({update(uuid_of(1), "p", "theirs", t0 + milliseconds{5})});
    const auto side = std::get<add_version::added>(
        send(phone, common, {update(uuid_of(1), "p", "mine", t0 + milliseconds{9})}));
    EXPECT_EQ(attribute(uuid_of(1), "p"), "mine");
    // Its clock was put back.
    const auto again = std::get<add_version::added>(
        send(phone, side.version, {update(uuid_of(1), "p", "mine again", t0)}));
    EXPECT_EQ(attribute(uuid_of(1), "p"), "mine again");
    task_map own{{uuid_of(1), {{"key", "SYN-1"}, {"p", "mine again"}}}};
    follow(again.version, own);
    EXPECT_EQ(own, tasks());
}

// Nobody else has touched its tasks, so nothing is transformed, and what it missed is not written
// down again; to the device it is the same.
TEST_F(sent_versions, a_device_far_behind_is_led_back_over_all_it_missed) {
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
    // One of its own tasks, which the server has given a key since.
    const auto again = std::get<add_version::added>(
        send(phone, place, {update(uuid_of(0), "p", "w"), update(uuid_of(0), "key", "X")}));
    own.at(uuid_of(0))["p"] = "w";
    own.at(uuid_of(0))["key"] = "X";
    follow(again.version, own);
    EXPECT_EQ(own, tasks());
    EXPECT_EQ(own.size(), 10u);
    EXPECT_EQ(own.at(uuid_of(0)).at("key"), key_of(*find(uuid_of(0))->numbered));
}

// It came and went within the segment, but it has come from elsewhere too: the Delete holds.
TEST_F(sent_versions, a_late_delete_of_a_task_that_others_have_made_too_is_not_lost) {
    send({create(uuid_of(2))});
    const uuid common = head().version;
    send({create(uuid_of(1)), update(uuid_of(1), "p", "by laptop")});
    const auto late = std::get<add_version::added>(
        send(phone, common,
             {create(uuid_of(1)), update(uuid_of(1), "p", "v"), remove(uuid_of(1)),
              create(uuid_of(3)), remove(uuid_of(3))}));
    EXPECT_EQ(attribute(uuid_of(1), "p"), "(no task)");
    EXPECT_FALSE(find(uuid_of(3)));  // nobody else need ever hear of it
    task_map own{{uuid_of(2), {{"key", "SYN-1"}}}};
    follow(late.version, own);
    EXPECT_EQ(own, tasks());
}

TEST_F(sent_versions, what_had_no_effect_is_not_on_the_chain) {
    send(
        {update(uuid_of(9), "p", "v"), remove(uuid_of(8)), create(uuid_of(1)), create(uuid_of(1))});
    EXPECT_EQ(chain()[0].operations, operations{create(uuid_of(1))});
}

// ---- refusals write nothing ----

TEST_F(sent_versions, who_is_not_a_device_of_the_account_is_refused) {
    EXPECT_TRUE(
        std::holds_alternative<no_such_client>(send(uuid_of(999), uuid{}, {create(uuid_of(1))})));
    write([&](write_tx& tx) { devices::revoke(tx, devices::find(tx, phone)->id, now_); });
    EXPECT_TRUE(std::holds_alternative<device_revoked>(send(phone, uuid{}, {create(uuid_of(1))})));
    EXPECT_TRUE(std::holds_alternative<add_version::unknown_parent>(
        send(laptop, uuid_of(77), {create(uuid_of(1))})));
    EXPECT_EQ(head().seq, 0);
}

// ---- a task's bounds ----

// A device whose version was refused for them would send it again and again.
TEST_F(sent_versions, what_makes_a_task_too_large_is_taken_away_again) {
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
    // The device hears of it.
    const auto all = chain();
    ASSERT_EQ(all.size(), static_cast<std::size_t>(seq) + 2);
    EXPECT_EQ(all[seq].operations, sent);
    EXPECT_EQ(all[seq + 1].operations.front(), update(uuid_of(1), "c", std::nullopt, now_));
    EXPECT_EQ(find(uuid_of(1))->last_seq, seq + 2);
}

TEST_F(sent_versions, a_sync_may_bring_more_than_a_request) {
    synced_task_bytes_max_ = 3 * task_bytes_max;
    const std::string note(2 * task_bytes_max, 'x');
    const operations sent{create(uuid_of(1)), update(uuid_of(1), "annotation_1600000000", note)};
    send(sent);
    EXPECT_EQ(attribute(uuid_of(1), "annotation_1600000000"), note);
    // Requests go on, with what little they add.
    edit_task edit{account_, uuid_of(1), {{"status", "completed"}}};
    EXPECT_TRUE(std::holds_alternative<edit_task::edited>(run(edit)));
    EXPECT_NE(attribute(uuid_of(1), "end"), "(none)");
    task_map own;
    follow(uuid{}, own);
    EXPECT_EQ(own, tasks());
    // Beyond that it is as of any task.
    const operations more{update(uuid_of(1), "more", note)};
    EXPECT_EQ(std::get<add_version::added>(send(laptop, head().version, more)).cut, 1);
    EXPECT_EQ(attribute(uuid_of(1), "more"), "(none)");
    EXPECT_EQ(attribute(uuid_of(1), "annotation_1600000000"), note);
}

TEST_F(sent_versions, a_task_has_so_many_attributes) {
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
    EXPECT_EQ(find(uuid_of(1))->attributes.size(), task_attributes_max);  // with the key
    EXPECT_EQ(attribute(uuid_of(1), named(task_attributes_max - 2)), "v");
    EXPECT_EQ(attribute(uuid_of(1), named(task_attributes_max - 1)), "(none)");
    // What was there can be changed; no more comes to be.
    send(laptop, head().version,
         {update(uuid_of(1), "another", "w"), update(uuid_of(1), named(0), "w")});
    EXPECT_EQ(find(uuid_of(1))->attributes.size(), task_attributes_max);
    EXPECT_EQ(attribute(uuid_of(1), "another"), "(none)");
    EXPECT_EQ(attribute(uuid_of(1), named(0)), "w");
    edit_task edit{account_, uuid_of(1), {{named(1), "w"}}};
    // "modified" is one of them now.
    EXPECT_EQ(std::get<task_too_large>(run(edit)).task, uuid_of(1));
    edit.changes = {{named(1), std::nullopt}};
    EXPECT_TRUE(std::holds_alternative<edit_task::edited>(run(edit)));
}

// What is taken away again of its first parts counts as missed by the last ones, which do not meet
// it.
TEST_F(sent_versions, a_segment_far_beyond_the_bounds_of_a_task_is_taken) {
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

TEST_F(sent_versions, who_has_missed_too_much_fetches_it_first) {
    send({create(uuid_of(1))});
    constexpr std::size_t each = 5'000;
    for (std::size_t n = 0; n <= missed_changes::operations_max * 2; n += each) {
        send(operations(each, update(uuid_of(1), "p", "v")));
    }
    EXPECT_TRUE(std::holds_alternative<add_version::missed_too_much>(
        send(phone, uuid{}, {create(uuid_of(1)), update(uuid_of(1), "p", "w")})));
    EXPECT_TRUE(std::holds_alternative<add_version::added>(
        send(phone, head().version, {update(uuid_of(1), "p", "w")})));
    // Of other tasks than those that are sent, it may have missed as many.
    send({create(uuid_of(3))});
    EXPECT_TRUE(std::holds_alternative<add_version::added>(
        send(phone, uuid{}, {create(uuid_of(3)), update(uuid_of(3), "p", "w")})));
    // Of what nothing else is about, nothing needs to be known; and to be led back has no bound.
    const auto late = std::get<add_version::added>(send(laptop, uuid{}, {create(uuid_of(2))}));
    EXPECT_TRUE(late.stale);
    task_map own{{uuid_of(2), {}}};
    follow(late.version, own);
    EXPECT_EQ(own, tasks());
}

TEST_F(sent_versions, a_device_far_behind_has_what_it_missed_read_for_it_first) {
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
    EXPECT_EQ(chain().size(), before) << "nothing was done";
    // Of what the batch cannot meet nothing is kept.
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
    // What has come since it was read is read by the command.
    const auto ask_store = [this](const find_missed& q) { return ask(q); };
    ASSERT_TRUE(testing::read_missed(late, step_work_max, ask_store));
    send({update(uuid_of(2), "r", "theirs", t0 + milliseconds{7})});
    EXPECT_TRUE(std::holds_alternative<add_version::added>(run(late)));
    EXPECT_EQ(attribute(uuid_of(2), "r"), "theirs");
}

TEST_F(sent_versions, what_is_read_for_a_device_is_bounded) {
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
    // Of parts that are small one version at least is read.
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

// ---- the way back ----

TEST_F(sent_versions, a_late_device_is_led_back_version_by_version) {
    send({create(uuid_of(1)), update(uuid_of(1), "p", "0")});
    const uuid common = head().version;
    task_map own = tasks();
    send({update(uuid_of(1), "p", "1"), update(uuid_of(1), "q", "1")});
    send({update(uuid_of(1), "p", "2"), update(uuid_of(1), "r", "2")});
    const auto late = std::get<add_version::added>(
        send(phone, common, {update(uuid_of(1), "p", "late", t0 + milliseconds{9})}));
    const uuid on_chain = head().version;
    // What its own holds against is not among them, and where it stands on the way has a name, from
    // which it may even go on by itself.
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

// Past the last of its own a device is on the chain, and only the chain names that place.
TEST_F(sent_versions, a_place_beyond_the_way_back_is_none) {
    send({create(uuid_of(1))});
    uuid name = std::get<add_version::added>(send(phone, uuid{}, {create(uuid_of(2))})).version;
    for (const int steps : {3, 4, 200}) {
        name.data[15] = static_cast<std::uint8_t>(steps);
        EXPECT_TRUE(std::holds_alternative<unknown_version>(child_of(name))) << steps;
    }
}

// A late version costs what it says, however much it has missed.
TEST_F(sent_versions, a_fork_version_copies_nothing_of_what_was_missed) {
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

// The oldest go first, and whose own is gone begins where its last good sync ended.
TEST_F(sent_versions, a_device_whose_fork_version_is_forgotten_syncs_again) {
    send({create(uuid_of(1))});
    const uuid common = head().version;
    send({create(uuid_of(2))});
    const operations mine{update(uuid_of(1), "p", "mine")};
    const auto first = std::get<add_version::added>(send(phone, common, mine));
    const auto abandon = [&](std::int64_t times) {
        write([&](write_tx& tx) {
            for (std::int64_t n = 0; n < times; ++n) {
                forks::put(tx, account_, {ids_.next(now_), 0, now_, {1}, {}, {}},
                           {add_version::fork_versions_max, add_version::fork_version_bytes_max});
            }
        });
    };
    abandon(add_version::fork_versions_max - 1);
    EXPECT_TRUE(std::holds_alternative<find_child::next_version>(child_of(first.version)));
    abandon(1);
    EXPECT_TRUE(std::holds_alternative<unknown_version>(child_of(first.version)));
    // As the client does it: what it had not finished is transformed over what it pulls.
    task_map own{{uuid_of(1), {{"key", "SYN-1"}}}};
    follow(common, own);
    EXPECT_EQ(own, tasks());
    EXPECT_EQ(own.at(uuid_of(1)).at("p"), "mine");
}

// ---- in steps ----

TEST_F(sent_versions, a_large_segment_is_taken_in_steps) {
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
    // The device gets all the keys, and of the names on the way only the last one is kept.
    follow(c.parent, own);
    EXPECT_EQ(own, tasks());
    told.pop_back();
    for (const uuid& id : told) {
        EXPECT_FALSE(forks::find(*store_->begin_read(), account_, id));
    }
}

TEST_F(sent_versions, what_one_step_takes_counts_the_tasks_it_touches) {
    send({create(uuid_of(1)), update(uuid_of(1), "a", std::string(100'000, 'x')),
          create(uuid_of(2)), update(uuid_of(2), "a", std::string(100'000, 'x'))});
    add_version c{laptop, head().version, {}, account_, 0};
    c.operations = {update(uuid_of(1), "p", "v"), update(uuid_of(2), "p", "v")};
    c.work_max = 150'000;
    EXPECT_EQ(std::get<add_version::added>(run(c)).taken, 1u);
    // But many changes of one large task are one step.
    c.parent = head().version;
    c.operations = operations(100, update(uuid_of(2), "p", "w"));
    c.work_max = 50'000;
    EXPECT_EQ(std::get<add_version::added>(run(c)).taken, 100u);
}

TEST_F(sent_versions, a_segment_is_handed_over_in_steps) {
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
