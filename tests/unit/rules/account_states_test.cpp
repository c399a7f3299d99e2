// Accounts that are renamed, disabled, deleted, restored, and removed.

#include "unit/rules/fixture.hpp"

#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/requests.hpp>
#include <callsign/rules/rows/slots.hpp>
#include <callsign/rules/rows/tasks.hpp>
#include <callsign/rules/rows/tokens.hpp>
#include <callsign/rules/rows/versions.hpp>

namespace callsign {
namespace {

constexpr milliseconds grace = std::chrono::hours{24};

class account_states : public managed_account {
  protected:
    account edit(edit_account c) { return std::get<account>(run(c)); }
    account_state state() { return accounts::find(*store_->begin_read(), account_)->state; }
    // Runs the reaper's command; returns the number of accounts removed.
    std::int64_t remove_all() {
        remove_deleted c{grace, 10};
        std::int64_t removed = 0;
        do {
            const auto step = run(c);
            removed += step.removed;
            c.from = step.next;
            EXPECT_EQ(testing::audit(*store_), std::vector<std::string>{});
        } while (c.from);
        return removed;
    }
    bool is_there(const std::string& name) {
        return accounts::find(*store_->begin_read(), name).has_value();
    }
};

TEST_F(account_states, an_account_can_be_renamed) {
    const auto other = make("other");
    EXPECT_TRUE(std::holds_alternative<name_taken>(run(edit_account{"board", "other"})));
    told_.clear();
    EXPECT_EQ(edit({account_ref{"board"}, "team"}).id, account_);
    EXPECT_EQ(told_.size(), 1u);
    EXPECT_TRUE(was_told<events::account_renamed>());
    EXPECT_FALSE(is_there("board"));
    EXPECT_EQ(edit({account_ref{"team"}, "team"}).name, "team");
    EXPECT_TRUE(std::holds_alternative<no_such_account>(run(edit_account{"board", "x"})));
    EXPECT_EQ(accounts::find(*store_->begin_read(), other)->name, "other");
}

TEST_F(account_states, a_disabled_account_gives_no_access) {
    run(create_token{account_ref{account_}, "t", token_scope::read, sha256("a")});
    const auto seen_by = [&] {
        const auto tx = store_->begin_read();
        EXPECT_EQ(tokens::find_principal(*tx, sha256("a"))->state,
                  devices::find(*tx, laptop)->state);
        return devices::find(*tx, laptop)->state;
    };
    told_.clear();
    EXPECT_EQ(edit({account_, {}, true}).state, account_state::disabled);
    EXPECT_TRUE(was_told<events::account_state_changed>());
    EXPECT_EQ(seen_by(), account_state::disabled);
    told_.clear();
    EXPECT_EQ(edit({account_, {}, true}).state, account_state::disabled);
    EXPECT_TRUE(told_.empty());
    EXPECT_EQ(edit({account_, {}, false}).state, account_state::active);
    EXPECT_EQ(seen_by(), account_state::active);
}

TEST_F(account_states, a_deleted_one_can_be_restored_in_its_grace_period) {
    send({create(uuid_of(1))});
    const auto gone = std::get<account>(run(delete_account{account_}));
    EXPECT_EQ(gone.state, account_state::deleted);
    const auto again = std::get<account>(run(delete_account{account_}));
    EXPECT_EQ(again.deleted_at, gone.deleted_at) << "the first instant stays";
    EXPECT_EQ(edit({account_, {}, true}).state, account_state::deleted)
        << "a deleted account stays deleted";
    now_ += grace - milliseconds{100};
    EXPECT_EQ(remove_all(), 0);
    const auto back = edit({account_, {}, false});
    EXPECT_EQ(back.state, account_state::active);
    EXPECT_FALSE(back.deleted_at);
    now_ += 2 * grace;
    EXPECT_EQ(remove_all(), 0);
    EXPECT_EQ(attribute(uuid_of(1), "key"), "SYN-1");
}

TEST_F(account_states, it_is_removed_with_all_its_data_and_its_name_is_free) {
    const auto other = make("other");
    import(other, 50, 3);
    send({create(uuid_of(1)), create(uuid_of(2))});
    run(delete_account{account_});
    now_ += 2 * grace;
    told_.clear();
    EXPECT_EQ(remove_all(), 1);
    EXPECT_TRUE(was_told<events::account_removed>());
    const auto tx = store_->begin_read();
    EXPECT_FALSE(accounts::find(*tx, account_));
    EXPECT_FALSE(devices::find(*tx, laptop));
    EXPECT_FALSE(tasks::find(*tx, account_, uuid_of(1)));
    EXPECT_TRUE(versions::some(*tx, account_, 0, 10).empty());
    EXPECT_EQ(tasks::find(*tx, other, uuid_of(52))->numbered->number, 3);
    EXPECT_NE(make("board"), account_);
    EXPECT_EQ(remove_all(), 0);
}

TEST_F(account_states, it_waits_for_its_pending_slots_and_takes_the_others_along) {
    run(fulfil{reserved("a", uuid_of(1)), "", {{"description", "x"}}});
    edit_task keyed{.account = account_, .task = uuid_of(1), .changes = {{"p", "v"}}};
    keyed.once = request_key{"k", sha256("k")};
    run(keyed);
    const slot_id pending = reserved("b", uuid_of(2));
    const auto other = make("other");
    const slot_id others = std::get<reserve::reserved>(run(reserve{other, "a", {}, {}, ""})).slot;
    run(fulfil{others, "", {{"description", "y"}}});
    run(delete_account{account_});
    now_ += 2 * grace;
    EXPECT_EQ(remove_all(), 0);
    EXPECT_EQ(state(), account_state::deleted) << "it can still be restored";
    run(reconcile_pending{{}, 10, grace, {}});
    EXPECT_EQ(remove_all(), 1);
    const auto tx = store_->begin_read();
    EXPECT_FALSE(slots::find(*tx, pending));
    EXPECT_FALSE(slots::find(*tx, account_, "a"));
    EXPECT_FALSE(requests::find(*tx, account_, "k"));
    EXPECT_TRUE(slots::find(*tx, others));
}

// It is no longer reported, and its name can be reused: so no response may name it.
TEST_F(account_states, an_account_being_removed_is_not_found) {
    run(delete_account{account_});
    now_ += 2 * grace;
    write([&](write_tx& tx) {
        account a = *accounts::find(tx, account_);
        a.state = account_state::removing;
        a.name = "(removed 1)";
        accounts::update(tx, a);
    });
    EXPECT_TRUE(std::holds_alternative<no_such_account>(run(edit_account{account_, {}, false})));
    EXPECT_TRUE(std::holds_alternative<no_such_account>(run(delete_account{account_})));
    EXPECT_TRUE(std::holds_alternative<no_such_account>(
        run(create_token{account_ref{account_}, "t", token_scope::read, sha256("a")})));
    EXPECT_EQ(remove_all(), 1) << "an interrupted removal is resumed";
}

TEST_F(account_states, several_are_removed_in_the_order_of_their_deletion) {
    const auto early = make("early");
    run(delete_account{early});
    now_ += grace;
    run(delete_account{account_});
    now_ += milliseconds{1000};
    EXPECT_EQ(remove_all(), 1);
    EXPECT_FALSE(is_there("early"));
    EXPECT_TRUE(is_there("board"));
}

}  // namespace
}  // namespace callsign
