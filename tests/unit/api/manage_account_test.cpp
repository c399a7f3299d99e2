// Conversion of an opaque account: its history is decrypted, and its tasks are numbered.

#include "managed_sync_fixture.hpp"

#include <callsign/rules/rows/accounts.hpp>

#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using kind = operation_kind;

using boost::beast::http::verb;

struct manage : managed_sync {
    net::http_response manage_account(const std::string& secret) {
        return h->call(post("/v1/admin/accounts/vault/manage",
                            R"({"encryptionSecret":")" + secret + "\"}", root));
    }
    // Adds a version to the opaque chain.
    std::string add(const std::string& parent, const operations& all) {
        const auto response = h->call(add_version(old.client(), parent, old.segment(parent, all)));
        EXPECT_EQ(response.status, 200u) << response.body;
        return std::string(header(response, "X-Version-Id"));
    }
    static void behind_with(const std::vector<int>& tasks, task_map& into) {
        static const char* const names[] = {"", "one", "two", "three"};
        for (const int n : tasks) {
            for (const auto& o : new_task(n, names[n])) carry_out(into, o);
        }
    }
    std::optional<account> vault() {
        auto question = [](read_tx& tx) { return accounts::find(tx, "vault"); };
        return h->look(question);
    }

    const std::string secret = "hush";
    const replica old{some_id(1), secret};
    const std::string token = [this] {
        const auto made = h->call(post("/v1/admin/accounts",
                                       R"({"name":"vault","prefix":"VLT","mode":"opaque",)"
                                       R"("clientId":")" +
                                           some_id(1) + "\"}",
                                       root));
        EXPECT_EQ(made.status, 201u) << made.body;
        return text_of(body_of(made).at("token"));
    }();
};

TEST_F(manage, the_history_is_decrypted_and_its_tasks_are_numbered) {
    std::string last = add(nil_id, new_task(2, "two"));
    last = add(last, new_task(1, "one"));
    last = add(last, {{kind::remove, task_id_of(2), {}, {}, {}},
                      {kind::update, task_id_of(2), "p", "without effect", {}}});
    last = add(last, new_task(3, "three"));
    EXPECT_EQ(h->call(post("/v1/tasks", R"({"description":"x"})", token, "k")).status, 409u);

    const auto managed = manage_account(secret);
    ASSERT_EQ(managed.status, 200u) << managed.body;
    EXPECT_EQ(body_of(managed).at("versions"), 4);
    EXPECT_EQ(body_of(managed).at("tasks"), 2);
    EXPECT_EQ(vault()->mode, account_mode::managed);
    // The replica continues at its version; a new one reads the whole chain, without ineffective
    // operations.
    task_map behind;
    behind_with({1, 3}, behind);
    const auto end = pull(old, last, behind);
    task_map seen;
    EXPECT_EQ(pull(old, nil_id, seen), end);
    EXPECT_EQ(behind, seen);
    EXPECT_EQ(seen.at(task_id_of(1)).at("key"), "VLT-1");
    EXPECT_EQ(seen.at(task_id_of(3)).at("key"), "VLT-2");
    // Tokens that were cached for the opaque account work, too.
    EXPECT_EQ(h->call(post("/v1/tasks", R"({"description":"x"})", token, "k")).status, 201u);
    EXPECT_EQ(manage_account(secret).status, 409u);
}

TEST_F(manage, a_wrong_secret_changes_nothing) {
    const auto last = add(nil_id, new_task(1, "one"));
    const auto rejected = manage_account("wrong");
    EXPECT_EQ(rejected.status, 422u);
    EXPECT_EQ(code_of(rejected), "wrong-secret");
    EXPECT_EQ(vault()->mode, account_mode::opaque);
    add(last, new_task(2, "two"));
}

TEST_F(manage, a_version_that_cannot_be_read_changes_nothing) {
    const auto last = add(nil_id, new_task(1, "one"));
    h->call(add_version(old.client(), last, old.sealed(last, "{}")));
    const auto rejected = manage_account(secret);
    EXPECT_EQ(rejected.status, 422u);
    EXPECT_EQ(code_of(rejected), "history-unreadable");
    EXPECT_NE(rejected.body.find("version 2"), std::string::npos) << rejected.body;
    EXPECT_EQ(vault()->mode, account_mode::opaque);
}

