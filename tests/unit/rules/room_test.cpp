// The storage limit of an account: a client's command that would exceed it is rejected and writes
// nothing. Deletions, guaranteed results and the operator's commands are not limited.

#include "unit/rules/fixture.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/series.hpp>
#include <callsign/rules/rows/tokens.hpp>

namespace callsign {
namespace {

class full_account : public managed_account {
  protected:
    std::int64_t stored(account_id of) {
        return accounts::find(*store_->begin_read(), of)->stored_bytes;
    }
    // Sets the limit to `bytes` more than are stored.
    void leave(std::int64_t bytes, account_id of) {
        stored_bytes_max_ = static_cast<std::size_t>(stored(of) + bytes);
    }
    // Runs the command with one byte too few, then with just enough.
    template <class Command>
    typename Command::answer expect_bound(const Command& c, std::int64_t bytes, account_id of) {
        const std::int64_t before = stored(of);
        leave(bytes - 1, of);
        told_.clear();
        EXPECT_TRUE(std::holds_alternative<account_full>(run(c)));
        EXPECT_EQ(told_.size(), 1u);
        EXPECT_TRUE(was_told<events::account_full>());
        EXPECT_EQ(stored(of), before);
        leave(bytes, of);
        return run(c);
    }
};

TEST_F(full_account, accepts_no_creation_and_completes_reserved_ones) {
    const attributes task{{"description", "water the plants"}};
    const reserve c{account_, "k", {}, {}, "", task};
    const auto reserved = std::get<reserve::reserved>(
        expect_bound(c, static_cast<std::int64_t>(size_of(task)), account_));
    stored_bytes_max_ = 1;
    EXPECT_TRUE(std::get<reserve::reserved>(run(c)).resumed);
    const fulfil second{reserved.slot, "", task};
    EXPECT_TRUE(std::holds_alternative<receipted>(run(second)));
    EXPECT_TRUE(std::get<receipted>(run(c)).replayed);
    reserve another = c;
    another.key = "k2";
    EXPECT_TRUE(std::holds_alternative<account_full>(run(another)));
    EXPECT_EQ(store_->totals()->slots.pending, 0);
}

TEST_F(full_account, accepts_no_edit_except_a_purge) {
    import(account_, 1, 1);
    stored_bytes_max_ = 1;
    edit_task c{account_, uuid_of(1), {{"p", "w"}}};
    EXPECT_TRUE(std::holds_alternative<account_full>(run(c)));
    // An edit without a change needs no storage.
    c.changes = {{"p", "v"}};
    EXPECT_TRUE(std::holds_alternative<edit_task::edited>(run(c)));
    c.changes.clear();
    c.action = task_action{.verb = task_action::kind::complete};
    EXPECT_TRUE(std::holds_alternative<account_full>(run(c)));
    edit_task purge{account_, uuid_of(1)};
    purge.purge = true;
    EXPECT_TRUE(std::holds_alternative<edit_task::edited>(run(purge)));
}

TEST_F(full_account, accepts_no_version_of_a_device_except_the_rest_of_one) {
    add_version c{laptop, uuid{}, {create(uuid_of(1))}, account_, 100};
    const auto added = std::get<add_version::added>(expect_bound(c, 100, account_));
    stored_bytes_max_ = 1;
    c.parent = added.version;
    c.operations = {create(uuid_of(2))};
    c.continues = true;
    EXPECT_TRUE(std::holds_alternative<add_version::added>(run(c)));
}

TEST_F(full_account, accepts_no_imported_tasks) {
    stored_bytes_max_ = 1;
    import_tasks c{account_, {{uuid_of(1), {{"p", "v"}}}}};
    EXPECT_TRUE(std::holds_alternative<account_full>(run(c)));
    EXPECT_EQ(stored(account_), 0);
}

TEST_F(full_account, accepts_no_sealed_version_or_larger_snapshot) {
    const uuid client = uuid_of(900);
    const auto vault = make("vault", client);
    const auto first = std::get<add_sealed_version::added>(
        expect_bound(add_sealed_version{client, {}, "segment", false, vault}, 7, vault));
    EXPECT_EQ(stored(vault), 7);
    expect_bound(add_sealed_snapshot{client, first.version, "snapshot", vault}, 8, vault);
    EXPECT_EQ(stored(vault), 15);
    leave(1, vault);
    const auto second = std::get<add_sealed_version::added>(
        run(add_sealed_version{client, first.version, "s", false, vault}));
    // It replaces the former snapshot, and may not be one byte larger.
    leave(0, vault);
    EXPECT_TRUE(std::holds_alternative<account_full>(
        run(add_sealed_snapshot{client, second.version, "snapshot+", vault})));
    stored_bytes_max_ = 1;
    EXPECT_TRUE(std::holds_alternative<add_sealed_snapshot::considered>(
        run(add_sealed_snapshot{client, second.version, "smaller", vault})));
    EXPECT_EQ(stored(vault), 15);
}

TEST_F(full_account, has_a_maximum_of_valid_tokens) {
    const auto ask = [&](std::string secret, std::optional<account_ref> of,
                         std::optional<time_point> until = {}) {
        return run(create_token{std::move(of), "t", token_scope::read, sha256(secret), until});
    };
    const auto give = [&](std::string secret, std::optional<time_point> until = {}) {
        return std::get<token>(ask(std::move(secret), account_, until)).id;
    };
    const auto kept = [&] {
        std::vector<token_id> all;
        for (const token& t : tokens::of(*store_->begin_read(), account_)) all.push_back(t.id);
        return all;
    };
    const token_id first = kept().at(0);
    tokens_max_ = 3;
    const auto brief = give("brief", now_ + std::chrono::hours{1});
    const auto third = give("third");
    EXPECT_FALSE(was_told<events::account_full>());
    EXPECT_TRUE(std::holds_alternative<create_token::too_many_tokens>(ask("more", account_)));
    EXPECT_TRUE(was_told<events::account_full>());
    EXPECT_EQ(kept(), (std::vector{first, brief, third}));
    // Operator tokens, and those of other accounts, do not count.
    EXPECT_TRUE(std::holds_alternative<token>(ask("operator", std::nullopt)));
    EXPECT_TRUE(std::holds_alternative<token>(ask("another", make("other"))));
    // Expired and revoked tokens are deleted as needed, the oldest first.
    run(revoke_token{third, account_});
    now_ += std::chrono::hours{2};
    const auto fourth = give("fourth");
    EXPECT_EQ(kept(), (std::vector{first, third, fourth}));
    const auto fifth = give("fifth");
    EXPECT_EQ(kept(), (std::vector{first, fourth, fifth}));
    EXPECT_TRUE(std::holds_alternative<create_token::too_many_tokens>(ask("more", account_)));
    tokens_max_ = 0;
    EXPECT_TRUE(std::holds_alternative<token>(ask("more", account_)));
}

TEST_F(full_account, has_a_maximum_of_former_prefixes) {
    const auto rename = [&](std::string from, std::string to) {
        return run(edit_series{.account = account_, .named = std::move(from), .prefix = to});
    };
    former_prefixes_max_ = 2;
    run(create_series{account_, "OPS"});
    EXPECT_TRUE(std::holds_alternative<series>(rename("SYN", "ONE")));
    EXPECT_TRUE(std::holds_alternative<series>(rename("OPS", "TWO")));
    EXPECT_FALSE(was_told<events::account_full>());
    EXPECT_TRUE(std::holds_alternative<edit_series::too_many_prefixes>(rename("ONE", "THREE")));
    EXPECT_TRUE(was_told<events::account_full>());
    EXPECT_FALSE(all_series::find(*store_->begin_read(), account_, "THREE"));
    // A prefix that the series has or had adds none, and that of another series is not a former
    // one.
    EXPECT_TRUE(std::holds_alternative<series>(rename("ONE", "ONE")));
    EXPECT_TRUE(std::holds_alternative<series>(rename("ONE", "SYN")));
    EXPECT_TRUE(std::holds_alternative<prefix_taken>(rename("SYN", "OPS")));
    EXPECT_TRUE(std::holds_alternative<series>(run(create_series{account_, "THREE"})));
    EXPECT_TRUE(std::holds_alternative<edit_series::too_many_prefixes>(rename("THREE", "FOUR")));
    former_prefixes_max_ = 0;
    EXPECT_TRUE(std::holds_alternative<series>(rename("THREE", "FOUR")));
}

// The outcome of a request with a key is stored for a time, whatever the request did.
TEST_F(full_account, keeps_no_outcome_of_a_key) {
    import(account_, 1, 1);
    const request_key k{"key", {}, "sealed"};
    const auto outcome = static_cast<std::int64_t>(size_of_outcome("key", "sealed"));
    const auto bounded = [&](auto command) {
        SCOPED_TRACE(typeid(command).name());
        command.once = k;
        expect_bound(command, outcome, account_);
        EXPECT_EQ(stored(account_), static_cast<std::int64_t>(stored_bytes_max_));
        now_ += std::chrono::hours{1};
        run(forget_settled{{}, 10, milliseconds{1}});
        EXPECT_EQ(stored(account_), static_cast<std::int64_t>(stored_bytes_max_) - outcome);
    };
    bounded(edit_task{account_, uuid_of(1), {{"p", "v"}}});  // changes nothing
    bounded(create_series{.account = account_, .prefix = "OPS"});
    bounded(edit_series{.account = account_, .named = "OPS", .project = "garden"});
    bounded(create_token{account_, "t", token_scope::read, sha256("secret"), {}});
    bounded(create_device{
        .account = account_, .name = "new", .client_id = uuid_of(955), .sealed_key = "key"});
    create_webhook hook;
    hook.account = account_;
    hook.uuid = uuid_of(950);
    hook.count_max = 2;
    bounded(hook);
    bounded(edit_webhook{.account = account_, .uuid = uuid_of(950), .enabled = false});

    // Beside an edit's own bytes. What removes data is never rejected.
    edit_task edit{account_, uuid_of(1), {{"p", "w"}}};
    edit.once = k;
    leave(outcome, account_);
    EXPECT_TRUE(std::holds_alternative<account_full>(run(edit)));
    leave(outcome + 200, account_);
    EXPECT_TRUE(std::holds_alternative<edit_task::edited>(run(edit)));
    stored_bytes_max_ = 1;
    EXPECT_TRUE(std::holds_alternative<replayed<edit_task::edited>>(run(edit)));
    remove_webhook gone{.account = account_, .uuid = uuid_of(950)};
    gone.once = request_key{"other", {}};
    EXPECT_TRUE(std::holds_alternative<remove_webhook::removed>(run(gone)));
    edit_task purge{account_, uuid_of(1)};
    purge.purge = true;
    purge.once = request_key{"purge", {}};
    EXPECT_TRUE(std::holds_alternative<edit_task::edited>(run(purge)));
    // Operators have no limit.
    create_token of_operator{std::nullopt, "t", token_scope::admin, sha256("other"), {}};
    of_operator.once = k;
    EXPECT_TRUE(std::holds_alternative<token>(run(of_operator)));
    now_ += std::chrono::hours{1};
    run(forget_settled{{}, 10, milliseconds{1}});
}

// Slots without a task of their own are stored for a time, too.
TEST_F(full_account, is_charged_for_slots_that_expire) {
    import(account_, 1, 1);
    const auto before = stored(account_);
    const auto outcome = static_cast<std::int64_t>(size_of_outcome("known"));
    run(reserve{account_, "known", {}, uuid_of(1), "", {}});
    EXPECT_EQ(stored(account_), before + outcome);
    run(reserve{account_, "fails", {}, {}, "", {}});
    now_ += std::chrono::hours{1};
    run(reconcile_pending{{}, 10, milliseconds{1}, {}});
    EXPECT_EQ(stored(account_), before + 2 * outcome);
    now_ += std::chrono::hours{1};
    EXPECT_EQ(run(forget_settled{{}, 10, milliseconds{1}}).forgotten, 2);
    EXPECT_EQ(stored(account_), before);
}

// A renaming changes each task of the series.
TEST_F(full_account, is_not_renamed) {
    import(account_, 1, 100);
    const auto rename = [&](const char* from, const char* to) {
        return edit_series{.account = account_, .named = from, .prefix = to};
    };
    const auto before = stored(account_);
    leave(100, account_);
    EXPECT_TRUE(std::holds_alternative<account_full>(run(rename("SYN", "OPS"))));
    EXPECT_EQ(stored(account_), before);
    leave(10'000, account_);
    EXPECT_TRUE(std::holds_alternative<series>(run(rename("SYN", "OPS"))));
    const auto after = stored(account_);
    EXPECT_GT(after, before);
    EXPECT_LE(after, static_cast<std::int64_t>(stored_bytes_max_));
    // A number that was skipped has no task.
    leave(10'000, account_);
    run(create_series{.account = account_, .prefix = "FAR", .next = 1'000'000'000});
    EXPECT_TRUE(std::holds_alternative<series>(run(rename("FAR", "FARTHER"))));
}

TEST_F(full_account, does_not_affect_other_accounts) {
    import(account_, 1, 1);
    stored_bytes_max_ = static_cast<std::size_t>(stored(account_));
    const auto other = make("other");
    EXPECT_TRUE(std::holds_alternative<reserve::reserved>(
        run(reserve{other, "k", {}, {}, "", {{"description", "x"}}})));
}

}  // namespace
}  // namespace callsign
