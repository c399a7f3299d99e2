// The whole API with a running engine on an in-memory store, as clients see it.

#include "callsign/v1/callsign.pb.h"
#include "service_fixture.hpp"
#include "support/faulty_store.hpp"

#include <gtest/gtest.h>
#include <map>

namespace callsign::testing {
namespace {

using boost::beast::http::verb;

// ---- reads ----

TEST_F(service_test, a_task_is_found_by_key_and_uuid) {
    const auto made = body_of(create(R"({"description":"x","project":"p"})", "k1"));
    const auto by_key = read("/v1/tasks/syn-1");
    const auto by_uuid = read("/v1/tasks/" + text_of(made.at("uuid")));
    EXPECT_EQ(by_key.status, 200u);
    EXPECT_EQ(by_key.body, by_uuid.body);
    EXPECT_EQ(text_of(body_of(by_key).at("project")), "p");
    EXPECT_EQ(header(by_key, "ETag"), h.etag(made.at("seq").as_int64()));
    EXPECT_EQ(text_of(body_of(by_key).at("etag")), header(by_key, "ETag"));
}

TEST_F(service_test, a_known_task_is_not_sent_again) {
    create(R"({"description":"x"})", "k1");
    const auto etag = std::string(header(read("/v1/tasks/SYN-1"), "ETag"));
    auto headers = bearer(syn.token);
    headers.emplace_back("If-None-Match", "\"0\"");
    headers.emplace_back("If-None-Match", "\"1\", W/" + etag);
    const auto same = h.call(make_request(verb::get, "/v1/tasks/SYN-1", "", headers));
    EXPECT_EQ(same.status, 304u);
    EXPECT_EQ(same.body, "");
    EXPECT_EQ(header(same, "ETag"), etag);
}

TEST_F(service_test, a_missing_resource_is_reported_precisely) {
    create(R"({"description":"x"})", "k1");
    const std::map<std::string, std::pair<unsigned, std::string>> expected{
        {"/v1/tasks/nonsense", {400, "malformed-task-ref"}},
        {"/v1/tasks/%FF", {400, "malformed-task-ref"}},
        {"/v1/tasks/NOPE-1", {404, "unknown-prefix"}},
        {"/v1/tasks/SYN-2", {404, "task-not-found"}},
        {"/v1/tasks/11111111-2222-4333-8444-555555555555", {404, "task-not-found"}},
        {"/v1/slots/nope", {404, "slot-not-found"}},
        {"/v1/slots/a%20b", {400, "idempotency-key-malformed"}},
        {"/v1/nothing", {404, "no-such-path"}},
    };
    for (const auto& [path, answer] : expected) {
        const auto response = read(path);
        EXPECT_EQ(response.status, answer.first) << path;
        EXPECT_EQ(code_of(response), answer.second) << path;
    }
}

TEST_F(service_test, a_slot_shows_the_state_of_a_creation) {
    const auto made = create(R"({"description":"x"})", "a/b?c");
    const auto slot = body_of(read("/v1/slots/a%2Fb%3Fc"));
    EXPECT_EQ(text_of(slot.at("state")), "committed");
    EXPECT_EQ(slot.at("receipt").as_object(), body_of(made));
    EXPECT_EQ(slot.at("attempts").as_int64(), 1);
    EXPECT_FALSE(slot.contains("account"));
}

TEST_F(service_test, accounts_do_not_see_each_other) {
    const auto other = h.make_account("other", "OTH");
    const auto made = body_of(create(R"({"description":"x"})", "k1"));
    EXPECT_EQ(h.call(get("/v1/tasks/SYN-1", other.token)).status, 404u);
    EXPECT_EQ(h.call(get("/v1/tasks/" + text_of(made.at("uuid")), other.token)).status, 404u);
    EXPECT_EQ(h.call(get("/v1/slots/k1", other.token)).status, 404u);
    const auto same_key = h.call(post("/v1/tasks", R"({"description":"y"})", other.token, "k1"));
    EXPECT_EQ(header(same_key, "Location"), "/v1/tasks/OTH-1");
}

// ---- forms and methods ----

TEST_F(service_test, forms_are_negotiated) {
    auto headers = bearer(syn.token);
    headers.emplace_back("Accept", "application/protobuf");
    const auto proto = h.call(make_request(verb::get, "/v1/account", "", headers));
    EXPECT_EQ(proto.content_type, "application/x-protobuf");
    v1::Account account;
    ASSERT_TRUE(account.ParseFromString(proto.body));
    EXPECT_EQ(account.name(), "syn");

    // Two fields form one list.
    headers.back().second = "text/html";
    headers.emplace_back("Accept", "application/protobuf");
    const auto listed = h.call(make_request(verb::get, "/v1/account", "", headers));
    EXPECT_EQ(listed.content_type, "application/x-protobuf");

    headers.pop_back();
    const auto rejected = h.call(make_request(verb::get, "/v1/account", "", headers));
    EXPECT_EQ(rejected.status, 406u);
    EXPECT_EQ(rejected.content_type, "application/problem+json");

    headers = bearer(syn.token);
    headers.emplace_back("Content-Type", "text/plain");
    EXPECT_EQ(h.call(make_request(verb::post, "/v1/tasks", "x", headers)).status, 415u);

    headers = bearer(syn.token);
    headers.emplace_back("Content-Encoding", "identity");
    EXPECT_NE(h.call(make_request(verb::post, "/v1/tasks", "{}", headers)).status, 415u);
    headers.emplace_back("Content-Encoding", "gzip");
    const auto coded = h.call(make_request(verb::post, "/v1/tasks", "{}", headers));
    EXPECT_EQ(coded.status, 415u);
    EXPECT_EQ(header(coded, "Accept-Encoding"), "identity");
}

TEST_F(service_test, a_wrong_method_gets_the_allowed_ones) {
    const auto response = h.call(make_request(verb::put, "/v1/series", "", bearer(syn.token)));
    EXPECT_EQ(response.status, 405u);
    EXPECT_EQ(code_of(response), "method-not-allowed");
    EXPECT_EQ(header(response, "Allow"), "GET, HEAD, POST");
}

// ---- tokens ----

TEST_F(service_test, an_anonymous_client_gets_a_challenge) {
    const auto none = h.call(get("/v1/account"));
    EXPECT_EQ(none.status, 401u);
    EXPECT_EQ(header(none, "WWW-Authenticate"), "Bearer");
    const auto unknown = h.call(get("/v1/account", "cs_nobody"));
    EXPECT_EQ(unknown.status, 401u);
    EXPECT_EQ(code_of(unknown), "invalid-token");
    EXPECT_EQ(unknown.body.find("cs_nobody"), std::string::npos);
}

TEST_F(service_test, a_scope_is_a_limit) {
    const auto reader = h.make_token("syn", token_scope::read);
    EXPECT_EQ(h.call(get("/v1/account", reader)).status, 200u);
    const auto rejected = h.call(post("/v1/tasks", R"({"description":"x"})", reader, "k1"));
    EXPECT_EQ(rejected.status, 403u);
    EXPECT_EQ(code_of(rejected), "insufficient-scope");
    EXPECT_EQ(read("/v1/tokens").status, 403u);
    EXPECT_EQ(read("/v1/admin/accounts").status, 403u);
    // An account's admin token is no operator token, nor the other way round.
    const auto head = h.make_token("syn", token_scope::admin);
    EXPECT_EQ(h.call(get("/v1/admin/accounts", head)).status, 403u);
    EXPECT_EQ(admin("/v1/account").status, 403u);
    EXPECT_EQ(h.call(post("/v1/tasks", R"({"description":"x"})", root, "k1")).status, 403u);
}

TEST_F(service_test, a_revoked_token_is_rejected) {
    const auto made = body_of(admin_post("/v1/admin/accounts/syn/tokens", R"({"name":"phone"})"));
    const auto phone = text_of(made.at("token"));
    EXPECT_EQ(text_of(made.at("scope")), "write");
    EXPECT_EQ(h.call(get("/v1/account", phone)).status, 200u);
    const auto gone = h.call(make_request(
        verb::delete_, "/v1/admin/tokens/" + text_of(made.at("tokenId")), "", bearer(root)));
    EXPECT_EQ(gone.status, 200u);
    EXPECT_TRUE(body_of(gone).contains("revokedAt"));
    EXPECT_FALSE(body_of(gone).contains("token"));
    EXPECT_EQ(h.call(get("/v1/account", phone)).status, 401u);
    EXPECT_EQ(read("/v1/account").status, 200u);
}

TEST_F(service_test, an_account_manages_its_own_tokens) {
    const auto head = h.make_token("syn", token_scope::admin);
    const auto made = h.call(post("/v1/tokens", R"({"name":"tv","scope":"read"})", head));
    EXPECT_EQ(made.status, 201u);
    EXPECT_EQ(header(made, "Cache-Control"), "no-store");
    const auto tv = body_of(made);
    EXPECT_EQ(h.call(get("/v1/account", text_of(tv.at("token")))).status, 200u);
    EXPECT_EQ(body_of(h.call(get("/v1/tokens", head))).at("tokens").as_array().size(), 3u);

    // A token of another account does not exist for this one.
    h.make_account("other", "OTH");
    const auto others = h.make_token("other", token_scope::admin);
    const auto path = "/v1/tokens/" + text_of(tv.at("tokenId"));
    EXPECT_EQ(h.call(make_request(verb::delete_, path, "", bearer(others))).status, 404u);
    EXPECT_EQ(h.call(make_request(verb::delete_, path, "", bearer(head))).status, 200u);
    EXPECT_EQ(h.call(make_request(verb::delete_, "/v1/tokens/x", "", bearer(head))).status, 404u);
}

// ---- operators ----

TEST_F(service_test, an_operator_creates_accounts) {
    const auto made = admin_post("/v1/admin/accounts", R"({"name":"new","prefix":"NEW"})");
    EXPECT_EQ(made.status, 201u);
    const auto token = text_of(body_of(made).at("token"));
    EXPECT_EQ(token.size(), 46u);
    const auto task = h.call(post("/v1/tasks", R"({"description":"x"})", token, "k1"));
    EXPECT_EQ(header(task, "Location"), "/v1/tasks/NEW-1");
    EXPECT_EQ(code_of(admin_post("/v1/admin/accounts", R"({"name":"new","prefix":"X"})")),
              "name-taken");
    EXPECT_EQ(listed_faults(admin_post("/v1/admin/accounts", R"({"name":"a b"})")),
              (std::vector<std::string>{"name malformed", "prefix required"}));
    const auto all = body_of(admin("/v1/admin/accounts")).at("accounts").as_array();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_FALSE(all[1].as_object().contains("token"));
    EXPECT_EQ(admin_post("/v1/admin/accounts/new/series", R"({"prefix":"B"})").status, 201u);
    EXPECT_EQ(body_of(admin("/v1/admin/accounts/new/series")).at("series").as_array().size(), 2u);
    EXPECT_EQ(code_of(admin("/v1/admin/accounts/nope/series")), "account-not-found");
    EXPECT_EQ(code_of(admin_post("/v1/admin/accounts/nope/tokens", "{}")), "account-not-found");
}

TEST_F(service_test, the_nil_uuid_is_no_client_id) {
    const auto with = [&](const std::string& client_id) {
        return admin_post("/v1/admin/accounts",
                          R"({"name":"far","prefix":"FAR","remote":{"url":"https://example.com/",)"
                          R"("encryptionSecret":"x","clientId":")" +
                              client_id + R"("}})");
    };
    const auto rejected = with("00000000-0000-0000-0000-000000000000");
    EXPECT_EQ(rejected.status, 400u);
    EXPECT_EQ(listed_faults(rejected), std::vector<std::string>{"remote.clientId invalid"});
    EXPECT_EQ(listed_faults(with("x")), std::vector<std::string>{"remote.clientId malformed"});
}

