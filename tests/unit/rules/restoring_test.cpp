// A store restored from a backup: no number is assigned that a task may already have.

#include "fixture.hpp"
#include "support/scrub.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/actions.hpp>
#include <callsign/rules/rows/instance.hpp>
#include <callsign/rules/rows/numbers.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tasks.hpp>

namespace callsign {
namespace {

class restored : public rules_test {
  protected:
    restored() {
        account_ = std::get<account>(run(create_account{"team", "SYN", "t", sha256("team")})).id;
        for (const char* key : {"one", "two"}) make(key);
    }

    fulfil::answer make(const std::string& key, std::optional<uuid> task = {}) {
        const auto begun = run(reserve{account_, key, {}, task, ""});
        return run(fulfil{std::get<reserve::reserved>(begun).slot, "", {{"description", key}}});
    }
    std::int64_t hold() { return run(mark_restored{uuid_of(500)}).held; }
    resume_series::answer resume(std::optional<std::int64_t> at = {}) {
        return run(resume_series{account_ref{account_}, "SYN", at});
    }
    device add_device() {
        return std::get<device>(run(create_device{account_, "laptop", uuid_of(30), "key"}));
    }
    add_version::answer send(const uuid& client, operations all) {
        const uuid head = accounts::head_of(*store_->begin_read(), account_).version;
        return run(add_version{.client_id = client,
                               .parent = head,
                               .operations = std::move(all),
                               .account = account_});
    }
    static operations made(int n, const std::string& key) {
        operations all{create(uuid_of(n)), update(uuid_of(n), "description", "x")};
        if (!key.empty()) all.push_back(update(uuid_of(n), "key", key));
        return all;
    }
    std::string key_of(int n) {
        return callsign::key_of(
            *tasks::find(*store_->begin_read(), account_, uuid_of(n))->numbered);
    }
    std::optional<task> find(int n) {
        return tasks::find(*store_->begin_read(), account_, uuid_of(n));
    }
    slot_id reserved(const std::string& key, int n) {
        return std::get<reserve::reserved>(run(reserve{account_, key, {}, uuid_of(n), ""})).slot;
    }
    // The key that the device sends belongs to no task, and must not be stored.
    bool has_no_number(const device& from, operations all, int n) {
        const bool added = is_added(send(from.client_id, std::move(all)));
        return added && !find(n)->numbered && !find(n)->attributes.contains("key");
    }
    std::vector<numbers_skipped> skipped() {
        const auto tx = store_->begin_read();
        return numbers::skipped(*tx, all_series::default_of(*tx, account_)->id);
    }
    static bool is_added(const auto& answer) {
        return std::holds_alternative<add_version::added>(answer);
    }
    static bool is_held(const auto& answer) { return std::holds_alternative<series_held>(answer); }

