// Goal: the footprints (rules/footprint.hpp) of frequent commands contain the rows that they read.
// Method: the whole server on a store that counts reads outside footprints.

#include "support/far_store.hpp"
#include "support/temp_dir.hpp"
#include "support/test_server.hpp"

#include <callsign/ports/tables/tasks.hpp>
#include <callsign/rules/footprint.hpp>
#include <callsign/rules/rows/accounts.hpp>
#include <callsign/store/sqlite.hpp>

#include <gtest/gtest.h>

namespace callsign {
namespace {

using namespace testing;
using counts = std::map<std::string, int>;
using verb = boost::beast::http::verb;

// Each request runs once before the measurement, so that its account, series and counter are
// cached.
class footprints : public ::testing::Test {
  protected:
    footprints()
        : disk_(open_sqlite({.data_dir = dir_.path()})), far_(*disk_), server_({.disk = &far_}) {
        const auto made = server_.make_account("board", "SYN");
        account_ = made.id;
        token_ = made.token;
        create("first", R"("prefix":"SYN")");
        create("warm", R"("uuid":"01890000-0000-7000-8000-000000000001")");
        forget();
    }

    void create(const std::string& key, const std::string& more = R"("priority":"H")") {
        const auto answer = server_.call(
            post("/v1/tasks", R"({"description":"Ship it",)" + more + "}", token_, key));
        ASSERT_LT(answer.status, 300u) << answer.body;
    }
    void edit(const std::string& task, const std::string& priority) {
        auto patch = make_request(verb::patch, "/v1/tasks/" + task,
                                  R"({"priority":")" + priority + "\"}", bearer(token_));
        patch.set("Content-Type", "application/merge-patch+json");
        const auto answer = server_.call(std::move(patch));
        ASSERT_EQ(answer.status, 200u) << answer.body;
    }
    template <class Command>
    typename Command::answer submit(Command c) {
        return server_.run(server_.engine().submit(std::move(c))).value();
    }
    template <class As, class Command>
    As expect(Command c) {
        return std::get<As>(submit(std::move(c)));
    }
    chain_head head(account_id account) { return accounts::head_of(*disk_->begin_read(), account); }
    void forget() { far_.take_reads(); }

    // Expects exactly these reads of rows and ranges since the previous call.
    void expect_reads(const counts& alone = {}, const counts& scans = {},
                      const counts& in_vain = {}) {
        const auto all = far_.take_reads();
        EXPECT_EQ(all.alone, alone);
        EXPECT_EQ(all.scans, scans);
        EXPECT_EQ(all.in_vain, in_vain);
    }

    temp_dir dir_;
    std::unique_ptr<store> disk_;
    far_store far_;
    test_server server_;
    account_id account_;
    std::string token_;
};

TEST_F(footprints, of_a_creation) {
    create("plain");
    expect_reads();
    create("prefixed", R"("prefix":"SYN")");
    expect_reads();
    create("own-uuid", R"("uuid":"01890000-0000-7000-8000-000000000002")");
    expect_reads();
    create("depends", R"("depends":["SYN-1","01890000-0000-7000-8000-000000000001"])");
    expect_reads();
    create("home", R"("project":"home")");
    expect_reads();
    server_.call(post("/v1/series", R"({"prefix":"OPS","project":"ops"})", token_));
    create("first-there", R"("project":"ops")");
    forget();
    create("in-project", R"("project":"ops")");
    expect_reads();
}

TEST_F(footprints, of_a_retry) {
    create("again");
    forget();
    create("again");
    expect_reads({{"tasks task_id", 1}});  // the slot refers to the task of the receipt
}

TEST_F(footprints, of_an_edit) {
    for (const char* const task : {"SYN-1", "01890000-0000-7000-8000-000000000001"}) {
        edit(task, "H");
        forget();
        edit(task, "L");
        expect_reads();
        server_.call(
            make_request(verb::delete_, std::string("/v1/tasks/") + task, "", bearer(token_)));
        expect_reads();
    }
}

// Changing a row needs its head.
TEST_F(footprints, a_row_that_was_read_is_not_read_again_by_its_id) {
    const uuid its = *parse_uuid("01890000-0000-7000-8000-000000000001");
    {
        const auto tx = far_.begin_write();
        const auto row = tx->get<tasks_by_uuid>(its, account_);
        ASSERT_TRUE(row);
        const auto head = tx->get_head<tasks_by_id>(row->id);
        ASSERT_TRUE(head);
        EXPECT_EQ(head->uuid, its);
        EXPECT_EQ(head->bytes, row->bytes);
    }
    expect_reads({{"tasks uuid account_id", 1}});
}

class synced_footprints : public footprints {
  protected:
    static constexpr uuid client_{{7}};

