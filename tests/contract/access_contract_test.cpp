// Store contract: tokens and devices.

#include "store_contract.hpp"
#include "support/counted_ids.hpp"

#include <callsign/rules/read.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/rules/rows/devices.hpp>
#include <callsign/rules/rows/removal.hpp>
#include <callsign/rules/rows/secrets.hpp>
#include <callsign/rules/rows/tokens.hpp>
#include <callsign/rules/rules.hpp>

#include <gtest/gtest.h>

namespace callsign {
namespace {

using namespace testing;

TEST_P(store_contract, a_token_says_when_it_expires) {
    const auto account = make_account();
    write([&](write_tx& tx) {
        tokens::put(tx, account, "short", token_scope::read, sha256("short"), t0,
                    t0 + milliseconds{5});
        tokens::put(tx, account, "long", token_scope::read, sha256("long"), t0);
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    EXPECT_EQ(tokens::find_principal(*tx, sha256("short"))->expires_at, t0 + milliseconds{5});
    EXPECT_EQ(tokens::find_principal(*tx, sha256("long"))->expires_at, std::nullopt);
    EXPECT_EQ(tokens::of(*tx, account)[0].expires_at, t0 + milliseconds{5});
}

TEST_P(store_contract, ended_tokens_are_removed_the_oldest_first) {
    const auto one = make_account("one");
    const auto two = make_account("two");
    std::vector<token_id> made;
    write([&](write_tx& tx) {
        for (int n = 0; n < 6; ++n) {
            const auto until = n % 2 ? std::optional(t0 + milliseconds{n}) : std::nullopt;
            made.push_back(tokens::put(tx, n == 5 ? two : one, "t", token_scope::read,
                                       sha256(std::to_string(n)), t0, until));
        }
        tokens::revoke(tx, made[4], t0);
    });
    EXPECT_EQ(write([&](write_tx& tx) { return tokens::count(tx, one); }), 5);
    const auto forget = [&](std::int64_t limit) {
        return write([&](write_tx& tx) {
            return tokens::forget_ended(tx, one, t0 + milliseconds{3}, limit);
        });
    };
    EXPECT_EQ(forget(2), 2);
    if (GetParam().durable) reopen();
    EXPECT_FALSE(tokens::find_principal(*store_->begin_read(), sha256("1")));
    EXPECT_FALSE(tokens::find_principal(*store_->begin_read(), sha256("3")));
    EXPECT_TRUE(tokens::find_principal(*store_->begin_read(), sha256("4")));
    EXPECT_EQ(forget(2), 1);
    EXPECT_EQ(forget(2), 0);
    write([&](write_tx& tx) {
        EXPECT_EQ(tokens::count(tx, one), 2);
        EXPECT_EQ(tokens::count(tx, two), 1);
        // IDs are not reused.
        EXPECT_GT(tokens::put(tx, one, "t", token_scope::read, sha256("1"), t0), made.back());
    });
}

TEST_P(store_contract, tokens_are_valid_until_they_are_revoked) {
    const auto account = make_account();
    const auto id = write([&](write_tx& tx) {
        tokens::put(tx, std::nullopt, "operator", token_scope::admin, sha256("root"), t0);
        return tokens::put(tx, account, "laptop", token_scope::write, sha256("secret"), t0);
    });
    EXPECT_EQ(tokens::find_principal(*store_->begin_read(), sha256("secret"))->account, account);
    EXPECT_FALSE(tokens::find_principal(*store_->begin_read(), sha256("root"))->account);
    EXPECT_FALSE(tokens::find_principal(*store_->begin_read(), sha256("wrong")));
    write([&](write_tx& tx) { tokens::revoke(tx, id, t0 + milliseconds{1}); });
    const auto tx = store_->begin_read();
    const auto gone = tokens::find_principal(*tx, sha256("secret"));
    EXPECT_TRUE(gone->revoked);
    EXPECT_EQ(gone->name, "laptop");
    EXPECT_EQ(gone->account_name, "home");
    const auto root = tokens::find_principal(*tx, sha256("root"));
    EXPECT_FALSE(root->revoked);
    EXPECT_EQ(root->name, "operator");
    EXPECT_EQ(root->account_name, "");
    ASSERT_EQ(tokens::of(*tx, account).size(), 1u);
    EXPECT_EQ(tokens::of(*tx, account)[0].revoked_at, t0 + milliseconds{1});
    EXPECT_EQ(tokens::of(*tx, std::nullopt).size(), 1u);
}

TEST_P(store_contract, a_token_says_of_what_kind_its_account_is) {
    write([](write_tx& tx) {
        const auto id = put_opaque(tx, "sealed", client_a);
        tokens::put(tx, id, "t", token_scope::write, sha256("sealed"), t0);
        tokens::put(tx, std::nullopt, "t", token_scope::admin, sha256("operator"), t0);
    });
    const auto tx = store_->begin_read();
    EXPECT_EQ(tokens::find_principal(*tx, sha256("sealed"))->mode, account_mode::opaque);
    EXPECT_EQ(tokens::find_principal(*tx, sha256("operator"))->mode, account_mode::managed);
}

TEST_P(store_contract, a_client_id_gives_access_to_its_account) {
    const auto id = write([](write_tx& tx) {
        const auto made = put_opaque(tx, "sealed", client_a);
        EXPECT_EQ(devices::find(tx, client_a)->account, made);  // its own writes are visible
        return made;
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    const auto found = devices::find(*tx, client_a);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->account, id);
    EXPECT_EQ(found->created_at, t0);
    EXPECT_FALSE(devices::find(*tx, client_b));
    EXPECT_EQ(accounts::find(*tx, id)->mode, account_mode::opaque);
    EXPECT_EQ(accounts::head_of(*tx, id).seq, 0);
    EXPECT_TRUE(accounts::head_of(*tx, id).version.is_nil());
}

// ---- devices ----

TEST_P(store_contract, devices_have_names_and_keys_and_can_be_revoked) {
    const std::string key("\0sealed\xFF", 8);
    const auto id = make_account();
    const auto laptop = write([&](write_tx& tx) {
        const auto made = devices::put(tx, {.client_id = client_a,
                                            .account = id,
                                            .name = "laptop",
                                            .sealed_key = key,
                                            .created_at = t0});
        devices::put(tx,
                     {.client_id = client_b, .account = id, .name = "phone", .sealed_key = "k"});
        EXPECT_EQ(devices::of(tx, id).size(), 2u);
        return made;
    });
    write([&](write_tx& tx) { devices::revoke(tx, laptop, t0 + milliseconds{7}); });
    // The name is available again.
    write([&](write_tx& tx) {
        devices::put(
            tx, {.client_id = uuid_of(903), .account = id, .name = "laptop", .sealed_key = "new"});
    });
    if (GetParam().durable) reopen();
    const auto tx = store_->begin_read();
    const auto all = devices::of(*tx, id);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].id, laptop);
    EXPECT_EQ(all[0].name, "laptop");
    EXPECT_EQ(all[0].sealed_key, key);
    EXPECT_EQ(all[0].mode, account_mode::managed);
    EXPECT_EQ(all[0].created_at, t0);
    EXPECT_EQ(all[0].revoked_at, t0 + milliseconds{7});
    EXPECT_FALSE(all[1].revoked_at);
    EXPECT_EQ(devices::find(*tx, client_a)->revoked_at, t0 + milliseconds{7});
    EXPECT_EQ(devices::find(*tx, client_b)->name, "phone");
    EXPECT_FALSE(devices::find(*tx, uuid_of(904)));
}

TEST_P(store_contract, a_device_is_expected_back_after_a_restore) {
    const auto account = make_account();
    const auto laptop = write([&](write_tx& tx) {
        devices::put(tx,
                     {.client_id = client_b, .account = account, .name = "b", .sealed_key = "k"});
        return devices::put(tx, {.client_id = client_a,
                                 .account = account,
                                 .name = "a",
                                 .sealed_key = "k",
                                 .resync = resync{5, resync::state::seen}});
    });
    EXPECT_FALSE(devices::find(*store_->begin_read(), client_a)->resync) << "it is new";
    using state = resync::state;
    for (const state now : {state::expected, state::seen, state::returned}) {
        write([&](write_tx& tx) { devices::set_resync(tx, laptop, {7, now}); });
        if (GetParam().durable) reopen();
        const auto tx = store_->begin_read();
        EXPECT_EQ(devices::find(*tx, client_a)->resync, (resync{7, now}));
        EXPECT_FALSE(devices::find(*tx, client_b)->resync);
    }
    write([&](write_tx& tx) { devices::revoke(tx, laptop, t0); });
    EXPECT_EQ(devices::of(*store_->begin_read(), account)[1].resync, (resync{7, state::returned}));
}

// Writers may cache devices and accounts; every write must invalidate the cache.
TEST_P(store_contract, a_device_is_as_it_was_last_written) {
    const auto home = make_account();
    const auto sealed = write([](write_tx& tx) { return put_opaque(tx, "sealed", uuid_of(950)); });
    const auto laptop = write([&](write_tx& tx) {
        devices::put(tx, {.client_id = client_b, .account = home, .name = "b", .sealed_key = "k"});
        return devices::put(
            tx, {.client_id = client_a, .account = home, .name = "a", .sealed_key = "k"});
    });
    const auto told = [](read_tx& tx, const uuid& client) {
        const auto d = devices::find(tx, client);
        if (!d) return std::string("none");
        return d->name + " " + d->sealed_key + " of " + d->account_name + ", " +
               std::to_string(static_cast<int>(d->mode)) +
               std::to_string(static_cast<int>(d->state)) + (d->revoked_at ? ", revoked" : "") +
               (d->resync ? ", from " + std::to_string(d->resync->from) : "");
    };
    // Reads the device before and after a committed change and a dropped one.
    const auto changes = [&](const uuid& client, const std::string& to, const auto& change) {
        SCOPED_TRACE(to);
        const auto was = told(*store_->begin_read(), client);
        {
            const auto tx = store_->begin_write();
            EXPECT_EQ(told(*tx, client), was);
            change(*tx);
            EXPECT_EQ(told(*tx, client), to);
        }
        write([&](write_tx& tx) {
            EXPECT_EQ(told(tx, client), was);
            change(tx);
            EXPECT_EQ(told(tx, client), to);
        });
        EXPECT_EQ(told(*store_->begin_write(), client), to);
        EXPECT_EQ(told(*store_->begin_read(), client), to);
    };
    const auto edited = [](write_tx& tx, account_id id, const auto& edit) {
        account a = *accounts::find(tx, id);
        edit(a);
        accounts::update(tx, a);
    };
    changes(client_a, "a other of home, 11", [&](write_tx& tx) {
        EXPECT_TRUE(secrets::reseal(
            tx, {secret_kind::device_key, laptop.value, home, client_a, "k"}, "other"));
    });
    changes(client_a, "a other of home, 11, from 7", [&](write_tx& tx) {
        devices::set_resync(tx, laptop, {7, resync::state::expected});
    });
    changes(client_a, "a other of house, 11, from 7",
            [&](write_tx& tx) { edited(tx, home, [](account& a) { a.name = "house"; }); });
    changes(client_a, "a other of house, 11, revoked, from 7",
            [&](write_tx& tx) { devices::revoke(tx, laptop, t0); });
    changes(client_b, "b k of house, 12", [&](write_tx& tx) {
        edited(tx, home, [](account& a) { a.state = account_state::disabled; });
    });
    const auto way_in = devices::find(*store_->begin_read(), uuid_of(950))->id;
    changes(uuid_of(950), "  of sealed, 11",
            [&](write_tx& tx) { accounts::become_managed(tx, sealed, chain_head{}); });
    changes(uuid_of(950), "first key of sealed, 11",
            [&](write_tx& tx) { devices::assign_key(tx, way_in, "first", "key"); });
    changes(client_b, "b k of house, 14", [&](write_tx& tx) {
        edited(tx, home, [](account& a) {
            a.state = account_state::removing;
            a.deleted_at = t0;
        });
    });
    changes(client_b, "none", [&](write_tx& tx) {
        for (std::optional<removal_place> at = removal_place{}; at;)
            at = remove_rows_of(tx, home, *at, 100);
    });
}

TEST_P(store_contract, devices_come_and_go_by_the_rules) {
    const auto home = make_account();
    const auto other = make_account("other", "OTH");
    const auto sealed = write([](write_tx& tx) { return put_opaque(tx, "sealed", uuid_of(950)); });
    counted_ids ids;
    time_point now = t0;
    auto run = [&](const auto& c) {
        return write([&](write_tx& tx) {
            return rules::apply(tx, c, rules::moment{now += milliseconds{1}, ids});
        });
    };
    const auto wanted = [](account_id account, const char* name, int n) {
        return create_device{
            .account = account, .name = name, .client_id = uuid_of(n), .sealed_key = "key"};
    };
    const auto laptop = std::get<device>(run(wanted(home, "laptop", 951)));
    EXPECT_EQ(laptop.name, "laptop");
    EXPECT_EQ(laptop.account, home);
    EXPECT_EQ(laptop.client_id, uuid_of(951));
    EXPECT_EQ(laptop.sealed_key, "key");
    EXPECT_EQ(laptop.created_at, now);
    EXPECT_FALSE(laptop.revoked_at);

    // A rejected command was predicted by foresee_create_device, and has written nothing.
    const auto rejected = [&](const create_device& c) {
        const bool foretold = rules::read(*store_->begin_read(),
                                          foresee_create_device{c.account, c.name, c.client_id})
                                  .settled.has_value();
        auto answer = run(c);
        const bool is_usual = c.active_max == create_device{}.active_max;
        if (is_usual) {
            EXPECT_EQ(foretold, !std::holds_alternative<device>(answer));
        }
        return answer;
    };
    EXPECT_TRUE(std::holds_alternative<name_taken>(rejected(wanted(home, "laptop", 952))));
    EXPECT_TRUE(std::holds_alternative<client_id_taken>(rejected(wanted(other, "phone", 951))));
    EXPECT_TRUE(std::holds_alternative<client_id_taken>(rejected(wanted(home, "phone", 950))));
    EXPECT_TRUE(std::holds_alternative<account_is_opaque>(rejected(wanted(sealed, "a", 952))));
    EXPECT_TRUE(std::holds_alternative<no_such_account>(rejected(wanted(account_id{}, "a", 952))));
    EXPECT_TRUE(std::holds_alternative<device>(rejected(wanted(other, "laptop", 953))));
    EXPECT_EQ(devices::of(*store_->begin_read(), home).size(), 1u);

    create_device third = wanted(home, "third", 954);
    third.active_max = 1;
    EXPECT_TRUE(std::holds_alternative<create_device::too_many>(rejected(third)));

    const auto first_time = std::get<device>(run(revoke_device{home, laptop.id}));
    EXPECT_EQ(first_time.revoked_at, now);
    const auto second_time = std::get<device>(run(revoke_device{home, laptop.id}));
    EXPECT_EQ(second_time.revoked_at, first_time.revoked_at);
    const auto nothing = [&](const revoke_device& c) {
        return std::holds_alternative<revoke_device::no_such_device>(run(c));
    };
    EXPECT_TRUE(nothing({other, laptop.id}));
    EXPECT_TRUE(nothing({home, device_id{1'000'000}}));
    // The client ID of an opaque account gives access to it and cannot be revoked.
    const device_id way_in = devices::find(*store_->begin_read(), uuid_of(950))->id;
    EXPECT_TRUE(std::holds_alternative<account_is_opaque>(run(revoke_device{sealed, way_in})));
    EXPECT_FALSE(devices::find(*store_->begin_read(), uuid_of(950))->revoked_at);

    // A revoked device does not count towards the maximum and frees its name, but keeps its client
    // ID.
    if (GetParam().durable) reopen();
    EXPECT_TRUE(std::holds_alternative<client_id_taken>(rejected(wanted(home, "laptop", 951))));
    create_device again = wanted(home, "laptop", 955);
    again.active_max = 1;
    EXPECT_TRUE(std::holds_alternative<device>(rejected(again)));
    EXPECT_EQ(devices::find(*store_->begin_read(), uuid_of(951))->revoked_at,
              first_time.revoked_at);
}

}  // namespace
}  // namespace callsign