    account_id account_;
};

// A seq is assigned again, to another change: an ETag from after the backup must not match it.
TEST_F(restored, tasks_have_other_tags) {
    const auto tag = [&] {
        return std::get<task>(ask(find_task{account_, *parse_task_ref("SYN-1")})).tag;
    };
    const task_tag before = tag();
    EXPECT_EQ(parse_task_tag(to_string(before)), before);
    hold();
    EXPECT_EQ(tag().seq, before.seq);
    EXPECT_NE(tag().stamp, before.stamp);
    edit_task c{.account = account_, .task = *parse_task_ref("SYN-1")};
    c.changes = {{"project", "p"}};
    c.if_match = {{before}};
    EXPECT_TRUE(std::holds_alternative<edit_task::precondition_failed>(run(c)));
}

TEST_F(restored, is_another_instance_and_holds_every_series) {
    run(create_series{account_ref{account_}, "INC"});
    EXPECT_EQ(hold(), 2);
    EXPECT_EQ(instance_of(*store_->begin_read()), uuid_of(500));
    for (const series& s : all_series::of(*store_->begin_read(), account_)) EXPECT_TRUE(s.held);
}

TEST_F(restored, the_audit_log_has_it_and_of_when_the_backup_was) {
    const time_point made_at = now_ - std::chrono::hours{2};
    run(mark_restored{uuid_of(500), made_at});
    const auto all = actions::list(*store_->begin_read(), {}, 10, {});
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all.front().what, "restored");
    EXPECT_EQ(all.front().by, actor{});
    EXPECT_EQ(all.front().subject, to_rfc3339(made_at));
}

TEST_F(restored, creates_nothing_and_leaves_no_slot) {
    hold();
    const auto rejected = run(reserve{account_, "three", {}, {}, ""});
    ASSERT_TRUE(is_held(rejected));
    EXPECT_EQ(std::get<series_held>(rejected).prefix, "SYN");
    EXPECT_EQ(store_->totals()->slots.pending, 0);
    // A receipt from before the backup is returned again.
    EXPECT_TRUE(std::holds_alternative<receipted>(run(reserve{account_, "two", {}, {}, ""})));
}

TEST_F(restored, a_project_has_its_own_series) {
    run(create_series{account_ref{account_}, "OPS", "ops"});
    hold();
    resume();
    reserve wanted{account_, "three", {}, {}, ""};
    wanted.attributes = {{"project", "ops"}};
    const auto rejected = run(wanted);
    ASSERT_TRUE(is_held(rejected));
    EXPECT_EQ(std::get<series_held>(rejected).prefix, "OPS");
}

TEST_F(restored, a_creation_begun_before_the_backup_waits) {
    const auto begun = run(reserve{account_, "three", {}, {}, ""});
    const slot_id slot = std::get<reserve::reserved>(begun).slot;
    hold();
    EXPECT_TRUE(is_held(run(fulfil{slot, "", {}})));
    resume(7);
    const auto made = run(fulfil{slot, "", {}});
    EXPECT_EQ(std::get<receipted>(made).receipt.number, 7);
}

TEST_F(restored, resumes_at_a_given_number_and_skips_the_others) {
    hold();
    const auto low = resume(2);
    EXPECT_EQ(std::get<edit_series::next_too_low>(low).least, 3);
    EXPECT_TRUE(is_held(run(reserve{account_, "three", {}, {}, ""})));
    const auto on = std::get<series>(resume(57));
    EXPECT_FALSE(on.held);
    EXPECT_EQ(on.last_number, 56);
    EXPECT_EQ(std::get<receipted>(make("three")).receipt.number, 57);
    EXPECT_TRUE(std::holds_alternative<resume_series::not_held>(resume(60)));
    EXPECT_TRUE(std::holds_alternative<no_such_series>(
        run(resume_series{account_ref{account_}, "NONE", {}})));
}

TEST_F(restored, resumes_at_the_next_number_by_default) {
    hold();
    resume();
    EXPECT_EQ(std::get<receipted>(make("three")).receipt.number, 3);
}

// ---- tasks that devices create while series are held ----

TEST_F(restored, a_device_syncs_and_its_new_tasks_get_their_numbers_at_the_resume) {
    const uuid client = add_device().client_id;
    const uuid known = std::get<receipted>(make("three")).receipt.uuid;
    hold();
    EXPECT_TRUE(is_added(send(client, {update(known, "description", "edited", now_)})));
    ASSERT_TRUE(is_added(send(client, made(8, ""))));
    ASSERT_TRUE(is_added(send(client, made(7, ""))));
    EXPECT_FALSE(find(7)->numbered);
    EXPECT_EQ(find(7)->attributes.count("key"), 0u);
    EXPECT_EQ(testing::audit(*store_), std::vector<std::string>{});
    resume(9);
    EXPECT_EQ(key_of(8), "SYN-9");
    EXPECT_EQ(key_of(7), "SYN-10");
    EXPECT_EQ(find(7)->attributes.at("key"), "SYN-10");
    EXPECT_EQ(find(7)->numbered->created_at, find(7)->created_at);
    EXPECT_EQ(std::get<receipted>(make("four")).receipt.number, 11);
    EXPECT_FALSE(all_series::default_of(*store_->begin_read(), account_)->numbering);
}

TEST_F(restored, many_tasks_get_their_numbers_in_steps) {
    const uuid client = add_device().client_id;
    hold();
    constexpr int count = 2'400;
    for (int n = 0; n < count; n += 300) {
        operations some;
        for (int i = n; i < n + 300; ++i) some.push_back(create(uuid_of(1'000 + i)));
        ASSERT_EQ(std::get<add_version::added>(send(client, some)).taken, some.size());
    }
    EXPECT_FALSE(std::get<series>(resume()).held);
    const series now = *all_series::default_of(*store_->begin_read(), account_);
    EXPECT_TRUE(now.numbering);
    EXPECT_FALSE(find(1'000 + count - 1)->numbered);
    EXPECT_EQ(testing::audit(*store_), std::vector<std::string>{});
    // Other creations do not wait for them.
    EXPECT_GT(std::get<receipted>(make("three")).receipt.number, 3);
    // Restored a second time in between.
    hold();
    EXPECT_EQ(ask(find_numbering{}).series, std::nullopt);
    resume();
    EXPECT_EQ(ask(find_numbering{}).series, now.id);
    while (run(number_tasks{now.id, 200'000}).has_more) {
        EXPECT_EQ(testing::audit(*store_), std::vector<std::string>{});
    }
    EXPECT_EQ(ask(find_numbering{}).series, std::nullopt);
    EXPECT_EQ(numbers::with_last(*store_->begin_read(),
                                 *all_series::default_of(*store_->begin_read(), account_))
                  .last_number,
              3 + count);
    EXPECT_FALSE(run(number_tasks{now.id}).has_more);
    EXPECT_EQ(numbers::with_last(*store_->begin_read(),
                                 *all_series::default_of(*store_->begin_read(), account_))
                  .last_number,
              3 + count);
}

TEST_F(restored, several_series_share_one_step) {
    run(create_series{account_ref{account_}, "OPS", "ops"});
    const device laptop = add_device();
    hold();
    for (int n = 0; n < 1'200; n += 200) {
        operations some;
        for (int i = n; i < n + 200; ++i) {
            some.push_back(create(uuid_of(1'000 + i)));
            if (i % 2 == 0) some.push_back(update(uuid_of(1'000 + i), "project", "ops"));
        }
        ASSERT_TRUE(is_added(send(laptop.client_id, some)));
    }
    run(end_resync{laptop.client_id, account_, true});
    std::int64_t numbered = 0;
    const auto tx = store_->begin_read();
    for (const series& s : all_series::of(*tx, account_)) {
        numbered += numbers::last(*tx, s.id, s.period);
    }
    EXPECT_LT(numbered, 1'100);
}

// The task belongs to the series that it was created in, as a numbered task does.
TEST_F(restored, an_edit_leaves_it_in_its_series) {
    run(create_series{account_ref{account_}, "OPS", "ops"});
    const uuid client = add_device().client_id;
    hold();
    send(client, made(7, ""));
    run(resume_series{account_ref{account_}, "OPS"});
    EXPECT_TRUE(is_added(send(client, {update(uuid_of(7), "project", "ops", now_)})));
    EXPECT_FALSE(find(7)->numbered);
    resume();
    EXPECT_EQ(key_of(7), "SYN-3");
}

TEST_F(restored, an_unnumbered_task_that_is_removed_stays_so) {
    const uuid client = add_device().client_id;
    hold();
    send(client, made(7, ""));
    send(client, made(8, ""));
    send(client, {remove(uuid_of(7))});
    EXPECT_EQ(testing::audit(*store_), std::vector<std::string>{});
    resume();
    EXPECT_TRUE(find(7)->purged);
    EXPECT_EQ(key_of(7), "SYN-3");
    EXPECT_EQ(key_of(8), "SYN-4");
    testing::scrub_all([&](auto q) { return ask(q); },
                       [&](auto c) { return std::optional(run(c)); }, std::size_t{1} << 20);
}

TEST_F(restored, the_slot_of_one_waits_for_its_number) {
    const uuid client = add_device().client_id;
    const slot_id slot = reserved("three", 7);
    hold();
    send(client, made(7, ""));
    EXPECT_TRUE(is_held(run(fulfil{slot, "", {}})));
    now_ += std::chrono::hours{48};
    run(reconcile_pending{slot_id{}, 10, milliseconds{1}, {}});
    EXPECT_EQ(store_->totals()->slots.pending, 1);
    resume();
    EXPECT_EQ(store_->totals()->slots.pending, 0);
    const auto answer = std::get<receipted>(run(fulfil{slot, "", {}}));
    EXPECT_EQ(answer.receipt.number, 3);
    EXPECT_FALSE(answer.receipt.created);
}

// The device had sent the task without receiving its number; another device has received it.
TEST_F(restored, another_device_brings_the_number_of_a_task) {
    const uuid client = add_device().client_id;
    const slot_id slot = reserved("three", 7);
    hold();
    send(client, made(7, ""));
    send(client, made(8, ""));
    EXPECT_TRUE(is_added(send(client, {update(uuid_of(7), "key", "SYN-5", now_)})));
    EXPECT_EQ(key_of(7), "SYN-5");
    EXPECT_EQ(find(7)->numbered->seq, find(7)->last_seq);
    EXPECT_TRUE(std::get<receipted>(run(fulfil{slot, "", {}})).receipt.number == 5);
    EXPECT_TRUE(is_added(send(client, {update(uuid_of(8), "key", "SYN-5", now_)})));
    EXPECT_FALSE(find(8)->numbered);
    EXPECT_EQ(find(8)->attributes.count("key"), 0u);
}

TEST_F(restored, an_export_brings_the_number_of_a_task) {
    const uuid client = add_device().client_id;
    hold();
    send(client, made(7, ""));
    send(client, {create(uuid_of(8))});  // its description is in a version that never arrived
    const import_tasks all{
        .account = account_,
        .tasks = {{uuid_of(7), {{"key", "SYN-9"}}},
                  {uuid_of(8), {{"key", "SYN-8"}, {"description", "d"}, {"status", "pending"}}}},
        .with_keys = true};
    const auto done = std::get<import_tasks::done>(run(all));
    EXPECT_EQ(std::tuple(done.keys_kept, done.completed, done.there_already), std::tuple(2, 1, 1));
    EXPECT_EQ(key_of(7), "SYN-9");
    EXPECT_EQ(key_of(8), "SYN-8");
    send(client, made(6, ""));
    auto taken = all;
    taken.tasks = {{uuid_of(6), {{"key", "SYN-8"}}}};
    const auto rejected = std::get<import_tasks::keys_rejected>(run(taken));
    EXPECT_EQ(rejected.faults.front().kind, import_tasks::key_fault_kind::number_taken);
}

TEST_F(restored, a_table_of_numbers_brings_the_number_of_a_task) {
    const uuid client = add_device().client_id;
    hold();
    send(client, made(7, ""));
    import_numbers known{.account = account_ref{account_}};
    known.rows = {{"SYN", 5, uuid_of(7), "as the sheet has it", t0}};
    EXPECT_EQ(std::get<import_numbers::done>(run(known)).imported, 1);
    EXPECT_EQ(key_of(7), "SYN-5");
    EXPECT_EQ(find(7)->attributes.at("key"), "SYN-5");
    EXPECT_EQ(find(7)->attributes.at("description"), "x");
}

TEST_F(restored, lists_and_new_devices_have_them) {
    run(create_series{account_ref{account_}, "OPS", "ops"});
    const uuid client = add_device().client_id;
    hold();
    for (int n : {6, 7, 8, 9}) send(client, made(n, ""));
    send(client, {update(uuid_of(8), "status", "completed", now_)});
    send(client, {update(uuid_of(9), "project", "x", now_)});
    const auto listed = [&](bool down, bool open, const std::string& prefix) {
        std::vector<int> numbers;
        list_tasks q{.account = account_, .descending = down, .limit = 1, .now = now_};
        q.filter.prefix = prefix;
        if (!open) q.filter.statuses = {task_status::pending, task_status::completed};
        for (;;) {
            const auto part = std::get<list_tasks::part>(ask(q));
            for (const task& t : part.tasks) {
                for (int n : {6, 7, 8, 9}) {
                    if (t.uuid == uuid_of(n)) numbers.push_back(n);
                }
            }
            if (!part.next) return numbers;
            q.after = part.next;
        }
    };
    EXPECT_EQ(listed(false, false, ""), (std::vector{6, 7, 8, 9}));
    EXPECT_EQ(listed(true, false, "SYN"), (std::vector{9, 8, 7, 6}));
    EXPECT_EQ(listed(false, true, ""), (std::vector{6, 7, 9}));
    EXPECT_EQ(listed(true, true, ""), (std::vector{9, 7, 6}));
    EXPECT_EQ(listed(true, false, "OPS"), std::vector<int>{});
    EXPECT_EQ(testing::collect(*store_->begin_read(), account_, 100'000).tasks().size(), 6u);
}

TEST_F(restored, an_account_with_unnumbered_tasks_does_not_move_to_remote) {
    const device laptop = add_device();
    hold();
    send(laptop.client_id, made(7, ""));
    run(revoke_device{account_ref{account_}, laptop.id});
    const auto move = [&] {
        return run(move_to_remote{account_, "https://example.com/", uuid_of(900), "key"});
    };
    EXPECT_TRUE(is_held(move()));
    resume();
    EXPECT_TRUE(std::holds_alternative<move_to_remote::moving>(move()));
}

TEST_F(restored, tasks_are_not_imported_before_that) {
    hold();
    EXPECT_TRUE(is_held(run(import_tasks{account_, {{uuid_of(8), {{"description", "x"}}}}, 0})));
    resume();
    EXPECT_TRUE(std::holds_alternative<import_tasks::done>(
        run(import_tasks{account_, {{uuid_of(8), {{"description", "x"}}}}, 0})));
}

// Known numbers can be imported with any gaps between them.
TEST_F(restored, numbers_assigned_after_the_backup_are_imported) {
    hold();
    import_numbers known{.account = account_ref{account_}};
    known.rows = {{"SYN", 5, uuid_of(9), "from a laptop", t0}};
    EXPECT_TRUE(std::holds_alternative<import_numbers::done>(run(known)));
    EXPECT_TRUE(is_held(run(reserve{account_, "three", {}, {}, ""})));
    resume();
    EXPECT_EQ(std::get<receipted>(make("three")).receipt.number, 6);
}

TEST_F(restored, tasks_that_the_server_cannot_see_get_no_keys_either) {
    create_account c{"sealed", "KEY", "t", sha256("sealed")};
    c.client_id = uuid_of(40);
    const account_id sealed = std::get<account>(run(c)).id;
    hold();
    EXPECT_TRUE(is_held(run(assign_key{sealed, uuid_of(41), {}, {}})));
}

// Their tasks have keys on the remote server.
TEST_F(restored, remote_accounts_are_not_held) {
    create_account c{"far", "FAR", "t", sha256("far")};
    c.remote = create_account::remote_endpoint{"https://example.com/", uuid_of(900), "key"};
    const account_id far = std::get<account>(run(c)).id;
    EXPECT_EQ(hold(), 1);
    EXPECT_FALSE(all_series::default_of(*store_->begin_read(), far)->held);
    EXPECT_FALSE(is_held(run(reserve{far, "one", {}, {}, ""})));
}

// ---- keys that return with their tasks ----

TEST_F(restored, tasks_bring_the_numbers_they_had) {
    const device laptop = add_device();
    hold();
    // 3 to 5 were assigned after the backup; task 3 has not been synced yet.
    ASSERT_TRUE(is_added(send(laptop.client_id, made(5, "SYN-5"))));
    ASSERT_TRUE(is_added(send(laptop.client_id, made(4, "SYN-4"))));
    EXPECT_EQ(key_of(5), "SYN-5");
    EXPECT_EQ(key_of(4), "SYN-4");
    EXPECT_EQ(skipped(), (std::vector<numbers_skipped>{{"", 3, 3}}));
    resume();
    ASSERT_TRUE(is_added(send(laptop.client_id, made(6, ""))));
    EXPECT_EQ(key_of(6), "SYN-6");
    // After the resume the key of a new task is ignored.
    ASSERT_TRUE(is_added(send(laptop.client_id, made(3, "SYN-3"))));
    EXPECT_EQ(key_of(3), "SYN-7");
}

TEST_F(restored, a_number_that_another_task_has_is_ignored) {
    const device laptop = add_device();
    hold();
    EXPECT_TRUE(has_no_number(laptop, made(5, "SYN-2"), 5));
    auto two = made(6, "SYN-7");
    for (auto& each : made(7, "SYN-7")) two.push_back(each);
    EXPECT_TRUE(has_no_number(laptop, two, 7));
    EXPECT_EQ(key_of(6), "SYN-7");
    int n = 8;
    for (const char* other : {"", "NONE-7", "SYN-0", "SYN-1000008", "SYN-20261120-7", "x", "7"}) {
        EXPECT_TRUE(has_no_number(laptop, made(n, other), n)) << other;
        ++n;
    }
    EXPECT_TRUE(is_added(send(laptop.client_id, made(n, "SYN-1000007"))));
    EXPECT_TRUE(skipped().size() == 2 && skipped().back().last == 1'000'006);
}

TEST_F(restored, a_returned_receipt_has_the_creation_time_of_its_task) {
    const device laptop = add_device();
    hold();
    auto old = made(5, "syn-5");
    old.push_back(update(uuid_of(5), "entry", "1600000000"));
    ASSERT_TRUE(is_added(send(laptop.client_id, old)));
    const auto found = tasks::find(*store_->begin_read(), account_, uuid_of(5));
    EXPECT_EQ(found->numbered->created_at, time_point{std::chrono::seconds{1'600'000'000}});
    EXPECT_EQ(key_of(5), "SYN-5");
    EXPECT_EQ(found->attributes.at("key"), "SYN-5");
    auto ahead = made(6, "SYN-6");
    ahead.push_back(update(uuid_of(6), "entry", "99999999999"));
    ASSERT_TRUE(is_added(send(laptop.client_id, ahead)));
    EXPECT_EQ(tasks::find(*store_->begin_read(), account_, uuid_of(6))->numbered->created_at, now_);
}

TEST_F(restored, periods_that_have_begun_accept_returned_numbers) {
    run(create_series{account_ref{account_}, "INC", "inc", reset_policy::daily});
    const device laptop = add_device();
    hold();
    const std::string today = period_of(now_, reset_policy::daily, "UTC");
    const std::string before = period_of(now_ - std::chrono::hours{24}, reset_policy::daily, "UTC");
    const std::string after = period_of(now_ + std::chrono::hours{24}, reset_policy::daily, "UTC");
    EXPECT_TRUE(is_added(send(laptop.client_id, made(5, "INC-" + today + "-2"))));
    EXPECT_TRUE(is_added(send(laptop.client_id, made(6, "INC-" + before + "-1"))));
    EXPECT_TRUE(has_no_number(laptop, made(7, "INC-" + after + "-1"), 7));
    EXPECT_TRUE(has_no_number(laptop, made(8, "INC-1"), 8));
    EXPECT_EQ(key_of(5), "INC-" + today + "-2");
    EXPECT_EQ(key_of(6), "INC-" + before + "-1");
}

TEST_F(restored, an_export_brings_keys_and_other_tasks_get_one_at_the_resume) {
    hold();
    import_tasks all{account_,
                     {{uuid_of(7), {{"key", "SYN-7"}}}, {uuid_of(8), {{"description", "new"}}}}};
    EXPECT_TRUE(is_held(run(all)));
    all.with_keys = true;
    const auto first = std::get<import_tasks::done>(run(all));
    EXPECT_EQ(std::tuple(first.imported, first.keys_kept, first.keys_left_out),
              std::tuple(2, 1, 0));
    EXPECT_FALSE(find(8)->numbered);
    resume();
    EXPECT_EQ(key_of(7), "SYN-7");
    EXPECT_EQ(key_of(8), "SYN-8");
}

}  // namespace
}  // namespace callsign
