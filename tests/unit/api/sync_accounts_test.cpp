// Accounts with clients of TaskChampion's sync protocol: access, imported chains, limits of bodies,
// and facts for logs.

#include "sync_fixture.hpp"

#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using boost::beast::http::verb;

// ---- accounts ----

TEST_F(closed_sync, a_client_of_a_created_account_has_access) {
    const auto made = h.call(
        post("/v1/admin/accounts",
             R"({"name":"desk","prefix":"DESK","mode":"opaque","clientId":")" + client + R"("})",
             h.operator_token()));
    ASSERT_EQ(made.status, 201u) << made.body;
    EXPECT_NE(made.body.find("\"clientId\":\"" + client + "\""), std::string::npos);
    EXPECT_NE(made.body.find("\"mode\":\"opaque\""), std::string::npos);
    EXPECT_EQ(h.call(child_of(client, nil_id)).status, 404u);
    EXPECT_EQ(h.call(add_version(client, nil_id, "x")).status, 200u);

    const auto again = h.call(
        post("/v1/admin/accounts",
             R"({"name":"other","prefix":"O","mode":"opaque","clientId":")" + client + R"("})",
             h.operator_token()));
    EXPECT_EQ(again.status, 409u);
    EXPECT_NE(again.body.find("client-id-taken"), std::string::npos);
}

TEST_F(closed_sync, a_client_id_is_generated_by_default) {
    const auto made =
        h.call(post("/v1/admin/accounts", R"({"name":"desk","prefix":"DESK","mode":"opaque"})",
                    h.operator_token()));
    ASSERT_EQ(made.status, 201u);
    const auto at = made.body.find("\"clientId\":\"") + 12;
    const std::string drawn = made.body.substr(at, 36);
    ASSERT_TRUE(parse_uuid(drawn));
    EXPECT_EQ(drawn[14], '4');
    EXPECT_EQ(h.call(add_version(drawn, nil_id, "x")).status, 200u);
}

TEST_F(closed_sync, a_managed_account_has_no_client_id) {
    const auto rejected = h.call(post(
        "/v1/admin/accounts", R"({"name":"desk","prefix":"DESK","clientId":")" + client + R"("})",
        h.operator_token()));
    EXPECT_EQ(rejected.status, 400u);
    EXPECT_NE(rejected.body.find("clientId"), std::string::npos);
}

TEST_F(closed_sync, the_server_creates_no_tasks_in_an_opaque_account) {
    const std::string token = "cs_opaque";
    h.run(h.engine().submit(
        create_account{"desk", "DESK", "default", sha256(token), *parse_uuid(client)}));
    const auto rejected = h.call(post("/v1/tasks", R"({"description":"x"})", token, "k"));
    EXPECT_EQ(rejected.status, 409u);
    EXPECT_NE(rejected.body.find("account-opaque"), std::string::npos);
    EXPECT_EQ(head().seq, 0);
}

// ---- imported chains ----

struct imports : closed_sync {
    net::http_request asking(verb method, const std::string& target, std::string body = {},
                             const std::string& who = some_id(1)) {
        auto headers = bearer(token);
        headers.emplace_back("X-Client-Id", who);
        return make_request(method, target, std::move(body), headers);
    }
    net::http_response import_version(const std::string& parent, const std::string& id,
                                      std::string body) {
        return h.call(asking(verb::post, "/v1/admin/client/versions/" + id + "?parent=" + parent,
                             std::move(body)));
    }
    const std::string token = h.operator_token();
};

TEST_F(imports, a_chain_is_imported_unchanged_and_only_once) {
    for (int round = 0; round < 2; ++round) {
        EXPECT_EQ(h.call(asking(verb::put, "/v1/admin/client")).status, 200u);
        std::string parent = some_id(20);
        for (unsigned n = 21; n < 25; ++n) {
            const auto done = import_version(parent, some_id(n), "body " + std::to_string(n));
            EXPECT_EQ(done.status, 200u) << done.body;
            EXPECT_NE(done.body.find(round == 0 ? "true" : "false"), std::string::npos);
            parent = some_id(n);
        }
        const auto snapshot = h.call(asking(verb::post,
                                            "/v1/admin/client/snapshot/" + some_id(22) +
                                                "?takenAt=2026-11-01T00:00:00Z&versionsSince=2",
                                            "snapshot"));
        EXPECT_EQ(snapshot.status, 200u) << snapshot.body;
        EXPECT_NE(snapshot.body.find(round == 0 ? "true" : "false"), std::string::npos);
    }
    const auto child = h.call(child_of(client, some_id(22)));
    EXPECT_EQ(child.body, "body 23");
    EXPECT_EQ(header(child, "X-Version-Id"), some_id(23));
    EXPECT_EQ(header(h.call(snapshot_of(client)), "X-Version-Id"), some_id(22));
    EXPECT_EQ(h.call(add_version(client, some_id(24), "goes on")).status, 200u);
}

