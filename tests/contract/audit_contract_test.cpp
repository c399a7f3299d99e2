// Store contract: the audit log, and re-encryption of secrets with another master key.

#include "store_contract.hpp"

#include <callsign/rules/rows/actions.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/instance.hpp>
#include <callsign/rules/rows/remotes.hpp>
#include <callsign/rules/rows/secrets.hpp>
#include <callsign/rules/rows/tokens.hpp>
#include <callsign/rules/rows/webhooks.hpp>

namespace callsign::testing {
namespace {

admin_action action(int n, std::optional<account_id> about = {}, const actor& by = {}) {
    return {{},
            t0 + milliseconds{n},
            by,
            "token-created",
            about,
            about ? "board" : "",
            "laptop " + std::to_string(n)};
}

std::vector<std::string> subjects(const std::vector<admin_action>& all) {
    std::vector<std::string> out;
    for (const admin_action& a : all) out.push_back(a.subject);
    return out;
}

TEST_P(store_contract, actions_are_kept_the_latest_first) {
    const auto account = make_account();
    const actor somebody{token_id{7}, "anna", account, "192.0.2.7"};
    write([&](write_tx& tx) {
        actions::put(tx, action(1));
        actions::put(tx, action(2, account, somebody));
        actions::put(tx, action(3, account));
    });
    if (GetParam().durable) reopen();
    EXPECT_EQ(store_->totals()->last_moment, t0 + milliseconds{3});
    const auto tx = store_->begin_read();
    const auto all = actions::list(*tx, {}, 10, {});
    ASSERT_EQ(subjects(all), (std::vector<std::string>{"laptop 3", "laptop 2", "laptop 1"}));
    admin_action second = action(2, account, somebody);
    second.id = all[1].id;
    EXPECT_EQ(all[1], second);
    EXPECT_LT(all[2].id, all[1].id);
    EXPECT_EQ(subjects(actions::list(*tx, {}, 2, {})),
              (std::vector<std::string>{"laptop 3", "laptop 2"}));
    EXPECT_EQ(subjects(actions::list(*tx, all[1].id, 10, {})),
              std::vector<std::string>{"laptop 1"});
    EXPECT_EQ(subjects(actions::list(*tx, {}, 10, account)),
              (std::vector<std::string>{"laptop 3", "laptop 2"}));
    EXPECT_EQ(subjects(actions::list(*tx, all[0].id, 10, account)),
              std::vector<std::string>{"laptop 2"});
    EXPECT_TRUE(actions::list(*tx, {}, 10, account_id{account.value + 99}).empty());
}

// IDs recorded by a lost instance are never reused.
TEST_P(store_contract, ids_of_a_lost_instance_are_not_reused) {
    std::vector<token_id> tokens;
    const auto give = [&](int n) {
        write([&](write_tx& tx) {
            actions::put(tx, action(n));
            tokens.push_back(
                tokens::put(tx, {}, "", token_scope::read, sha256(std::to_string(n)), t0));
        });
    };
    give(1);
    write([](write_tx& tx) { put_instance(tx, uuid{}); });
    if (GetParam().durable) reopen();
    give(2);
    EXPECT_GT(tokens[1].value, tokens[0].value + ids_of_lost);
    const auto all = actions::list(*store_->begin_read(), {}, 10, {});
    ASSERT_EQ(all.size(), 2u);
    EXPECT_GT(all[0].id.value, all[1].id.value + ids_of_lost);
}

TEST_P(store_contract, actions_that_are_old_go_in_steps) {
    write([&](write_tx& tx) {
        for (int n = 1; n <= 5; ++n) actions::put(tx, action(n));
    });
    const auto forget = [&](int before, std::int64_t limit) {
        std::int64_t gone = 0;
        write([&](write_tx& tx) { gone = actions::forget(tx, t0 + milliseconds{before}, limit); });
        return gone;
    };
    EXPECT_EQ(forget(1, 10), 0) << "an action of exactly that age is not older";
    EXPECT_EQ(forget(4, 2), 2);
    EXPECT_EQ(forget(4, 2), 1);
    EXPECT_EQ(forget(4, 2), 0);
    EXPECT_EQ(subjects(actions::list(*store_->begin_read(), {}, 10, {})),
              (std::vector<std::string>{"laptop 5", "laptop 4"}));
}

// Actions of an account's own tokens displace only other actions of these tokens.
TEST_P(store_contract, of_an_accounts_own_actions_the_latest_are_kept) {
    const auto account = make_account();
    const actor operators{token_id{1}, "root", {}, ""};
    const actor own{token_id{7}, "anna", account, ""};
    const actor others{token_id{8}, "ben", account_id{account.value + 1}, ""};
    write([&](write_tx& tx) {
        actions::put(tx, action(1, account, operators));
        actions::put(tx, action(2, account, others));
        for (int n = 3; n < 3 + account_actions_kept + 2; ++n) {
            actions::put(tx, action(n, account, own));
        }
    });
    const auto all = actions::list(*store_->begin_read(), {}, 2 * account_actions_kept, {});
    ASSERT_EQ(std::ssize(all), account_actions_kept + 2);
    EXPECT_EQ(all.back().subject, "laptop 1");
    EXPECT_EQ(all[all.size() - 2].subject, "laptop 2");
    EXPECT_EQ(all[all.size() - 3].subject, "laptop 5");
}

TEST_P(store_contract, an_action_goes_with_its_transaction) {
    {
        const auto tx = store_->begin_write();
        actions::put(*tx, action(1));
    }
    EXPECT_TRUE(actions::list(*store_->begin_read(), {}, 10, {}).empty());
}

// ---- secrets ----

TEST_P(store_contract, secrets_are_listed_by_kind_and_re_encrypted) {
    const auto account = make_account();
    const auto elsewhere = make_account("elsewhere");
    write([&](write_tx& tx) {
        for (const int n : {2, 1}) {
            device d;
            d.client_id = uuid_of(n);
            d.account = account;
            d.name = "device " + std::to_string(n);
            d.sealed_key = std::string("key\0", 4) + std::to_string(n);
            d.created_at = t0;
            devices::put(tx, d);
        }
        webhook w;
        w.account = account;
        w.uuid = uuid_of(3);
        w.url = "https://example.com/";
        w.sealed_secret = "hook";
        w.after = {1, 0};
        w.mark = "0123456789ab";
        w.created_at = t0;
        webhooks::put(tx, w);
        remote_chain r;
        r.account = elsewhere;
        r.url = "https://example.com/";
        r.client_id = uuid_of(4);
        r.sealed_key = "remote";
        remotes::put(tx, r);
    });
    const auto listed = [&](secret_kind kind, std::int64_t after = 0, std::int64_t limit = 10) {
        return secrets::of(*store_->begin_read(), kind, after, limit);
    };
    const auto devices = listed(secret_kind::device_key);
    ASSERT_EQ(devices.size(), 2u);
    EXPECT_LT(devices[0].row, devices[1].row);
    EXPECT_EQ(devices[0].of, uuid_of(2));
    EXPECT_EQ(devices[0].account, account);
    EXPECT_EQ(devices[0].sealed, std::string("key\0002", 5));
    EXPECT_EQ(listed(secret_kind::device_key, 0, 1).size(), 1u);
    EXPECT_EQ(listed(secret_kind::device_key, devices[0].row).front().of, uuid_of(1));
    const auto hooks = listed(secret_kind::webhook_secret);
    ASSERT_EQ(hooks.size(), 1u);
    EXPECT_EQ(hooks[0].of, uuid_of(3));
    EXPECT_EQ(hooks[0].account, account);
    const auto remotes = listed(secret_kind::remote_key);
    ASSERT_EQ(remotes.size(), 1u);
    EXPECT_EQ(remotes[0].of, uuid_of(4));

    const auto reseal = [&](const sealed_secret& was, std::string_view now) {
        bool is_done = false;
        write([&](write_tx& tx) { is_done = secrets::reseal(tx, was, now); });
        return is_done;
    };
    EXPECT_TRUE(reseal(devices[0], "anew"));
    EXPECT_FALSE(reseal(devices[0], "again")) << "the secret has changed since";
    EXPECT_TRUE(reseal(hooks[0], "hook anew"));
    EXPECT_TRUE(reseal(remotes[0], "remote anew"));
    if (GetParam().durable) reopen();
    EXPECT_EQ(listed(secret_kind::device_key)[0].sealed, "anew");
    EXPECT_EQ(listed(secret_kind::device_key)[1].sealed, devices[1].sealed);
    EXPECT_EQ(devices::find(*store_->begin_read(), uuid_of(2))->sealed_key, "anew");
    EXPECT_EQ(webhooks::find(*store_->begin_read(), account, uuid_of(3))->sealed_secret,
              "hook anew");
    EXPECT_EQ(remotes::find(*store_->begin_read(), elsewhere)->sealed_key, "remote anew");
}

}  // namespace
}  // namespace callsign::testing
