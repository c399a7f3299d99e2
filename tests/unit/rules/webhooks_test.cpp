// Webhooks of accounts, and the positions of their deliveries.

#include "unit/rules/fixture.hpp"

#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/effects.hpp>
#include <callsign/rules/rows/remotes.hpp>
#include <callsign/rules/rows/series.hpp>

namespace callsign {
namespace {

class webhooks : public managed_account {
  protected:
    create_webhook wanted(int n) const {
        return {.account = account_,
                .uuid = uuid_of(n),
                .url = "https://example.com/" + std::to_string(n),
                .filter = "tag=x",
                .sealed_secret = "sealed",
                .start = {{3}, "mark"},
                .count_max = 3};
    }
    webhook add(int n = 1) { return std::get<webhook>(run(wanted(n))); }
    webhook shown(int n = 1) { return *ask(find_webhook{account_, uuid_of(n)}); }
    settle_delivery attempt(bool delivered, std::int64_t edits = 0) const {
        settle_delivery c{.account = account_, .uuid = uuid_of(1), .edits = edits};
        c.attempt = webhook_delivery{.id = "id", .at = {}, .changes = 2, .delivered = delivered};
        if (delivered) c.reached = webhook_start{{5, 1}, "later"};
        c.failures_max = 3;
        return c;
    }
    std::size_t attempts() { return ask(list_deliveries{account_, uuid_of(1)})->size(); }
};

TEST_F(webhooks, one_begins_at_the_requested_position) {
    const webhook made = add();
    EXPECT_EQ(made.after, feed_place{3});
    EXPECT_EQ(made.mark, "mark");
    EXPECT_FALSE(made.disabled);
    EXPECT_TRUE(was_told<events::webhook_changed>());
    const webhook found = shown();
    EXPECT_EQ(found.id, made.id);
    EXPECT_EQ(found.url, "https://example.com/1");
    EXPECT_EQ(found.filter, "tag=x");
    EXPECT_EQ(found.sealed_secret, "sealed");
    EXPECT_EQ(found.created_at, now_);
}

TEST_F(webhooks, an_account_has_a_maximum) {
    for (int n = 1; n <= 3; ++n) add(n);
    EXPECT_TRUE(std::holds_alternative<create_webhook::too_many>(run(wanted(4))));
    run(remove_webhook{account_, uuid_of(2)});
    EXPECT_TRUE(std::holds_alternative<webhook>(run(wanted(4))));
    const auto all = ask(list_webhooks{account_, {}});
    EXPECT_EQ(all.rows.size(), 3u);
}

TEST_F(webhooks, an_opaque_account_has_none) {
    create_webhook c = wanted(1);
    c.account = make("sealed", uuid_of(77));
    EXPECT_TRUE(std::holds_alternative<account_is_opaque>(run(c)));
    c.account = account_id{99};
    EXPECT_TRUE(std::holds_alternative<no_such_account>(run(c)));
}

TEST_F(webhooks, one_of_another_account_does_not_exist) {
    add();
    const account_id other = make("other");
    EXPECT_FALSE(ask(find_webhook{other, uuid_of(1)}));
    EXPECT_FALSE(ask(list_deliveries{other, uuid_of(1)}));
    EXPECT_TRUE(ask(list_webhooks{other, {}}).rows.empty());
    const edit_webhook edit{.account = other, .uuid = uuid_of(1), .enabled = false};
    EXPECT_TRUE(std::holds_alternative<no_such_webhook>(run(edit)));
    EXPECT_TRUE(std::holds_alternative<no_such_webhook>(run(remove_webhook{other, uuid_of(1)})));
    settle_delivery settle = attempt(true);
    settle.account = other;
    EXPECT_TRUE(std::holds_alternative<settle_delivery::superseded>(run(settle)));
    EXPECT_EQ(shown().after, feed_place{3});
}

TEST_F(webhooks, a_delivery_advances_it_and_resets_its_failures) {
    add();
    run(attempt(false));
    run(attempt(false));
    EXPECT_EQ(shown().failures, 2);
    EXPECT_EQ(shown().after, feed_place{3});
    const auto now = std::get<webhook>(run(attempt(true)));
    EXPECT_EQ(now.failures, 0);
    EXPECT_EQ(now.after, (feed_place{5, 1}));
    EXPECT_EQ(shown().mark, "later");
    const auto log = *ask(list_deliveries{account_, uuid_of(1)});
    ASSERT_EQ(log.size(), 3u);
    EXPECT_TRUE(log[0].delivered);
    EXPECT_FALSE(log[1].delivered);
    EXPECT_EQ(log[0].at, now_);
}

TEST_F(webhooks, a_maximum_of_consecutive_failures_disables_it) {
    add();
    run(attempt(false));
    run(attempt(false));
    EXPECT_FALSE(shown().disabled);
    run(attempt(false));
    EXPECT_EQ(shown().disabled, webhook_end::failures);
    EXPECT_TRUE(std::holds_alternative<settle_delivery::superseded>(run(attempt(true))));
    EXPECT_EQ(attempts(), 3u);
    EXPECT_TRUE(ask(list_active_webhooks{{}, 10}).empty());
    const edit_webhook again{.account = account_, .uuid = uuid_of(1), .enabled = true};
    EXPECT_EQ(std::get<webhook>(run(again)).failures, 0);
    EXPECT_FALSE(shown().disabled);
    EXPECT_EQ(ask(list_active_webhooks{{}, 10}).size(), 1u);
}

TEST_F(webhooks, a_reason_disables_it_at_once) {
    add();
    settle_delivery c = attempt(false);
    c.disable = webhook_end::gone;
    run(c);
    EXPECT_EQ(shown().disabled, webhook_end::gone);
    // Disabling it manually afterwards does not change the reason.
    run(edit_webhook{.account = account_, .uuid = uuid_of(1), .enabled = false});
    EXPECT_EQ(shown().disabled, webhook_end::gone);
}

// An attempt that began before its owner set the position back must not advance it.
TEST_F(webhooks, an_attempt_begun_before_an_edit_is_ignored) {
    add();
    run(edit_webhook{
        .account = account_, .uuid = uuid_of(1), .start = webhook_start{{1}, "earlier"}});
    EXPECT_TRUE(std::holds_alternative<settle_delivery::superseded>(run(attempt(true, 0))));
    EXPECT_EQ(shown().after, feed_place{1});
    EXPECT_EQ(attempts(), 0u);
    EXPECT_TRUE(std::holds_alternative<webhook>(run(attempt(true, 1))));
    EXPECT_EQ(shown().after, (feed_place{5, 1}));
}

TEST_F(webhooks, a_removed_one_is_removed_with_its_log) {
    add();
    run(attempt(true));
    EXPECT_TRUE(
        std::holds_alternative<remove_webhook::removed>(run(remove_webhook{account_, uuid_of(1)})));
    EXPECT_FALSE(ask(find_webhook{account_, uuid_of(1)}));
    EXPECT_FALSE(ask(list_deliveries{account_, uuid_of(1)}));
    EXPECT_TRUE(std::holds_alternative<settle_delivery::superseded>(run(attempt(true))));
}

// ---- keys of tasks in opaque accounts ----

class unseen_tasks : public managed_account {
  protected:
    unseen_tasks() {
        const auto registered = run(register_client{client});
        account_ = registered.account.id;
    }
    assign_key::answer number(int n) {
        return run(
            assign_key{.account = account_, .uuid = uuid_of(n), .prefix = {}, .project = {}});
    }
    receipt given(int n) { return std::get<receipted>(number(n)).receipt; }