// The age in versions determines when a new snapshot is requested.
TEST_F(imports, an_imported_snapshot_keeps_its_age) {
    const auto asked_after = [&](int since) {
        const std::string who = some_id(300 + static_cast<unsigned>(since));
        EXPECT_EQ(h.call(asking(verb::put, "/v1/admin/client", {}, who)).status, 200u);
        const std::string version = some_id(21);
        h.call(asking(verb::post, "/v1/admin/client/versions/" + version + "?parent=" + nil_id, "v",
                      who));
        const auto taken = h.call(asking(verb::post,
                                         "/v1/admin/client/snapshot/" + version +
                                             "?takenAt=" + to_rfc3339(h.clock().now()) +
                                             "&versionsSince=" + std::to_string(since),
                                         "snapshot", who));
        EXPECT_EQ(taken.status, 200u) << taken.body;
        const auto added = h.call(add_version(who, version, "x"));
        return std::string(header(added, "X-Snapshot-Request"));
    };
    EXPECT_EQ(asked_after(0), "");
    EXPECT_EQ(asked_after(99), "");
    EXPECT_EQ(asked_after(100), "urgency=low");
    EXPECT_EQ(asked_after(150), "urgency=high");
}

TEST_F(imports, another_history_is_rejected) {
    h.call(asking(verb::put, "/v1/admin/client"));
    EXPECT_EQ(import_version(nil_id, some_id(21), "x").status, 200u);
    EXPECT_EQ(import_version(nil_id, some_id(22), "x").status, 409u);       // a fork
    EXPECT_EQ(import_version(some_id(30), some_id(31), "x").status, 409u);  // a gap
    EXPECT_EQ(import_version(some_id(21), some_id(21), "x").status, 409u);  // a cycle
    EXPECT_EQ(import_version(some_id(21), some_id(22), "x").status, 200u);
    EXPECT_EQ(import_version(some_id(22), some_id(21), "x").status, 409u);  // a longer cycle
    EXPECT_EQ(head().seq, 2);
}

TEST_F(imports, errors_are_reported) {
    EXPECT_EQ(h.call(asking(verb::put, "/v1/admin/client", {}, "x")).status, 400u);
    // the client does not exist yet
    EXPECT_EQ(import_version(nil_id, some_id(21), "x").status, 404u);
    h.call(asking(verb::put, "/v1/admin/client"));
    EXPECT_EQ(import_version("x", some_id(21), "x").status, 400u);
    EXPECT_EQ(import_version(nil_id, "x", "x").status, 400u);
    EXPECT_EQ(import_version(nil_id, some_id(21), "").status, 400u);
    EXPECT_EQ(import_version(nil_id, some_id(21), "x").status, 200u);
    const std::string snapshot = "/v1/admin/client/snapshot/" + some_id(9);
    EXPECT_EQ(h.call(asking(verb::post, snapshot, "x")).status, 400u);
    EXPECT_EQ(
        h.call(asking(verb::post, snapshot + "?takenAt=2026-11-01T00:00:00Z&versionsSince=0", "x"))
            .status,
        409u);
    // The number is used in sums: an invalid or too large one is rejected first.
    for (const char* none :
         {"", "-1", "1000000000000", "9223372036854775807", "9223372036854775808", "1e2", "x"}) {
        const auto rejected = h.call(asking(
            verb::post,
            snapshot + "?takenAt=2026-11-01T00:00:00Z&versionsSince=" + std::string(none), "x"));
        EXPECT_EQ(rejected.status, 400u) << none;
    }
}

// ---- body limits ----

TEST_F(sync, large_bodies_need_a_client_id) {
    const std::size_t usual = 1u << 20;
    const auto terms = [&](const net::http_request& request) {
        return h.service().body_limits_of(request, usual);
    };
    const auto segment = terms(add_version(client, nil_id, ""));
    EXPECT_EQ(segment.bytes_max, 100u << 20);
    EXPECT_EQ(segment.too_large->status, 400u);
    EXPECT_EQ(segment.too_large->body, "overflow");
    EXPECT_EQ(segment.too_large->facts.reason, "segment-too-large");
    const auto snapshot = terms(add_snapshot(client, nil_id, ""));
    EXPECT_EQ(snapshot.bytes_max, 100u << 20);
    EXPECT_EQ(snapshot.too_large->body, "Snapshot over maximum allowed size");
    EXPECT_EQ(snapshot.too_large->facts.reason, "snapshot-too-large");
    const auto stranger = terms(add_version("", nil_id, ""));
    EXPECT_EQ(stranger.bytes_max, usual);
    EXPECT_EQ(stranger.too_large->body, "bad x-client-id");
    // Requests whose body is ignored.
    EXPECT_EQ(terms(child_of(client, nil_id)).bytes_max, 16u << 10);
    EXPECT_EQ(terms(get("/livez")).bytes_max, 16u << 10);
    EXPECT_EQ(terms(post("/v1/tasks", "{}")).bytes_max, usual);
}

