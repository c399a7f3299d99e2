// A remote account: what is sent to the remote server, and what is pulled from it.

#include "fixture.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/effects.hpp>
#include <callsign/rules/rows/remotes.hpp>
#include <callsign/rules/rows/slots.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/versions.hpp>

#include <gtest/gtest.h>

namespace callsign {
namespace {

class remote_account : public rules_test {
  protected:
    remote_account() {
        create_account c{"team", "SYN", "t", sha256("team")};
        c.remote = create_account::remote_endpoint{"https://example.com/", uuid_of(900), "key"};
        account_ = std::get<account>(run(c)).id;
    }

    slot_id reserved(const std::string& key, std::optional<uuid> task = {}) {
        const auto answer = run(reserve{account_, key, {}, task, ""});
        EXPECT_TRUE(std::get<reserve::reserved>(answer).is_remote);
        return std::get<reserve::reserved>(answer).slot;
    }
    // Begins a delivery; returns its task.
    uuid begun(const std::string& key, std::optional<uuid> task = {}) {
        const slot_id id = reserved(key, task);
        const auto answer = run(begin_delivery{id, "", {{"description", key}}});
        EXPECT_TRUE(std::holds_alternative<begin_delivery::delivering>(answer));
        return find_slot(id).uuid;
    }
    slot find_slot(slot_id id) {
        return slots::some(*store_->begin_read(), slot_id{id.value - 1}, 1, {}, {}).front();
    }
    slot find_slot(const std::string& key) { return ask(callsign::find_slot{account_, key})->slot; }
    take_delivery::taken take(std::vector<edit_task> edits = {}) {
        return std::get<take_delivery::taken>(run(take_delivery{account_, std::move(edits)}));
    }
    // An annotation of the task with the key "k".
    edit_task noted(const uuid& task, const std::string& request) {
        edit_task c{.account = account_, .task = task};
        c.action = task_action{task_action::kind::annotate, "said"};
        c.once = request_key{"k", sha256(request)};
        return c;
    }
    settle::answer settle_as(const take_delivery::taken& sent, const uuid& version) {
        return run(settle{account_, sent.parent, version, sent.operations, sent.parts});
    }
    apply_remote_version::answer pull(const uuid& parent, const uuid& version, operations all) {
        return run(apply_remote_version{account_, parent, version, std::move(all)});
    }
    remote_chain remote() { return *remotes::find(*store_->begin_read(), account_); }
    outbox_tally waiting() { return effects::tally(*store_->begin_read(), account_); }
    std::optional<task> find(const uuid& id) {
        return tasks::find(*store_->begin_read(), account_, id);
    }
    std::int64_t number_of(const uuid& id) {
        const auto found = find(id);
        return found && found->numbered ? found->numbered->number : 0;
    }