    // The history becomes readable, and has created these tasks.
    void become_managed(std::vector<int> tasks) {
        run(add_sealed_version{client, {}, "sealed", false, account_});
        manage_account c;
        c.account = account_;
        c.head = head();
        c.history.push_back({1, c.head.version, {}, now_, {}});
        for (int n : tasks) {
            c.history[0].operations.push_back(create(uuid_of(n)));
            c.tasks.push_back({uuid_of(n), 1, now_, {}});
        }
        c.device_name = "shared";
        c.sealed_key = "sealed";
        ASSERT_TRUE(std::holds_alternative<manage_account::managed>(run(c)));
    }

    const uuid client = uuid_of(903);
};

TEST_F(unseen_tasks, each_has_a_number_once) {
    EXPECT_EQ(given(1).number, 1);
    EXPECT_EQ(given(2).number, 2);
    const auto again = std::get<receipted>(number(1));
    EXPECT_TRUE(again.replayed);
    EXPECT_EQ(again.receipt.number, 1);
    EXPECT_EQ(again.receipt.seq, 0);
    EXPECT_EQ(again.receipt.created_at, given(1).created_at);
    EXPECT_EQ(given(3).number, 3);
}

TEST_F(unseen_tasks, a_managed_account_is_rejected) {
    account_ = make("managed");
    EXPECT_TRUE(std::holds_alternative<assign_key::not_opaque>(number(1)));
    EXPECT_FALSE(find(uuid_of(1)));
    account_ = account_id{99};
    EXPECT_TRUE(std::holds_alternative<no_such_account>(number(1)));
}

TEST_F(unseen_tasks, the_series_is_chosen_as_a_creations) {
    write([&](write_tx& tx) { all_series::put(tx, account_, "HOM", "Home", false, t0); });
    const assign_key by_project{account_, uuid_of(1), "", "Home"};
    EXPECT_EQ(std::get<receipted>(run(by_project)).receipt.prefix, "HOM");
    const assign_key unknown{account_, uuid_of(2), "NO", ""};
    EXPECT_TRUE(std::holds_alternative<unknown_series>(run(unknown)));
    write([&](write_tx& tx) {
        series s = *all_series::find(tx, account_, "HOM");
        s.archived = true;
        s.project.clear();
        all_series::update(tx, s, t0);
    });
    const assign_key archived{account_, uuid_of(2), "HOM", ""};
    EXPECT_TRUE(std::holds_alternative<series_archived>(run(archived)));
    EXPECT_FALSE(find(uuid_of(2)));
}

// The task may be created without a sync.
TEST_F(unseen_tasks, a_number_waits_for_its_task_from_any_source) {
    given(2);
    given(3);
    become_managed({1});
    EXPECT_EQ(
        std::get<import_tasks::done>(run(import_tasks{account_, {{uuid_of(2), {{"p", "v"}}}}}))
            .imported,
        1);
    EXPECT_EQ(attribute(uuid_of(2), "key"), "TASK-1");
    const auto slot = reserved("k", uuid_of(3));
    const auto made = std::get<receipted>(run(fulfil{slot, "", {{"description", "d"}}}));
    EXPECT_TRUE(made.receipt.created);
    EXPECT_EQ(made.receipt.number, 2);
    EXPECT_EQ(made.receipt.seq, head().seq);
    EXPECT_EQ(attribute(uuid_of(3), "key"), key_of(made.receipt));
    EXPECT_EQ(attribute(uuid_of(3), "description"), "d");
    EXPECT_EQ(std::get<receipted>(run(fulfil{slot, "", {}})).receipt, made.receipt);
}

// The title of the row is the first text of such a task.
TEST_F(unseen_tasks, a_table_of_numbers_brings_its_title) {
    given(3);
    given(4);
    become_managed({1});
    const auto slot = reserved("k", uuid_of(3));
    import_numbers c;
    c.account = account_;
    for (int n = 3; n <= 4; ++n) {
        c.rows.push_back({.prefix = "TASK", .number = n - 2, .uuid = uuid_of(n), .title = "said"});
        c.rows.back().created_at = now_;
    }
    const auto done = std::get<import_numbers::done>(run(c));
    EXPECT_EQ(done.imported, 2);
    EXPECT_EQ(done.there_already, 0);
    for (int n = 3; n <= 4; ++n) {
        const task made = *find(uuid_of(n));
        EXPECT_FALSE(made.purged);
        EXPECT_EQ(made.attributes.at("description"), "said");
        EXPECT_EQ(made.numbered->number, n - 2);
        EXPECT_EQ(made.numbered->seq, head().seq);
        EXPECT_EQ(made.attributes.at("key"), key_of(*made.numbered));
    }
    EXPECT_EQ(std::get<receipted>(run(fulfil{slot, "", {}})).receipt.number, 1);
    EXPECT_EQ(std::get<import_numbers::done>(run(c)).there_already, 2);
}

TEST_F(unseen_tasks, they_keep_their_numbers_when_they_become_visible) {
    given(2);
    given(3);
    become_managed({1, 2});
    EXPECT_EQ(find(uuid_of(2))->numbered->number, 1);
    EXPECT_FALSE(find(uuid_of(2))->purged);
    EXPECT_EQ(find(uuid_of(2))->numbered->seq, 1);
    EXPECT_EQ(attribute(uuid_of(2), "key"), key_of(*find(uuid_of(2))->numbered));
    EXPECT_EQ(find(uuid_of(1))->numbered->number, 3);
    // The task was never synced: its number stays assigned.
    EXPECT_TRUE(find(uuid_of(3))->purged);
    EXPECT_EQ(find(uuid_of(3))->numbered->number, 2);
    // When the task is synced later, it has its number.
    send(client, head().version, {create(uuid_of(3)), update(uuid_of(3), "p", "v")});
    EXPECT_EQ(attribute(uuid_of(3), "key"), key_of(*find(uuid_of(3))->numbered));
    EXPECT_EQ(find(uuid_of(3))->numbered->number, 2);
}

// The slot waits for the content of its task.
TEST_F(unseen_tasks, a_sweep_does_not_treat_a_number_as_a_task) {
    constexpr milliseconds window{1'000};
    given(3);
    given(4);
    become_managed({1});
    const auto slot = reserved("k", uuid_of(3));
    reserved("left", uuid_of(4));
    const auto early = run(reconcile_pending{{}, 10, window, {}});
    EXPECT_EQ(early.scanned, 2);
    EXPECT_EQ(early.committed + early.failed, 0);
    const auto made = std::get<receipted>(run(fulfil{slot, "", {{"description", "d"}}}));
    EXPECT_TRUE(made.receipt.created);
    EXPECT_EQ(attribute(uuid_of(3), "description"), "d");
    now_ += 2 * window;
    EXPECT_EQ(run(reconcile_pending{{}, 10, window, {}}).failed, 1);
    EXPECT_EQ(ask(find_slot{account_, "left"})->slot.state, slot_state::failed);
}

// From any source, the task settles the slots that wait for it, and never becomes unseen again.
TEST_F(unseen_tasks, a_device_that_creates_it_settles_its_slots) {
    given(3);
    become_managed({1});
    reserved("k", uuid_of(3));
    send(client, head().version, {create(uuid_of(3)), update(uuid_of(3), "p", "v")});
    const auto found = ask(find_slot{account_, "k"});
    EXPECT_EQ(found->slot.state, slot_state::committed);
    EXPECT_GT(found->receipt->seq, 0);
    send(client, head().version, {remove(uuid_of(3))});
    EXPECT_FALSE(is_unseen(*find(uuid_of(3))));
}

TEST_F(unseen_tasks, a_creation_with_a_remote_task_is_sent_to_the_remote_server) {
    given(3);
    given(4);
    become_managed({1});
    run(revoke_device{account_, devices::find(*store_->begin_read(), client)->id});
    ASSERT_TRUE(std::holds_alternative<move_to_remote::moving>(
        run(move_to_remote{account_, "https://example.com/", uuid_of(904), "key"})));
    write([&](write_tx& tx) {
        remote_chain r = *remotes::find(tx, account_);
        r.moving.reset();
        remotes::update(tx, r);
    });
    const auto mine = reserved("mine", uuid_of(3)), other = reserved("other", uuid_of(4));
    EXPECT_TRUE(std::holds_alternative<begin_delivery::delivering>(
        run(begin_delivery{mine, "", {{"description", "d"}}})));
    EXPECT_TRUE(std::holds_alternative<begin_delivery::delivering>(
        run(begin_delivery{other, "", {{"description", "late"}}})));
    // Another client has created one of them on the remote server.
    run(apply_remote_version{account_,
                             {},
                             uuid_of(905),
                             {create(uuid_of(4)), update(uuid_of(4), "description", "first")}});
    const auto sent = std::get<take_delivery::taken>(run(take_delivery{account_, {}}));
    run(settle{account_, sent.parent, uuid_of(906), sent.operations, sent.parts});
    const auto of_mine = *ask(find_slot{account_, "mine"});
    const auto of_other = *ask(find_slot{account_, "other"});
    EXPECT_TRUE(of_mine.receipt && of_mine.receipt->created && of_mine.receipt->number == 1);
    EXPECT_TRUE(of_other.receipt && !of_other.receipt->created && of_other.receipt->number == 2);
    EXPECT_EQ(attribute(uuid_of(3), "description"), "d");
    EXPECT_EQ(attribute(uuid_of(4), "description"), "first");
    const auto left = effects::tally(*store_->begin_read(), account_);
    EXPECT_EQ(left.creations, 0);
}

}  // namespace
}  // namespace callsign