TEST_F(service_test, an_operator_token_always_has_the_scope_admin) {
    EXPECT_EQ(admin_post("/v1/admin/tokens", R"({"name":"x","scope":"write"})").status, 400u);
    const auto made = admin_post("/v1/admin/tokens", R"({"name":"x"})");
    EXPECT_EQ(made.status, 201u);
    EXPECT_EQ(h.call(get("/v1/admin/accounts", text_of(body_of(made).at("token")))).status, 200u);
    EXPECT_EQ(body_of(admin("/v1/admin/tokens")).at("tokens").as_array().size(), 2u);
}

TEST_F(service_test, slots_are_listed_in_pages) {
    for (int i = 0; i < 5; ++i) {
        create(R"({"description":"x"})", "k" + std::to_string(i));
    }
    std::vector<std::string> keys;
    std::string target = "/v1/admin/slots?state=committed&account=syn&pageSize=2";
    for (std::string token; keys.size() < 10;) {
        const auto page = body_of(admin(target + (token.empty() ? "" : "&pageToken=" + token)));
        for (const auto& slot : page.at("slots").as_array()) {
            EXPECT_EQ(text_of(slot.at("account")), "syn");
            EXPECT_TRUE(slot.as_object().contains("settledAt"));
            EXPECT_EQ(slot.at("receipt").at("number").as_int64(), keys.size() + 1);
            keys.push_back(text_of(slot.at("idempotencyKey")));
        }
        if (!page.contains("nextPageToken")) break;
        token = text_of(page.at("nextPageToken"));
    }
    EXPECT_EQ(keys, (std::vector<std::string>{"k0", "k1", "k2", "k3", "k4"}));

    EXPECT_EQ(admin("/v1/admin/slots?pageSize=-1").status, 400u);
    EXPECT_EQ(admin("/v1/admin/slots?pageToken=x").status, 400u);
    EXPECT_EQ(admin("/v1/admin/slots?state=lost").status, 400u);
    EXPECT_EQ(admin("/v1/admin/slots?sate=failed").status, 400u);
    EXPECT_EQ(code_of(admin("/v1/admin/slots?account=nope")), "account-not-found");
}