    account_id account_;
};

// Two accounts with one client id would both number the tasks of one chain.
TEST_F(remote_account, a_client_id_belongs_to_one_account_with_any_url) {
    const auto add = [this](const std::string& name, const std::string& url, int client) {
        create_account c{name, "SYN", "t", sha256(name)};
        c.remote = create_account::remote_endpoint{url, uuid_of(client), "key"};
        return run(c);
    };
    for (const char* url : {"https://example.com/", "https://example.org/"}) {
        EXPECT_TRUE(std::holds_alternative<client_id_taken>(add("second", url, 900))) << url;
    }
    // The check covers any number of accounts.
    for (int n = 0; n < 1'001; ++n) add("other " + std::to_string(n), "https://example.com/", n);
    EXPECT_TRUE(std::holds_alternative<client_id_taken>(add("last", "https://example.com/", 600)));
    EXPECT_TRUE(std::holds_alternative<account>(add("last", "https://example.com/", 2'000)));
    // Once the account is local, its client id is free.
    EXPECT_TRUE(std::holds_alternative<move_to_local::moved>(run(move_to_local{account_, uuid{}})));
    EXPECT_TRUE(std::holds_alternative<account>(add("next", "https://example.com/", 900)));
}

TEST_F(remote_account, a_task_that_would_be_too_large_gets_no_slot_and_is_not_sent) {
    reserve large{account_, "large", {}, {}, "", {{"notes", std::string(task_bytes_max, 'x')}}};
    EXPECT_TRUE(std::holds_alternative<task_too_large>(run(large)));
    EXPECT_EQ(store_->totals()->slots.pending, 0);
    const slot_id other = reserved("other");
    const auto rejected = run(begin_delivery{other, "", large.attributes});
    EXPECT_TRUE(std::holds_alternative<task_too_large>(rejected));
    EXPECT_EQ(waiting().creations, 0);
}

// The mirror accepts any size that other remote clients have written.
TEST_F(remote_account, a_large_remote_task_is_accepted_like_one_of_a_device) {
    const std::string note(task_bytes_max, 'x');
    const operations large{create(uuid_of(1)), update(uuid_of(1), "note", note)};
    EXPECT_TRUE(
        std::holds_alternative<apply_remote_version::applied>(pull(uuid{}, v1, {large.front()})));
    EXPECT_EQ(std::get<task_too_large>(pull(v1, v2, {large.back()})).task, uuid_of(1));
    synced_task_bytes_max_ = 2 * task_bytes_max;
    EXPECT_TRUE(
        std::holds_alternative<apply_remote_version::applied>(pull(v1, v2, {large.back()})));
    EXPECT_EQ(value_of(find(uuid_of(1))->attributes, "note"), note);
    EXPECT_EQ(remote().cursor, v2);
}

TEST_F(remote_account, a_creation_is_in_flight_and_has_no_number) {
    const uuid task = begun("one");
    EXPECT_EQ(find_slot("one").state, slot_state::in_flight);
    EXPECT_FALSE(find(task));
    EXPECT_EQ(waiting().creations, 1);
    EXPECT_TRUE(was_told<events::effect_waiting>());
    EXPECT_EQ(store_->totals()->slots.in_flight, 1);
    EXPECT_EQ(store_->totals()->slots.pending, 0);
}

TEST_F(remote_account, a_retry_finds_it_in_flight_and_creates_no_second) {
    begun("one");
    const auto again = run(reserve{account_, "one", {}, {}, ""});
    EXPECT_TRUE(std::holds_alternative<reserve::in_flight>(again));
    EXPECT_EQ(waiting().creations, 1);
    EXPECT_EQ(find_slot("one").attempts, 2);
}

TEST_F(remote_account, settled_it_has_its_number_and_its_key_waits_to_be_sent) {
    const uuid task = begun("one");
    const auto sent = take();
    EXPECT_EQ(sent.parent, uuid{});
    EXPECT_EQ(sent.operations.front(), create(task));
    ASSERT_TRUE(std::holds_alternative<settle::settled>(settle_as(sent, v1)));
    EXPECT_EQ(number_of(task), 1);
    EXPECT_EQ(find_slot("one").state, slot_state::committed);
    EXPECT_TRUE(find_slot("one").created);
    EXPECT_EQ(remote().cursor, v1);
    EXPECT_EQ(waiting().creations, 0);
    EXPECT_EQ(waiting().keys, 1);

    const auto keys = take();
    ASSERT_EQ(keys.operations.size(), 1u);
    EXPECT_EQ(keys.operations.front().property, "key");
    EXPECT_EQ(keys.operations.front().value, "SYN-1");
    settle_as(keys, v2);
    EXPECT_EQ(waiting().keys, 0);
    EXPECT_EQ(find(task)->attributes.at("key"), "SYN-1");
}

TEST_F(remote_account, an_edit_with_a_key_is_sent_once) {
    const uuid task = begun("one");
    settle_as(take(), v1);
    settle_as(take(), v2);
    edit_task note = noted(task, "note");
    const auto sent = take({note});
    ASSERT_EQ(sent.parts.size(), 1u);
    settle_as(sent, v3);
    const auto again = take({note});
    EXPECT_TRUE(again.parts.empty());
    ASSERT_EQ(again.answered.size(), 1u);
    const auto& answer = again.answered.front().second;
    EXPECT_EQ(std::get<replayed<edit_task::edited>>(answer).first.now.attributes,
              find(task)->attributes);
    note.once->fingerprint = sha256("other");
    EXPECT_TRUE(std::holds_alternative<key_conflict>(take({note}).answered.front().second));
}

TEST_F(remote_account, a_key_is_of_one_edit_also_before_that_has_been_sent) {
    const uuid one = begun("one");
    const uuid two = begun("two");
    settle_as(take(), v1);
    settle_as(take(), v2);
    const edit_task first = noted(one, "first");
    const edit_task other = noted(two, "other");
    edit_task without_effect{.account = account_, .task = two};
    without_effect.action = task_action{task_action::kind::reopen, ""};
    without_effect.once = request_key{"k", sha256("without effect")};
    const auto sent = take({first, other, without_effect});
    ASSERT_EQ(sent.parts.size(), 1u);
    EXPECT_TRUE(sent.answered.empty());
    EXPECT_TRUE(sent.has_more);
    settle_as(sent, v3);
    for (const auto& [at, answer] : take({other, without_effect}).answered) {
        EXPECT_TRUE(std::holds_alternative<key_conflict>(answer)) << at;
    }
    EXPECT_TRUE(
        std::holds_alternative<replayed<edit_task::edited>>(take({first}).answered.front().second));
}

TEST_F(remote_account, an_edit_is_settled_though_its_key_was_used_meanwhile) {
    const uuid task = begun("one");
    settle_as(take(), v1);
    settle_as(take(), v2);
    edit_task note = noted(task, "note");
    const auto sent = take({note});
    create_series other{.account = account_, .prefix = "NEW"};
    other.once = request_key{"k", sha256("series")};
    ASSERT_TRUE(std::holds_alternative<series>(run(other)));
    EXPECT_TRUE(std::holds_alternative<settle::settled>(settle_as(sent, v3)));
    EXPECT_TRUE(std::holds_alternative<replayed<series>>(run(other)));
    EXPECT_TRUE(std::holds_alternative<key_conflict>(take({note}).answered.front().second));
}

TEST_F(remote_account, a_renamed_series_sends_the_new_keys) {
    const uuid task = begun("one");
    settle_as(take(), v1);
    settle_as(take(), v2);
    edit_series c{.account = account_, .named = "SYN"};
    c.prefix = "NEW";
    run(c);
    EXPECT_EQ(waiting().keys, 1);
    const auto keys = take();
    ASSERT_EQ(keys.operations.size(), 1u);
    EXPECT_EQ(keys.operations.front().value, "NEW-1");
    settle_as(keys, v3);
    EXPECT_EQ(find(task)->attributes.at("key"), "NEW-1");
}

TEST_F(remote_account, a_sent_version_that_is_pulled_settles_the_same_way) {
    const uuid task = begun("one");
    const auto sent = take();
    const auto applied = std::get<apply_remote_version::applied>(pull({}, v1, sent.operations));
    EXPECT_EQ(applied.settled, 1);
    EXPECT_EQ(number_of(task), 1);
    EXPECT_TRUE(find_slot("one").created);
    EXPECT_EQ(waiting().creations, 0);
}

TEST_F(remote_account, a_task_that_another_client_created_is_not_its_own) {
    const uuid task = begun("one", uuid_of(5));
    take();
    pull({}, v1, {create(task), update(task, "description", "theirs")});
    EXPECT_EQ(find_slot("one").state, slot_state::committed);
    EXPECT_FALSE(find_slot("one").created);
    EXPECT_EQ(waiting().creations, 0);
}

TEST_F(remote_account, a_second_key_for_the_same_task_waits_for_it) {
    begun("one", uuid_of(5));
    const slot_id second = reserved("two", uuid_of(5));
    run(begin_delivery{second, "", {{"description", "two"}}});
    EXPECT_EQ(waiting().creations, 1);
    EXPECT_EQ(find_slot(second).state, slot_state::pending);
    settle_as(take(), v1);
    EXPECT_EQ(find_slot(second).state, slot_state::committed);
    EXPECT_FALSE(find_slot(second).created);
}

TEST_F(remote_account, sent_again_it_is_the_same_bytes) {
    begun("one");
    const auto first = take();
    const auto second = take();
    EXPECT_EQ(first.operations, second.operations);
}

TEST_F(remote_account, nothing_is_settled_after_another_parent) {
    begun("one");
    const auto sent = take();
    pull({}, v1, {create(uuid_of(3))});
    EXPECT_TRUE(std::holds_alternative<cursor_mismatch>(settle_as(sent, v2)));
    EXPECT_EQ(find_slot("one").state, slot_state::in_flight);
    EXPECT_EQ(remote().cursor, v1);
    EXPECT_TRUE(std::holds_alternative<cursor_mismatch>(pull({}, v2, {create(uuid_of(4))})));
    EXPECT_EQ(take().parent, v1);
}

TEST_F(remote_account, tasks_are_numbered_in_the_order_of_the_chain) {
    pull({}, v1, {create(uuid_of(9)), create(uuid_of(2))});
    pull(v1, v2, {create(uuid_of(5))});
    EXPECT_EQ(number_of(uuid_of(9)), 1);
    EXPECT_EQ(number_of(uuid_of(2)), 2);
    EXPECT_EQ(number_of(uuid_of(5)), 3);
    EXPECT_EQ(remote().before, v1);
}

TEST_F(remote_account, a_task_created_and_removed_in_one_version_has_no_number) {
    pull({}, v1, {create(uuid_of(1)), remove(uuid_of(1)), create(uuid_of(2))});
    EXPECT_FALSE(find(uuid_of(1)));
    EXPECT_EQ(number_of(uuid_of(2)), 1);
}

TEST_F(remote_account, a_recreated_task_keeps_its_number) {
    pull({}, v1, {create(uuid_of(1)), create(uuid_of(2))});
    pull(v1, v2, {remove(uuid_of(1))});
    EXPECT_TRUE(find(uuid_of(1))->purged);
    pull(v2, v3, {create(uuid_of(1))});
    EXPECT_FALSE(find(uuid_of(1))->purged);
    EXPECT_EQ(number_of(uuid_of(1)), 1);
}

// Invalid operations that another client has written.
TEST_F(remote_account, operations_without_effect_are_dropped) {
    pull(
        {}, v1,
        {update(uuid_of(1), "a", "b"), create(uuid_of(2)), create(uuid_of(2)), remove(uuid_of(3))});
    EXPECT_EQ(versions::some(*store_->begin_read(), account_, 0, 10).front().operations.size(), 1u);
    pull(v1, v2, {remove(uuid_of(7))});
    EXPECT_EQ(remote().cursor, v2);
    EXPECT_EQ(accounts::find(*store_->begin_read(), account_)->head.seq, 1);
}

TEST_F(remote_account, a_large_version_is_applied_in_steps_and_resumed) {
    operations all;
    for (int n = 1; n <= 10; ++n) {
        all.push_back(create(uuid_of(n)));
        all.push_back(update(uuid_of(n), "text", std::string(300, 'x')));
    }
    apply_remote_version c{.account = account_, .version = v1, .operations = all, .work_max = 4000};
    int steps = 0;
    while (remote().cursor != v1) {
        ASSERT_LT(++steps, 20);
        const auto done = std::get<apply_remote_version::applied>(run(c));
        ASSERT_GT(done.taken, 0u);
        c.operations.erase(c.operations.begin(),
                           c.operations.begin() + static_cast<std::ptrdiff_t>(done.taken));
        c.before += static_cast<std::int64_t>(done.taken);
        if (remote().cursor == v1) break;
        EXPECT_EQ(remote().partial, v1);
        EXPECT_EQ(remote().partial_operations, c.before);
        EXPECT_TRUE(take().operations.empty());  // nothing is sent on half of a version
        auto other = c;
        other.before = 0;
        EXPECT_TRUE(std::holds_alternative<cursor_mismatch>(run(other)));
    }
    EXPECT_GT(steps, 2);
    EXPECT_EQ(number_of(uuid_of(10)), 10);
}

TEST_F(remote_account, an_edit_is_planned_on_the_mirror_and_applied_when_accepted) {
    pull({}, v1, {create(uuid_of(1)), update(uuid_of(1), "description", "old")});
    edit_task e{.account = account_, .task = task_key{"SYN", "", 1}};
    e.changes = {{"description", "new"}};
    EXPECT_TRUE(std::holds_alternative<edit_task::is_remote_account>(run(e)));
    const auto sent = take({e});
    EXPECT_EQ(find(uuid_of(1))->attributes.at("description"), "old");
    const auto done = std::get<settle::settled>(settle_as(sent, v2));
    ASSERT_EQ(done.edited.size(), 1u);
    EXPECT_EQ(done.edited.front().attributes.at("description"), "new");
}

TEST_F(remote_account, edits_without_a_change_need_no_delivery) {
    pull({}, v1, {create(uuid_of(1)), update(uuid_of(1), "description", "old")});
    settle_as(take(), v2);  // the version with its key
    edit_task same{.account = account_, .task = uuid_of(1)};
    same.changes = {{"description", "old"}};
    edit_task stale = same;
    stale.changes = {{"description", "x"}};
    stale.if_match = {{{77, 0}}};
    edit_task unknown{.account = account_, .task = uuid_of(99)};
    const auto sent = take({same, stale, unknown});
    EXPECT_TRUE(sent.operations.empty());
    ASSERT_EQ(sent.answered.size(), 3u);
    EXPECT_TRUE(std::holds_alternative<edit_task::edited>(sent.answered[0].second));
    EXPECT_TRUE(std::holds_alternative<edit_task::precondition_failed>(sent.answered[1].second));
    EXPECT_TRUE(std::holds_alternative<ref_fault>(sent.answered[2].second));
}

TEST_F(remote_account, the_second_edit_of_a_task_waits_for_the_first) {
    pull({}, v1, {create(uuid_of(1)), create(uuid_of(2))});
    settle_as(take(), v2);
    edit_task one{.account = account_, .task = uuid_of(1)};
    one.changes = {{"a", "1"}};
    edit_task same = one;
    edit_task other{.account = account_, .task = uuid_of(2)};
    other.changes = {{"a", "1"}};
    const auto sent = take({one, same, other});
    EXPECT_TRUE(sent.has_more);
    EXPECT_TRUE(sent.answered.empty());
    ASSERT_EQ(sent.parts.size(), 2u);
    EXPECT_EQ(sent.parts[0].edit, 0u);
    EXPECT_EQ(sent.parts[1].edit, 2u);
}

TEST_F(remote_account, two_servers_that_correct_a_key_stop_eventually) {
    pull({}, v1, {create(uuid_of(1))});
    uuid at = v1;
    int sent = 0;
    for (int n = 0; n < 20; ++n) {
        const auto correction = take();
        if (correction.operations.empty()) break;
        ++sent;
        const uuid mine = uuid_of(800 + 2 * n), theirs = uuid_of(801 + 2 * n);
        settle_as(correction, mine);
        pull(mine, theirs, {update(uuid_of(1), "key", "THEIRS-1")});
        at = theirs;
    }
    EXPECT_EQ(sent, key_corrections_max + 1);
    EXPECT_TRUE(was_told<events::key_contested>());
    EXPECT_EQ(find(uuid_of(1))->attributes.at("key"), "THEIRS-1");
    // A day later the key is corrected again.
    now_ += key_contest_forgotten + milliseconds{1};
    pull(at, v2, {update(uuid_of(1), "a", "b")});
    EXPECT_EQ(take().operations.size(), 1u);
}

TEST_F(remote_account, a_key_of_a_purged_task_is_not_sent) {
    pull({}, v1, {create(uuid_of(1))});
    EXPECT_EQ(waiting().keys, 1);
    pull(v1, v2, {remove(uuid_of(1))});
    EXPECT_EQ(waiting().keys, 0);
    EXPECT_TRUE(take().operations.empty());
}

// ---- the reaper ----

fail_in_flight old_ones(account_id account) {
    return {.account = account, .window = milliseconds{0}, .attempts_max = 1};
}

TEST_F(remote_account, one_that_was_sent_is_not_failed_without_a_fence) {
    const uuid task = begun("one");
    take();
    const auto looked = run(old_ones(account_));
    EXPECT_EQ(looked.failed, 0);
    EXPECT_EQ(looked.unfenced, 1);
    // Another child of that parent: no copy of our version can be accepted any more.
    pull({}, v1, {create(uuid_of(50))});
    EXPECT_EQ(run(old_ones(account_)).failed, 1);
    EXPECT_EQ(find_slot("one").state, slot_state::failed);
    EXPECT_EQ(find_slot("one").reason, failure_reason::not_delivered);
    EXPECT_EQ(waiting().creations, 0);
    EXPECT_FALSE(find(task));
    EXPECT_EQ(number_of(uuid_of(50)), 1);  // the failed creation has taken no number
}

TEST_F(remote_account, one_being_delivered_is_skipped) {
    begun("one");
    EXPECT_EQ(run(old_ones(account_)).failed, 0);
    EXPECT_EQ(find_slot("one").state, slot_state::in_flight);
}

TEST_F(remote_account, a_young_one_is_sent_again) {
    begun("one");
    take();
    pull({}, v1, {create(uuid_of(50))});
    auto sweep = old_ones(account_);
    sweep.window = std::chrono::hours{1};
    EXPECT_EQ(run(sweep).redelivered, 1);
    EXPECT_FALSE(take().operations.empty());
}

TEST_F(remote_account, one_that_a_request_waits_for_is_not_failed) {
    begun("one");
    take();
    pull({}, v1, {create(uuid_of(50))});
    auto sweep = old_ones(account_);
    sweep.busy = {{account_, "one"}};
    EXPECT_EQ(run(sweep).failed, 0);
}

TEST_F(remote_account, a_pending_one_is_left_to_the_remote_look_up) {
    const slot_id id = reserved("one");
    now_ += std::chrono::hours{1};
    const auto looked = run(reconcile_pending{slot_id{}, 10, std::chrono::minutes{1}, {}});
    EXPECT_EQ(looked.failed, 0);
    ASSERT_EQ(looked.remote.size(), 1u);
    EXPECT_EQ(looked.remote.front(), std::pair(account_, id));
    auto sweep = old_ones(account_);
    sweep.pending = {id};
    EXPECT_EQ(run(sweep).failed, 1);
    EXPECT_EQ(find_slot(id).reason, failure_reason::window_passed);
}

TEST_F(remote_account, a_suspended_one_is_not_sent_until_the_next_sweep) {
    begun("one");
    const auto sent = take();
    run(suspend_effect{account_, *sent.parts.front().effect, 8});
    EXPECT_TRUE(take().operations.empty());
}

// ---- restart from a snapshot ----

TEST_F(remote_account, adopts_a_state_and_keeps_its_numbers) {
    pull({}, v1, {create(uuid_of(1)), update(uuid_of(1), "a", "1"), create(uuid_of(2))});
    const auto head = accounts::head_of(*store_->begin_read(), account_).seq;
    apply_remote_state c{.account = account_};
    c.tasks = {{uuid_of(1), {{"b", "2"}}}, {uuid_of(3), {{"c", "3"}}}};
    c.gone = {uuid_of(2)};
    run(c);
    run(apply_remote_state{.account = account_, .reached = {{v3, v2}}});
    EXPECT_EQ(find(uuid_of(1))->attributes, (attributes{{"b", "2"}}));
    EXPECT_TRUE(find(uuid_of(2))->purged);
    EXPECT_EQ(number_of(uuid_of(1)), 1);
    EXPECT_EQ(number_of(uuid_of(2)), 2);
    EXPECT_EQ(number_of(uuid_of(3)), 3);
    EXPECT_EQ(remote().cursor, v3);
    EXPECT_EQ(accounts::head_of(*store_->begin_read(), account_).seq, head + 1);
    // The command is idempotent.
    run(c);
    EXPECT_EQ(accounts::head_of(*store_->begin_read(), account_).seq, head + 1);
}

// Steps are limited by the size of local tasks, too.
TEST_F(remote_account, adopts_a_state_in_steps) {
    constexpr int count = 8;
    operations made;
    apply_remote_state c{.account = account_};
    for (int n = 1; n <= count; ++n) {
        made.push_back(create(uuid_of(n)));
        made.push_back(update(uuid_of(n), "a", std::string(100'000, 'x')));
        if (n % 2 == 0) {
            c.gone.push_back(uuid_of(n));
        } else {
            c.tasks.push_back({uuid_of(n), {{"b", "2"}}});
        }
    }
    pull({}, v1, made);
    c.reached = {{v3, v2}};
    c.work_max = 150'000;
    int steps = 0;
    while (!c.tasks.empty() || !c.gone.empty()) {
        EXPECT_NE(remote().cursor, v3);
        const auto done = std::get<apply_remote_state::applied>(run(c));
        ASSERT_EQ(done.taken, 1u);
        if (c.tasks.empty()) {
            c.gone.erase(c.gone.begin());
        } else {
            c.tasks.erase(c.tasks.begin());
        }
        ++steps;
    }
    EXPECT_EQ(steps, count);
    EXPECT_EQ(remote().cursor, v3);
    for (int n = 1; n <= count; ++n) {
        EXPECT_EQ(find(uuid_of(n))->purged, n % 2 == 0);
        EXPECT_FALSE(find(uuid_of(n))->attributes.contains("a"));
    }
}

TEST_F(remote_account, a_creation_that_is_in_the_state_is_settled) {
    const uuid task = begun("one");
    take();
    run(apply_remote_state{.account = account_, .tasks = {{task, {{"description", "one"}}}}});
    EXPECT_EQ(find_slot("one").state, slot_state::committed);
    EXPECT_TRUE(find_slot("one").created);
}

// ---- halted, moved to local ----

TEST_F(remote_account, a_halted_account_accepts_no_creations_and_sends_nothing) {
    run(halt_remote{account_, remote_halt::history_lost, remote()});
    const slot_id id = reserved("one");
    EXPECT_TRUE(std::holds_alternative<remote_halted>(run(begin_delivery{id, "", {}})));
    EXPECT_EQ(find_slot(id).state, slot_state::pending);
    EXPECT_TRUE(std::holds_alternative<remote_halted>(run(take_delivery{account_})));
    edit_remote go_on{.account = account_};
    EXPECT_TRUE(std::holds_alternative<edit_remote::has_lost_versions>(run(go_on)));
    go_on.accept_loss = true;
    EXPECT_TRUE(std::holds_alternative<remote_chain>(run(go_on)));
    EXPECT_TRUE(remote().cursor.is_nil());
    EXPECT_EQ(remote().halted, remote_halt::none);
}

TEST_F(remote_account, moves_to_local_when_nothing_is_in_flight) {
    pull({}, v1, {create(uuid_of(1))});
    EXPECT_TRUE(
        std::holds_alternative<move_to_local::not_settled>(run(move_to_local{account_, v1})));
    settle_as(take(), v2);
    EXPECT_TRUE(std::holds_alternative<cursor_mismatch>(run(move_to_local{account_, v1})));
    EXPECT_TRUE(std::holds_alternative<move_to_local::moved>(run(move_to_local{account_, v2})));
    EXPECT_FALSE(accounts::find(*store_->begin_read(), account_)->is_remote);
    EXPECT_EQ(number_of(uuid_of(1)), 1);
    // The account is now like any local one.
    const auto made = run(reserve{account_, "one", {}, {}, ""});
    EXPECT_FALSE(std::get<reserve::reserved>(made).is_remote);
    EXPECT_TRUE(std::holds_alternative<receipted>(
        run(fulfil{std::get<reserve::reserved>(made).slot, "", {}})));
}

TEST_F(remote_account, commands_for_local_accounts_are_rejected) {
    EXPECT_TRUE(std::holds_alternative<account_is_remote>(
        run(create_device{account_, "laptop", uuid_of(7), "key"})));
    EXPECT_TRUE(std::holds_alternative<account_is_remote>(run(import_tasks{account_, {}})));
}

}  // namespace
}  // namespace callsign
