// A store that was put back from a backup: no number is given that somebody may have already.

#include "fixture.hpp"

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
    std::int64_t hold() { return run(begin_restored{uuid_of(500)}).held; }
    resume_series::answer resume(std::optional<std::int64_t> at = {}) {
        return run(resume_series{account_ref{account_}, "SYN", at});
    }
    device add_device() {
        return std::get<device>(run(create_device{account_, "laptop", uuid_of(30), "key"}));
    }
    add_version::answer send(const uuid& client, operations all) {
        const uuid head = store_->begin_read()->head_of(account_).version;
        return run(add_version{.client_id = client,
                               .parent = head,
                               .operations = std::move(all),
                               .account = account_});
    }
    static bool is_held(const auto& answer) { return std::holds_alternative<series_held>(answer); }

    account_id account_;
};

TEST_F(restored, is_another_instance_and_holds_every_series) {
    run(create_series{account_ref{account_}, "INC"});
    EXPECT_EQ(hold(), 2);
    EXPECT_EQ(store_->begin_read()->instance(), uuid_of(500));
    for (const series& s : store_->begin_read()->series_of(account_)) EXPECT_TRUE(s.held);
}

TEST_F(restored, makes_nothing_and_leaves_no_slot) {
    hold();
    const auto refused = run(reserve{account_, "three", {}, {}, ""});
    ASSERT_TRUE(is_held(refused));
    EXPECT_EQ(std::get<series_held>(refused).prefix, "SYN");
    EXPECT_EQ(store_->counts().pending, 0);
    // A receipt that the backup knows is told again.
    EXPECT_TRUE(std::holds_alternative<receipted>(run(reserve{account_, "two", {}, {}, ""})));
}

TEST_F(restored, a_project_has_its_own_series) {
    run(create_series{account_ref{account_}, "OPS", "ops"});
    hold();
    resume();
    reserve wanted{account_, "three", {}, {}, ""};
    wanted.attributes = {{"project", "ops"}};
    const auto refused = run(wanted);
    ASSERT_TRUE(is_held(refused));
    EXPECT_EQ(std::get<series_held>(refused).prefix, "OPS");
}

TEST_F(restored, what_was_begun_before_the_backup_waits) {
    const auto begun = run(reserve{account_, "three", {}, {}, ""});
    const slot_id slot = std::get<reserve::reserved>(begun).slot;
    hold();
    EXPECT_TRUE(is_held(run(fulfil{slot, "", {}})));
    resume(7);
    const auto made = run(fulfil{slot, "", {}});
    EXPECT_EQ(std::get<receipted>(made).receipt.number, 7);
}

TEST_F(restored, goes_on_where_it_is_told_and_what_is_left_out_is_nobodys) {
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

TEST_F(restored, goes_on_at_the_next_if_nothing_is_said) {
    hold();
    resume();
    EXPECT_EQ(std::get<receipted>(make("three")).receipt.number, 3);
}

TEST_F(restored, devices_sync_what_needs_no_number) {
    const uuid client = add_device().client_id;
    const uuid known = std::get<receipted>(make("three")).receipt.uuid;
    hold();
    EXPECT_TRUE(std::holds_alternative<add_version::added>(
        send(client, {update(known, "description", "edited", now_)})));
    const auto refused =
        send(client, {create(uuid_of(7)), update(uuid_of(7), "status", "pending")});
    EXPECT_TRUE(is_held(refused));
    EXPECT_FALSE(store_->begin_read()->find_task(account_, uuid_of(7)));
    resume(9);
    EXPECT_TRUE(std::holds_alternative<add_version::added>(send(client, {create(uuid_of(7))})));
    EXPECT_EQ(store_->begin_read()->find_task(account_, uuid_of(7))->numbered->number, 9);
}

TEST_F(restored, tasks_are_not_imported_before_that) {
    hold();
    EXPECT_TRUE(is_held(run(import_tasks{account_, {{uuid_of(8), {{"description", "x"}}}}, 0})));
    resume();
    EXPECT_TRUE(std::holds_alternative<import_tasks::done>(
        run(import_tasks{account_, {{uuid_of(8), {{"description", "x"}}}}, 0})));
}

// What people still have comes back with its number, whatever is missing between.
TEST_F(restored, numbers_that_were_given_since_are_taken_in) {
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
    EXPECT_TRUE(is_held(run(give_key{sealed, uuid_of(41), {}, {}})));
}

// They have their keys from there.
TEST_F(restored, accounts_that_live_elsewhere_go_on) {
    create_account c{"far", "FAR", "t", sha256("far")};
    c.elsewhere = create_account::home{"https://example.com/", uuid_of(900), "key"};
    const account_id far = std::get<account>(run(c)).id;
    EXPECT_EQ(hold(), 1);
    EXPECT_FALSE(store_->begin_read()->default_series(far)->held);
    EXPECT_FALSE(is_held(run(reserve{far, "one", {}, {}, ""})));
}

}  // namespace
}  // namespace callsign