// ---- ops ----

TEST_F(service_test, health_needs_no_token) {
    EXPECT_EQ(h.call(get("/livez")).status, 200u);
    EXPECT_EQ(h.call(get("/readyz")).status, 200u);
    EXPECT_NE(h.call(get("/")).body.find("Callsign"), std::string::npos);
    h.close();
    EXPECT_EQ(h.call(get("/livez")).status, 200u);
    const auto rejected = h.call(get("/readyz"));
    EXPECT_EQ(rejected.status, 503u);
    EXPECT_EQ(code_of(rejected), "shutting-down");
    EXPECT_EQ(code_of(create(R"({"description":"x"})", "k1")), "shutting-down");
}

TEST_F(service_test, a_server_that_cannot_write_is_not_ready_until_it_can) {
    const auto disk = make_memory_store();
    faulty_store faulty(*disk);
    test_server home({.disk = &faulty});
    const auto account = home.make_account("other", "OTH");
    const auto make = [&](const std::string& key) {
        return home.call(post("/v1/tasks", R"({"description":"x"})", account.token, key)).status;
    };
    const auto ready = [&] { return home.call(get("/readyz")); };
    home.spawn(home.engine().watch_writes());
    EXPECT_EQ(ready().status, 200u);
    const auto reject = [&](store_failure::kind how, const char* why) {
        faulty.reject_writes(how);
        EXPECT_GE(make("rejected"), 500u);
        const auto answer = ready();
        EXPECT_EQ(answer.status, 503u);
        EXPECT_EQ(code_of(answer), "not-ready");
        EXPECT_NE(answer.body.find(why), std::string::npos) << answer.body;
    };
    reject(store_failure::kind::full, "The disk is full.");
    reject(store_failure::kind::io_error, "cannot be written");
    reject(store_failure::kind::read_only, "read-only");
    EXPECT_EQ(home.call(get("/livez")).status, 200u);
    faulty.reject_writes(std::nullopt);
    EXPECT_EQ(ready().status, 503u) << "no write has succeeded yet";
    home.advance(std::chrono::seconds{1});
    EXPECT_EQ(ready().status, 200u) << "the server has detected it without a write";
    home.close();
}

