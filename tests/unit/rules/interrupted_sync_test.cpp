// Devices with an interrupted sync: the versions they receive, and the handling of repeated pushes.

#include "unit/rules/fixture.hpp"

#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/forks.hpp>

namespace callsign {
namespace {

struct interrupted_sync : managed_account {
    find_child::answer child_of(const uuid& parent, const sync_position& at = {}) {
        return ask(
            find_child{account_, parent, {}, devices::find(*store_->begin_read(), laptop)->id, at});
    }
    uuid held_at(const uuid& parent, const sync_position& at = {}) {
        const auto answer = child_of(parent, at);
        const auto* const held = std::get_if<find_child::push_first>(&answer);
        EXPECT_TRUE(held);
        return held ? held->name : uuid{};
    }
    bool is_given(const uuid& parent, const uuid& child, const sync_position& at = {}) {
        const auto answer = child_of(parent, at);
        const auto* const next = std::get_if<find_child::next_version>(&answer);
        return next && next->id == child;
    }
    // Pushes from any parent, as the handler does.
    uuid push(uuid parent, operations all, std::size_t work_max = step_work_max) {
        add_version c{laptop, parent, std::move(all), account_, 0};
        c.work_max = work_max;
        do {
            testing::go_on(c, std::get<add_version::added>(run(c)));
        } while (!c.operations.empty());
        return c.parent;
    }
    std::int64_t seq() { return head().seq; }

