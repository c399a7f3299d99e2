// The entries of the audit log for commands.

#include "unit/rules/fixture.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/actions.hpp>

#include <gmock/gmock.h>

namespace callsign {
namespace {

class audit_log : public rules_test {
  protected:
    template <class Command>
    typename Command::answer ask_for(const Command& c) {
        const auto tx = store_->begin_write();
        now_ += milliseconds{1};
        const rules::moment m{.now = now_, .ids = ids_, .events = &told_};
        const answer done = rules::apply(*tx, c, m);
        rules::record_action(*tx, command(c), done, anna_, m);
        tx->commit();
        return std::get<typename Command::answer>(done);
    }
    // "action account: subject", newest first.
    std::vector<std::string> lines() {
        std::vector<std::string> all;
        for (const admin_action& a : actions::list(*store_->begin_read(), {}, 100, {})) {
            all.push_back(a.what + " " + a.account_name + ": " + a.subject);
        }
        return all;
    }
    std::string last() {
        const auto all = lines();
        return all.empty() ? "" : all.front();
    }

    const actor anna_{token_id{7}, "anna", {}, "192.0.2.7"};
};

TEST_F(audit_log, has_the_actor_the_action_and_the_time) {
    ask_for(create_account{"board", "SYN", "t", sha256("a")});
    const auto all = actions::list(*store_->begin_read(), {}, 10, {});
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].by, anna_);
    EXPECT_EQ(all[0].at, now_);
    EXPECT_EQ(all[0].account, accounts::find(*store_->begin_read(), "board")->id);
    EXPECT_EQ(lines(), std::vector<std::string>{"account-created board: SYN"});
}

TEST_F(audit_log, has_no_entry_for_a_rejected_command) {
    const account_ref board{"board"};
    make("board");
    make("other");
    ask_for(create_account{"board", "SYN", "t", sha256("b")});
    ask_for(edit_account{board, "other"});
    ask_for(edit_account{account_ref{"none"}, "x"});
    ask_for(delete_account{account_ref{"none"}});
    ask_for(create_token{account_ref{"none"}, "t", token_scope::read, sha256("c")});
    ask_for(revoke_token{token_id{999}, {}});
    ask_for(create_series{board, "SYN"});
    ask_for(edit_series{board, "NONE"});
    ask_for(resume_series{.account = board, .named = "SYN"});
    ask_for(revoke_device{board, device_id{999}});
    ask_for(create_device{
        .account = account_id{999}, .name = "x", .client_id = uuid_of(1), .sealed_key = "s"});
    ask_for(edit_webhook{.account = account_id{999}, .uuid = uuid_of(1)});
    ask_for(remove_webhook{account_id{999}, uuid_of(1)});
    ask_for(edit_remote{.account = account_id{999}});
    ask_for(move_to_local{account_id{999}});
    ask_for(import_tasks{.account = account_id{999}});
    EXPECT_EQ(lines(), std::vector<std::string>{});
}

TEST_F(audit_log, has_the_subject_of_each_action) {
    const account_id id = make("board");
    const account_ref board{"board"};
    const auto expect = [&](const std::string& line) { EXPECT_EQ(last(), line); };
    const auto made =
        std::get<token>(ask_for(create_token{board, "laptop", token_scope::read, sha256("c")}));
    expect("token-created board: laptop (" + std::to_string(made.id.value) + ", read)");
    ask_for(revoke_token{made.id, {}});
    expect("token-revoked board: laptop (" + std::to_string(made.id.value) + ", read)");
    ask_for(create_token{std::nullopt, "ops", token_scope::admin, sha256("d")});
    EXPECT_THAT(last(), ::testing::StartsWith("token-created : ops ("));
    ask_for(create_series{board, "OPS"});
    expect("series-created board: OPS");
    edit_series renamed{board, "OPS"};
    renamed.prefix = "RUN";
    ask_for(renamed);
    expect("series-changed board: RUN, named as OPS");
    const auto phone = std::get<device>(ask_for(create_device{
        .account = id, .name = "phone", .client_id = uuid_of(1), .sealed_key = "sealed"}));
    expect("device-created board: phone");
    ask_for(revoke_device{board, phone.id});
    expect("device-revoked board: phone");
    import_tasks some{id};
    some.tasks.push_back({uuid_of(5), {{"description", "never in the log"}}});
    ask_for(some);
    expect("tasks-imported board: 1 tasks");
    ask_for(some);
    expect("tasks-imported board: 1 tasks");
    EXPECT_EQ(lines().size(), 8u) << "tasks that existed already were not imported";
    ask_for(note_action{.what = "backup-begun", .subject = "/backups/1"});
    expect("backup-begun : /backups/1");
    ask_for(note_action{"conversion-cancelled", "board"});
    expect("conversion-cancelled board: ");
    ask_for(edit_account{board, "team", true});
    expect("account-disabled team: ");
    EXPECT_EQ(lines()[1], "account-renamed team: from board");
    ask_for(edit_account{account_ref{"team"}, {}, false});
    expect("account-enabled team: ");
    ask_for(delete_account{account_ref{"team"}});
    expect("account-deleted team: ");
}

// Not a request: the server removes the account after the grace period.
TEST_F(audit_log, keeps_the_entries_of_a_removed_account) {
    make("board");
    ask_for(delete_account{account_ref{"board"}});
    now_ += std::chrono::hours{48};
    remove_deleted c{std::chrono::hours{24}, 100};
    do {
        c.from = run(c).next;
    } while (c.from);
    EXPECT_FALSE(accounts::find(*store_->begin_read(), "board"));
    EXPECT_EQ(lines(),
              (std::vector<std::string>{"account-removed board: ", "account-deleted board: "}));
    const auto all = actions::list(*store_->begin_read(), {}, 10, {});
    EXPECT_EQ(all.front().by, actor{});
}

TEST_F(audit_log, is_read_in_pages_and_deleted_when_it_expires) {
    make("board");
    for (const char* prefix : {"ONE", "TWO", "THREE"}) {
        ask_for(create_series{account_ref{"board"}, prefix});
    }
    const auto first = *ask(list_actions{{.size = 2}});
    ASSERT_EQ(first.rows.size(), 2u);
    EXPECT_TRUE(first.has_more);
    EXPECT_EQ(first.rows[0].subject, "THREE");
    const auto rest = *ask(list_actions{{.size = 2, .after = first.rows[1].id.value}});
    ASSERT_EQ(rest.rows.size(), 1u);
    EXPECT_FALSE(rest.has_more);
    EXPECT_EQ(rest.rows[0].subject, "ONE");
    EXPECT_EQ(ask(list_actions{{.size = 3}, account_ref{"board"}})->rows.size(), 3u);
    EXPECT_FALSE(ask(list_actions{{.size = 3}, account_ref{"none"}}));

    now_ += std::chrono::hours{1};
    EXPECT_FALSE(run(forget_actions{std::chrono::hours{2}, 2}).has_more);
    EXPECT_EQ(lines().size(), 3u);
    EXPECT_TRUE(run(forget_actions{std::chrono::minutes{30}, 2}).has_more);
    EXPECT_FALSE(run(forget_actions{std::chrono::minutes{30}, 2}).has_more);
    EXPECT_TRUE(lines().empty());
}

}  // namespace
}  // namespace callsign