TEST(metrics_route, exists_if_metrics_are_enabled) {
    test_server_options options;
    options.hooks.metrics = [] { return std::string("callsign_up 1\n"); };
    test_server shows(std::move(options));
    const auto metrics = shows.call(get("/metrics"));
    EXPECT_EQ(metrics.body, "callsign_up 1\n");
    EXPECT_EQ(metrics.content_type, "text/plain; version=0.0.4");
    test_server has_none;
    EXPECT_EQ(has_none.call(get("/metrics")).status, 404u);
}

// ---- facts for logs and metrics ----

TEST_F(service_test, a_response_has_the_facts_of_its_request) {
    const auto shown = read("/v1/tasks/SYN-1").facts;
    EXPECT_EQ(shown.route, "/v1/tasks/{ref}");
    EXPECT_EQ(shown.account, "syn");
    EXPECT_EQ(shown.caller, "default");
    EXPECT_EQ(shown.reason, "task-not-found");
    EXPECT_EQ(shown.rejected, "");
    const auto nowhere = read("/nothing/secret").facts;
    EXPECT_EQ(nowhere.route, "none");
    EXPECT_EQ(nowhere.account, "");
    const auto made = create(R"({"description":"x"})", "k1").facts;
    EXPECT_EQ(made.reason, "");
    EXPECT_EQ(made.account, "syn");
    const auto by_operator = admin("/v1/admin/accounts").facts;
    EXPECT_EQ(by_operator.account, "");
    EXPECT_EQ(by_operator.caller, "test");
    // Rejected at its header, before its body.
    const auto early = h.admit(post("/v1/tasks", "", "cs_nobody"));
    ASSERT_TRUE(early.rejected);
    EXPECT_EQ(early.rejected->facts.route, "/v1/tasks");
    EXPECT_EQ(early.rejected->facts.reason, "unknown-token");
}