    const operations batch{create(uuid_of(1)), update(uuid_of(1), "p", "v"), create(uuid_of(2))};
};

TEST_F(interrupted_sync, a_device_does_not_receive_its_own_version_before_it_has_pushed) {
    const uuid own = push(uuid{}, batch);
    const uuid name = held_at(uuid{});
    EXPECT_NE(name, uuid{});
    // The push resolves to the version that exists.
    EXPECT_EQ(push(name, batch), own);
    EXPECT_TRUE(is_given(own, head().version));
    // Other devices receive the version.
    EXPECT_TRUE(
        std::holds_alternative<find_child::next_version>(managed_account::child_of(uuid{})));
}

TEST_F(interrupted_sync, a_repeated_push_is_not_appended_again) {
    push(uuid{}, batch);
    const auto before = seq();
    push(held_at(uuid{}), batch);
    EXPECT_EQ(seq(), before);
    // With further operations, only those are appended.
    operations more = batch;
    more.push_back(create(uuid_of(3)));
    const uuid side = push(held_at(uuid{}), more);
    EXPECT_EQ(seq(), before + 2) << "the version and its key";
    EXPECT_EQ(chain()[static_cast<std::size_t>(before)].operations, operations{create(uuid_of(3))});
    task_map own;
    for (const auto& o : more) carry_out(own, o);
    follow(side, own);
    EXPECT_EQ(own, tasks());
}

// The versions were added in steps, with the server's corrections between them.
TEST_F(interrupted_sync, a_push_in_steps_is_found_step_by_step) {
    operations many;
    for (int n = 1; n <= 30; ++n) many.push_back(create(uuid_of(n)));
    push(uuid{}, many, 1);
    const auto before = seq();
    EXPECT_EQ(before, 60);
    const uuid side = push(held_at(uuid{}), many, 1);
    EXPECT_EQ(seq(), before);
    task_map own;
    for (const auto& o : many) carry_out(own, o);
    follow(side, own);
    EXPECT_EQ(own, tasks());
}

// Operations without effect are repeated, too, and may be at the end of a step.
TEST_F(interrupted_sync, operations_without_effect_do_not_hide_what_follows) {
    const operations first{create(uuid_of(1)), remove(uuid_of(7))};
    operations second;
    for (int n = 2; n <= 30; ++n) second.push_back(create(uuid_of(n)));
    push(push(uuid{}, first), second);
    const auto before = seq();
    add_version c{laptop, held_at(uuid{}), first, account_, 0};
    c.operations.insert(c.operations.end(), second.begin(), second.begin() + 5);
    const auto one = std::get<add_version::added>(run(c));
    EXPECT_EQ(one.taken, 1u);
    c.operations.erase(c.operations.begin());
    c.parent = one.version;
    c.continues = true;
    const auto two = std::get<add_version::added>(run(c));
    EXPECT_EQ(two.taken, 1u) << "up to the begin of the next one";
    EXPECT_EQ(two.version, one.version);
    c.operations = second;
    EXPECT_EQ(std::get<add_version::added>(run(c)).taken, second.size());
    EXPECT_EQ(seq(), before);
}

TEST_F(interrupted_sync, operations_that_lost_against_it_are_not_sent_back) {
    send(phone, uuid{}, {create(uuid_of(1)), update(uuid_of(1), "p", "theirs")});
    const operations own{create(uuid_of(1)), update(uuid_of(1), "p", "mine", t0 + milliseconds{5})};
    push(uuid{}, own);
    const auto before = seq();
    const uuid name = held_at(uuid{}, {.pushes_first = true});
    const uuid side = push(name, own);
    EXPECT_EQ(seq(), before);
    task_map its{{uuid_of(1), {{"p", "mine"}}}};
    follow(side, its);
    EXPECT_EQ(its, tasks());
    EXPECT_EQ(attribute(uuid_of(1), "p"), "mine");
}

TEST_F(interrupted_sync, another_log_is_pushed_as_it_is) {
    push(uuid{}, batch);
    // The device has undone its operations and made others.
    const uuid side = push(held_at(uuid{}), {create(uuid_of(2)), create(uuid_of(9))});
    task_map own{{uuid_of(2), {}}, {uuid_of(9), {}}};
    follow(side, own);
    EXPECT_EQ(own, tasks());
    EXPECT_EQ(own.size(), 3u);
}

TEST_F(interrupted_sync, a_position_continues_for_a_device_without_pending_operations) {
    const uuid own = push(uuid{}, batch);
    const uuid name = held_at(uuid{});
    EXPECT_TRUE(is_given(name, own, {.own_through = seq()}));
    EXPECT_NE(held_at(name, {.own_through = 0}), name) << "the device has not pushed that version";
    // Unknown progress: the device gets a new position, which is known from then on. This never
    // happens for a sync that may be in progress.
    EXPECT_NE(held_at(name), name);
    EXPECT_EQ(held_at(held_at(name)), name);
    EXPECT_TRUE(std::holds_alternative<up_to_date>(child_of(name, {.may_be_resumed = true})));
    EXPECT_EQ(push(held_at(name), batch), own);
}

// Otherwise its push would be rejected forever.
TEST_F(interrupted_sync, a_device_too_far_behind_to_push_is_not_held) {
    push(uuid{}, batch);
    const uuid own = chain().front().id;
    EXPECT_NE(held_at(uuid{}, {.pulls_first = true}), uuid{}) << "it pushes its version again";
    EXPECT_TRUE(is_given(uuid{}, own, {.pulls_first = true, .pulls_own = true}));
    const uuid base = head().version;
    send(phone, base, {create(uuid_of(5))});
    const uuid name = held_at(base, {.pushes_first = true});
    EXPECT_NE(held_at(name), name);
    EXPECT_TRUE(
        std::holds_alternative<find_child::next_version>(child_of(name, {.pulls_first = true})));
}

TEST_F(interrupted_sync, a_device_may_have_to_push_before_it_receives_versions_of_others) {
    send(phone, uuid{}, {create(uuid_of(1))});
    const uuid theirs = chain().front().id;
    EXPECT_TRUE(is_given(uuid{}, theirs));
    EXPECT_NE(held_at(uuid{}, {.pushes_first = true}), uuid{});
    EXPECT_TRUE(is_given(uuid{}, theirs, {.pushes_first = true, .is_shared = true}));
    EXPECT_TRUE(
        std::holds_alternative<up_to_date>(child_of(head().version, {.pushes_first = true})));
}

TEST_F(interrupted_sync, a_device_with_another_batch_pushes_it_before_it_receives_keys) {
    constexpr sync_position at{.has_another_batch = true};
    const uuid own = push(uuid{}, batch);
    const uuid keys = head().version;
    EXPECT_TRUE(is_given(own, keys));
    const uuid side = push(held_at(own, at), {update(uuid_of(2), "p", "v"), create(uuid_of(3))});
    held_at(side, at);
    task_map its;
    for (const auto& o : batch) carry_out(its, o);
    carry_out(its, update(uuid_of(2), "p", "v"));
    carry_out(its, create(uuid_of(3)));
    follow(side, its);
    EXPECT_EQ(its, tasks());
    EXPECT_EQ(its.at(uuid_of(3)).at("key"), "SYN-3");
}

// Its own versions are found after any number of versions of others.
TEST_F(interrupted_sync, a_repeated_push_is_found_far_behind) {
    push(uuid{}, {create(uuid_of(9))});
    const uuid base = head().version;
    for (int n = 10; n < 20; ++n) send(phone, head().version, {create(uuid_of(n))});
    push(base, batch);
    for (int n = 20; n < 30; ++n) send(phone, head().version, {create(uuid_of(n))});
    const uuid name = held_at(base, {.pushes_first = true});
    const auto before = seq();
    for (const std::size_t read_max : {std::size_t{0}, std::size_t{3'000}, std::size_t{1} << 20}) {
        const auto added = std::get<add_version::added>(send(laptop, name, batch, read_max));
        EXPECT_EQ(seq(), before) << read_max;
        task_map own;
        for (const auto& o : operations{create(uuid_of(9)), update(uuid_of(9), "key", "SYN-1")}) {
            carry_out(own, o);
        }
        for (const auto& o : batch) carry_out(own, o);
        follow(added.version, own);
        EXPECT_EQ(own, tasks());
    }
}

// The interrupted request may still be running when it is repeated.
TEST_F(interrupted_sync, a_version_added_since_the_read_is_found) {
    push(uuid{}, {create(uuid_of(9))});
    const uuid base = head().version;
    send(phone, base, {create(uuid_of(10))});
    add_version again{laptop, held_at(base, {.pushes_first = true}), batch, account_, 0};
    ASSERT_TRUE(
        testing::read_missed(again, step_work_max, [this](const auto& q) { return ask(q); }));
    push(base, batch);
    const auto before = seq();
    EXPECT_EQ(std::get<add_version::added>(run(again)).taken, batch.size());
    EXPECT_EQ(seq(), before);
}

// A device may be at this position after the end of its sync.
TEST_F(interrupted_sync, a_position_outlives_its_fork_version) {
    send(phone, uuid{}, {create(uuid_of(1))});
    const uuid base = head().version;
    send(phone, base, {create(uuid_of(3)), update(uuid_of(3), "p", "theirs")});
    const uuid side = push(base, {create(uuid_of(2)), update(uuid_of(2), "p", "v")});
    const uuid name = held_at(side, {.pushes_first = true});
    {
        const auto tx = store_->begin_write();
        ASSERT_TRUE(forks::find(*tx, account_, fork_of(side)));
        forks::forget(*tx, account_, fork_of(side));
        tx->commit();
    }
    EXPECT_TRUE(std::holds_alternative<unknown_version>(child_of(side)));
    task_map own{{uuid_of(1), {{"key", "SYN-1"}}}, {uuid_of(2), {{"p", "v"}}}};
    for (uuid at = name;;) {
        const auto next = child_of(at, {.own_through = seq()});
        const auto* const version = std::get_if<find_child::next_version>(&next);
        if (!version) break;
        for (const auto& o : version->operations) carry_out(own, o);
        at = version->id;
    }
    EXPECT_EQ(own, tasks());
}

TEST_F(interrupted_sync, a_correction_by_the_server_is_not_by_others) {
    const auto is_by_others = [&](const uuid& parent) {
        const auto next = child_of(parent, {.own_through = seq()});
        return std::get<find_child::next_version>(next).is_by_others;
    };
    const uuid own = push(uuid{}, batch);
    EXPECT_FALSE(is_by_others(uuid{}));
    EXPECT_FALSE(is_by_others(own)) << "the version with the keys";
    const uuid before = head().version;
    send(phone, before, {create(uuid_of(5))});
    EXPECT_TRUE(is_by_others(before));
    // The device itself created part of the server's version: the rest is not a correction.
    const uuid common = head().version;
    import(account_, 6, 1);
    EXPECT_TRUE(is_by_others(push(common, {create(uuid_of(6))})));
}

}  // namespace
}  // namespace callsign