TEST_F(manage, a_history_with_an_unknown_parent_needs_a_snapshot) {
    const auto first = some_id(50);
    auto last = add(first, {{kind::update, task_id_of(1), "p", "v", {}}});
    const auto rejected = manage_account(secret);
    EXPECT_EQ(code_of(rejected), "history-unreadable");
    EXPECT_NE(rejected.body.find("snapshot"), std::string::npos);

    const task_map at_last{{task_id_of(1), {{"entry", "20"}, {"p", "v"}}},
                           {task_id_of(2), {{"entry", "10"}}}};
    h->call(add_snapshot(old.client(), last, old.sealed(last, wire::encode_snapshot(at_last))));
    last = add(last, new_task(3, "three"));
    ASSERT_EQ(manage_account(secret).status, 200u);
    const auto response = h->call(snapshot_of(old.client()));
    const auto tasks =
        old.opened_snapshot(std::string(header(response, "X-Version-Id")), response.body);
    EXPECT_EQ(tasks.at(task_id_of(2)).at("key"), "VLT-1");
    EXPECT_EQ(tasks.at(task_id_of(1)).at("key"), "VLT-2");
    EXPECT_EQ(tasks.at(task_id_of(1)).at("p"), "v");
    EXPECT_EQ(tasks.at(task_id_of(3)).at("key"), "VLT-3");
    // As before: a replica at the first version continues, and a new one needs the snapshot.
    EXPECT_EQ(h->call(child_of(old.client(), first)).status, 200u);
    EXPECT_EQ(h->call(child_of(old.client(), nil_id)).status, 410u);
}

TEST_F(manage, versions_added_in_the_meantime_are_converted) {
    std::string last = add(nil_id, new_task(1, "one"));
    const auto in_progress =
        h->start(post("/v1/admin/accounts/vault/manage", R"({"encryptionSecret":"hush"})", root));
    // Between any two steps of the conversion.
    int sent = 1;
    constexpr int sent_max = 9;
    while (!*in_progress && h->step()) {
        if (sent == sent_max) continue;
        const auto response = h->start(
            add_version(old.client(), last, old.segment(last, new_task(sent + 1, "more"))));
        while (!*response && h->step()) {
        }
        ASSERT_TRUE(*response);
        if ((*response)->status == 503) continue;  // it has just become managed: retry
        ASSERT_EQ((*response)->status, 200u) << (*response)->body;
        last = header(**response, "X-Version-Id");
        ++sent;
    }
    ASSERT_TRUE(*in_progress);
    EXPECT_EQ((*in_progress)->status, 200u) << (*in_progress)->body;
    task_map seen;
    pull(old, nil_id, seen);
    EXPECT_GT(sent, 1);
    EXPECT_EQ(static_cast<int>(seen.size()), sent);
    for (const auto& [id, all] : seen) EXPECT_TRUE(all.contains("key"));
}

// A later edit of a task by any device must find the task's last version.
TEST_F(manage, the_last_version_of_each_task_is_the_head) {
    add(add(nil_id, new_task(1, "one")), new_task(2, "two"));
    ASSERT_EQ(manage_account(secret).status, 200u);
    const auto end = vault()->head.seq;
    EXPECT_EQ(end, 3);  // the keys
    for (const char* key : {"VLT-1", "VLT-2"}) {
        const auto shown = h->call(get("/v1/tasks/" + std::string(key), token));
        EXPECT_EQ(body_of(shown).at("seq"), end);
    }
}

TEST_F(manage, without_a_conversion_there_is_none_to_show_or_cancel) {
    const std::string path = "/v1/admin/accounts/vault/manage";
    const auto status = h->call(get(path, root));
    EXPECT_EQ(status.status, 200u);
    EXPECT_EQ(body_of(status).at("running"), false);
    EXPECT_EQ(code_of(h->call(make_request(verb::delete_, path, "", bearer(root)))),
              "no-conversion");
    EXPECT_EQ(h->call(get("/v1/admin/accounts/nobody/manage", root)).status, 404u);
}

TEST_F(manage, an_account_without_a_history_accepts_no_secret) {
    const auto rejected = manage_account("any");
    EXPECT_EQ(rejected.status, 409u);
    EXPECT_EQ(code_of(rejected), "no-history");
    EXPECT_EQ(vault()->mode, account_mode::opaque);
    // The rule rejects it, too.
    callsign::manage_account command;
    command.account = vault()->id;
    const auto done = h->run(h->engine().submit(std::move(command)));
    EXPECT_TRUE(done && std::holds_alternative<callsign::manage_account::no_history>(*done));
    // Its own clients have access as before.
    add(nil_id, new_task(1, "one"));
    EXPECT_EQ(manage_account(secret).status, 200u);
}

TEST_F(manage, other_accounts_are_rejected) {
    add(nil_id, new_task(1, "one"));
    EXPECT_EQ(body_of(manage_account(secret)).at("tasks"), 1);
    const auto none =
        h->call(post("/v1/admin/accounts/none/manage", R"({"encryptionSecret":"x"})", root));
    EXPECT_EQ(code_of(none), "account-not-found");
    EXPECT_EQ(code_of(manage_account("")), "validation-failed");
    const auto own =
        h->call(post("/v1/admin/accounts/syn/manage", R"({"encryptionSecret":"x"})", root));
    EXPECT_EQ(code_of(own), "account-managed");
    const auto status = h->call(get("/v1/admin/accounts/vault/manage", root));
    EXPECT_EQ(body_of(status).at("running"), false);
}

}  // namespace
}  // namespace callsign::testing