TEST_F(service_test, a_rejected_caller_has_a_stable_reason) {
    const auto reason_of = [&](net::http_request request) {
        const net::request_facts facts = h.call(std::move(request)).facts;
        EXPECT_EQ(facts.rejected, "auth-failed");
        return std::string(facts.reason);
    };
    EXPECT_EQ(reason_of(get("/v1/tasks/A-1")), "no-token");
    EXPECT_EQ(reason_of(get("/v1/tasks/A-1", "cs_nobody")), "unknown-token");
    EXPECT_EQ(reason_of(get("/v1/admin/accounts", syn.token)), "wrong-scope");
    const auto made = body_of(admin_post("/v1/admin/accounts/syn/tokens", R"({"name":"lost"})"));
    const auto lost = text_of(made.at("token"));
    h.call(make_request(verb::delete_, "/v1/admin/tokens/" + text_of(made.at("tokenId")), "",
                        bearer(root)));
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(reason_of(get("/v1/account", lost)), "revoked-token");
    }
    const auto facts = h.call(get("/v1/account", lost)).facts;
    EXPECT_EQ(facts.account, "syn");
    EXPECT_EQ(facts.caller, "lost");
}

TEST(make_token, has256_bits_in_base64url) {
    seeded_entropy entropy(1);
    const auto token = api::make_token(entropy);
    EXPECT_EQ(token.size(), 46u);
    EXPECT_TRUE(token.starts_with("cs_"));
    EXPECT_NE(token, api::make_token(entropy));
}

}  // namespace
}  // namespace callsign::testing