TEST_F(imports, large_bodies_need_a_known_client) {
    const std::size_t usual = 1u << 20;
    const auto most = [&](const net::http_request& request) {
        return h.service().body_limits_of(request, usual).bytes_max;
    };
    const auto segment = add_version(client, nil_id, "");
    const auto import =
        asking(verb::post, "/v1/admin/client/versions/" + some_id(1) + "?parent=" + nil_id);
    EXPECT_EQ(most(segment), usual);
    EXPECT_EQ(most(import), usual);
    EXPECT_EQ(h.admit(segment).rejected->status, 404u);
    h.call(asking(verb::put, "/v1/admin/client"));
    EXPECT_FALSE(h.admit(segment).rejected);
    EXPECT_FALSE(h.admit(import).rejected);
    EXPECT_EQ(most(segment), 100u << 20);
    EXPECT_EQ(most(import), 100u << 20);

    // Also after a restart, for the first request.
    test_server next({.service = {.sync = {}}, .disk = &h.disk(), .clock = &h.clock()});
    const auto given = next.admit(segment);
    EXPECT_FALSE(given.rejected);
    EXPECT_GT(given.payer.id(), 0);
    EXPECT_EQ(next.service().body_limits_of(segment, usual).bytes_max, 100u << 20);
}

// The memory for the response is reserved before it is loaded.
TEST_F(sync, a_response_without_memory_is_not_loaded) {
    const auto chain = make_chain(2, nil_id);
    const std::string large(200'000, 's');
    add(chain.back(), large);
    h.call(add_snapshot(client, chain[1], large));
    const auto budget = std::make_shared<net::body_budget>(300'000, 250'000);
    for (const bool crowded : {false, true}) {
        net::body_lease others(budget);
        if (crowded) others.reserve(150'000);
        for (const auto& request : {child_of(client, chain.back()), snapshot_of(client)}) {
            auto asked = request;
            asked.memory = std::make_shared<net::body_lease>(budget, account_id{99});
            const auto memory = asked.memory;
            const auto response = h.call(std::move(asked));
            EXPECT_EQ(response.status, crowded ? 503u : 200u);
            EXPECT_EQ(memory->bytes(), crowded ? 0u : large.size());
            EXPECT_EQ(header(response, "Retry-After"), crowded ? "1" : "");
            EXPECT_EQ(budget->held_by(account_id{99}), 0u);  // its account is charged
        }
    }
}

// ---- facts for logs and metrics ----

TEST_F(closed_sync, a_rejected_client_has_a_stable_reason) {
    const auto facts_of = [&](net::http_request request) {
        return h.call(std::move(request)).facts;
    };
    const auto unknown = facts_of(add_version(client, nil_id, "abcd"));
    EXPECT_EQ(unknown.rejected, "sync-rejected");
    EXPECT_EQ(unknown.reason, "unknown-client");
    EXPECT_EQ(unknown.route, "/v1/client/add-version/{parent}");
    EXPECT_EQ(facts_of(child_of(client, nil_id)).reason, "unknown-client");
    EXPECT_EQ(facts_of(snapshot_of(client)).reason, "unknown-client");
    auto wrong_type = add_version(client, nil_id, "abcd");
    wrong_type.set(boost::beast::http::field::content_type, "text/plain");
    EXPECT_EQ(facts_of(std::move(wrong_type)).reason, "wrong-content-type");
    auto nobody = child_of(client, nil_id);
    nobody.erase("X-Client-Id");
    EXPECT_EQ(facts_of(std::move(nobody)).reason, "no-client-id");
}

TEST_F(sync, a_client_is_identified_by_its_account) {
    add(nil_id);
    for (int i = 0; i < 2; ++i) {
        const auto facts = h.call(child_of(client, nil_id)).facts;
        EXPECT_NE(facts.account, "");
        EXPECT_EQ(facts.account.find(client.substr(0, 8)), std::string::npos);
        EXPECT_EQ(facts.rejected, "");
    }
    const auto end = h.call(child_of(client, to_string(head().version)));
    EXPECT_EQ(end.status, 404u);
    EXPECT_EQ(end.facts.rejected, "") << "the end of a sync is not a rejection";
}

}  // namespace
}  // namespace callsign::testing