    synced_footprints() {
        submit(create_device{account_, "laptop", client_, "key"});
        forget();
    }

    static uuid task(int n) { return {{9, static_cast<std::uint8_t>(n)}}; }
    static std::vector<operation> made(int n) {
        return {{operation_kind::create, task(n), {}, {}, {}},
                {operation_kind::update, task(n), "description", "Ship it", {}}};
    }
    static std::vector<operation> changed(int n, const char* to) {
        return {{operation_kind::update, task(n), "description", to, {}}};
    }
    void send(const uuid& parent, std::vector<operation> all) {
        expect<add_version::added>(add_version{.client_id = client_,
                                               .parent = parent,
                                               .operations = std::move(all),
                                               .account = account_});
    }
    void send(std::vector<operation> all) { send(head(account_).version, std::move(all)); }
};

TEST_F(synced_footprints, of_a_sync) {
    send(made(0));
    forget();
    send(made(1));
    expect_reads();
    send(changed(1, "Ship it now"));
    expect_reads();
    const uuid left_at = head(account_).version;
    send(changed(0, "Ship it then"));
    forget();
    // The stale parent may be a fork version; the old fork versions are trimmed.
    send(left_at, changed(1, "Ship it soon"));
    expect_reads({}, {{"fork_versions account_id place", 1}},
                 {{"fork_versions version_id account_id", 1}});
}

// A stale sync adds a fork version and looks at the oldest one only.
TEST_F(synced_footprints, of_a_stale_sync_read_one_fork_version) {
    send(made(0));
    send(made(1));
    const uuid left_at = head(account_).version;
    send(changed(0, "Ship it"));
    for (int n = 0; n < 40; ++n) send(left_at, changed(1, std::to_string(n).c_str()));
    forget();
    send(left_at, changed(1, "Ship it soon"));
    EXPECT_EQ(far_.take_reads().scanned["fork_versions account_id place"], 1);
}

TEST_F(synced_footprints, of_a_large_sync_are_limited) {
    std::vector<operation> all;
    for (int n = 0; n < 200; ++n) {
        uuid id{{8, static_cast<std::uint8_t>(n)}};
        all.push_back({operation_kind::create, id, {}, {}, {}});
    }
    const auto tx = disk_->begin_write();
    rules::footprint named(*tx);
    const command c =
        add_version{.client_id = client_, .operations = std::move(all), .account = account_};
    for (int n = 0; n < 1000; ++n) named.add(c);
    EXPECT_LE(std::move(named).rows().size(), rules::footprint::rows_max + 3);
}

TEST_F(footprints, of_a_sealed_chain) {
    const uuid client{{8}};
    account_id account;
    uuid last{};
    const auto add = [&] {
        const auto added = expect<add_sealed_version::added>(
            add_sealed_version{client, last, "sealed", true, account});
        account = added.account;
        last = added.version;
    };
    add();
    forget();
    add();
    expect_reads();
    submit(add_sealed_snapshot{client, last, "sealed", account});
    expect_reads();
    submit(assign_key{account, uuid{{1}}, {}, {}, {}});
    forget();
    submit(assign_key{account, uuid{{2}}, {}, {}, {}});
    expect_reads();
}

TEST_F(footprints, of_a_webhooks_delivery) {
    submit(create_webhook{account_, uuid{{1}}, "https://example.org", {}, "sealed", {}, 10});
    forget();
    submit(settle_delivery{.account = account_, .uuid = uuid{{1}}});
    expect_reads();
}

TEST_F(footprints, of_a_remote_account) {
    const account_id far = server_.make_account("far", "FAR").id;
    submit(move_to_remote{far, "https://example.org", uuid{{5}}, "sealed", {}});
    submit(take_delivery{.account = far});
    forget();
    // Creates a task on the remote server and settles it in the local store.
    uuid last{};
    const auto make = [&](const std::string& key) {
        forget();
        reserve first;
        first.account = far;
        first.key = key;
        const auto slot = expect<reserve::reserved>(first).slot;
        submit(begin_delivery{slot, {}, {{"a", "b"}}, {}});
        expect_reads();
        const auto sent = expect<take_delivery::taken>(take_delivery{.account = far});
        forget();
        last.data[0]++;
        expect<settle::settled>(settle{far, sent.parent, last, sent.operations, sent.parts});
    };
    make("one");
    make("two");
    expect_reads();
    expect<apply_remote_version::applied>(
        apply_remote_version{.account = far,
                             .parent = last,
                             .version = uuid{{6, 9}},
                             .operations = {{operation_kind::create, uuid{{3}}, {}, {}, {}}}});
    expect_reads();
}

}  // namespace
}  // namespace callsign
