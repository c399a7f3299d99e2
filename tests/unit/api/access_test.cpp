// Goal: every route accepts exactly the tokens that it should, and revoked access stays revoked.
// Method: the whole route table with all kinds of token, with the requirement of each route
// repeated here; and revocations at every step of a request.

#include "api/front/routes.hpp"
#include "api/sync/known_clients.hpp"
#include "support/faulty_store.hpp"
#include "support/sync_client.hpp"

#include <callsign/rules/rows/tokens.hpp>

#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <map>

namespace callsign::testing {
namespace {

using boost::beast::http::verb;

std::string problem_code_of(const net::http_response& response) {
    if (!response.content_type.starts_with("application/problem+json")) return {};
    const auto problem = boost::json::parse(response.body).as_object();
    return std::string(problem.at("code").as_string());
}

enum class needs { nothing, read, write, admin, operators };

const std::map<std::string, needs> expected{
    {"GET /", needs::nothing},
    {"GET /assets/{version}/{file}", needs::nothing},
    {"GET /{ref}", needs::nothing},
    {"GET /livez", needs::nothing},
    {"GET /readyz", needs::nothing},
    {"GET /metrics", needs::nothing},
    {"GET /v1/client/get-child-version/{parent}", needs::nothing},
    {"POST /v1/client/add-version/{parent}", needs::nothing},
    {"GET /v1/client/snapshot", needs::nothing},
    {"POST /v1/client/add-snapshot/{version}", needs::nothing},
    {"GET /v1/tasks", needs::read},
    {"GET /v1/tasks/{ref}", needs::read},
    {"GET /v1/changes", needs::read},
    {"GET /v1/changes/stream", needs::read},
    {"GET /v1/changes/socket", needs::read},
    {"POST /v1/changes/tickets", needs::read},
    {"GET /v1/slots/{key}", needs::read},
    {"GET /v1/account", needs::read},
    {"GET /v1/series", needs::read},
    {"POST /v1/tasks", needs::write},
    {"PATCH /v1/tasks/{ref}", needs::write},
    {"DELETE /v1/tasks/{ref}", needs::write},
    {"POST /v1/tasks/{ref}:complete", needs::write},
    {"POST /v1/tasks/{ref}:reopen", needs::write},
    {"POST /v1/tasks/{ref}:start", needs::write},
    {"POST /v1/tasks/{ref}:stop", needs::write},
    {"POST /v1/tasks/{ref}:annotate", needs::write},
    {"POST /v1/tasks/{ref}:denotate", needs::write},
    {"POST /v1/tasks:batchCreate", needs::write},
    {"POST /v1/tasks:batchUpdate", needs::write},
    {"POST /v1/series", needs::write},
    {"PATCH /v1/series/{prefix}", needs::write},
    {"GET /v1/tokens", needs::admin},
    {"POST /v1/tokens", needs::admin},
    {"DELETE /v1/tokens/{id}", needs::admin},
    {"GET /v1/webhooks", needs::admin},
    {"POST /v1/webhooks", needs::admin},
    {"GET /v1/webhooks/{id}", needs::admin},
    {"PATCH /v1/webhooks/{id}", needs::admin},
    {"DELETE /v1/webhooks/{id}", needs::admin},
    {"POST /v1/webhooks/{id}:rotateSecret", needs::admin},
    {"POST /v1/webhooks/{id}:test", needs::admin},
    {"GET /v1/webhooks/{id}/deliveries", needs::admin},
    {"POST /v1/keys", needs::write},
    {"GET /v1", needs::nothing},
    {"GET /openapi.yaml", needs::nothing},
    {"GET /openapi.json", needs::nothing},
    {"GET /callsign.proto", needs::nothing},
    {"GET /v1/devices", needs::admin},
    {"POST /v1/devices", needs::admin},
    {"DELETE /v1/devices/{id}", needs::admin},
};

// All other routes are for operators.
needs expected_of(const api::route& where) {
    const std::string path(where.path);
    const auto found = expected.find(std::string(to_string(where.method)) + " " + path);
    if (found != expected.end()) return found->second;
    EXPECT_TRUE(path.starts_with("/v1/admin/")) << path << " has no expectation";
    return needs::operators;
}

// Fills in a value for each {name}.
std::string target_of(std::string path) {
    for (auto at = path.find('{'); at != path.npos; at = path.find('{')) {
        path.replace(at, path.find('}') - at + 1, "none");
    }
    return path;
}

TEST(access, matches_the_requirement_of_each_route) {
    test_server h;
    h.make_account("syn", "SYN");
    struct caller {
        const char* name;
        std::string token;
        needs most;  // of an account's routes
        bool is_operator = false;
    };
    const std::vector<caller> callers{
        {"nobody", "", needs::nothing},
        {"a stranger", "cs_nobodys", needs::nothing},
        {"read", h.make_token("syn", token_scope::read), needs::read},
        {"write", h.make_token("syn", token_scope::write), needs::write},
        {"admin", h.make_token("syn", token_scope::admin), needs::admin},
        {"operator", h.operator_token(), needs::nothing, true},
    };
    std::size_t seen = 0;
    for (const api::route& where : api::all_routes()) {
        ++seen;
        const needs needed = expected_of(where);
        for (const caller& who : callers) {
            header_list headers = bearer(who.token);
            headers.emplace_back("Content-Type", "application/json");
            const auto response =
                h.call(make_request(where.method, target_of(std::string(where.path)), "", headers));
            const bool may = needed == needs::nothing ||
                             (needed == needs::operators ? who.is_operator
                                                         : !who.is_operator && who.most >= needed);
            const std::string what = std::string(to_string(where.method)) + " " +
                                     std::string(where.path) + " by " + who.name;
            if (may) {
                EXPECT_NE(response.status, 401u) << what;
                EXPECT_NE(response.status, 403u) << what;
            } else if (who.most == needs::nothing && !who.is_operator) {
                EXPECT_EQ(response.status, 401u) << what;
            } else {
                EXPECT_EQ(response.status, 403u) << what;
                EXPECT_EQ(problem_code_of(response), "insufficient-scope") << what;
            }
        }
    }
    EXPECT_GT(seen, expected.size());
}

TEST(access, a_new_token_has_the_scope_write_by_default) {
    test_server h;
    h.make_account("syn", "SYN");
    const std::string admin = h.make_token("syn", token_scope::admin);
    const auto scope_of = [&](const std::string& path, const std::string& token) {
        const auto made = h.call(post(path, R"({"name":"ci"})", token));
        EXPECT_EQ(made.status, 201u) << made.body;
        return std::string(boost::json::parse(made.body).as_object().at("scope").as_string());
    };
    EXPECT_EQ(scope_of("/v1/tokens", admin), "write");
    EXPECT_EQ(scope_of("/v1/admin/accounts/syn/tokens", h.operator_token()), "write");
}

constexpr int steps_max = 40;

// ---- disabled accounts ----

TEST(access, a_disabled_account_gives_no_access) {
    test_server h;
    const auto syn = h.make_account("syn", "SYN");
    const std::string root = h.operator_token();
    create_device command{syn.id, "laptop", *parse_uuid(some_id(1)), "sealed"};
    ASSERT_TRUE(h.run(h.engine().submit(std::move(command))));
    const auto change = [&](verb method, const std::string& body) {
        auto headers = bearer(root);
        if (!body.empty()) headers.emplace_back("Content-Type", "application/json");
        return h.call(make_request(method, "/v1/admin/accounts/syn", body, headers));
    };
    const auto expect_in = [&](bool in) {
        const auto read = h.call(get("/v1/account", syn.token));
        EXPECT_EQ(read.status, in ? 200u : 403u) << read.body;
        EXPECT_EQ(read.body.find("account-disabled") == std::string::npos, in) << read.body;
        const auto sync = h.call(child_of(some_id(1), nil_id));
        // the device's key cannot be decrypted
        EXPECT_EQ(sync.status, in ? 503u : 403u) << sync.body;
        EXPECT_EQ(sync.facts.reason, in ? "master-key" : "account-disabled");
    };
    expect_in(true);
    EXPECT_EQ(change(verb::patch, R"({"disabled":true})").status, 200u);
    expect_in(false);
    EXPECT_EQ(change(verb::patch, R"({"disabled":false})").status, 200u);
    expect_in(true);
    const auto gone = change(verb::delete_, "");
    EXPECT_NE(gone.body.find(R"("state":"deleted")"), std::string::npos) << gone.body;
    EXPECT_NE(gone.body.find("deletedAt"), std::string::npos) << gone.body;
    expect_in(false);
    EXPECT_EQ(change(verb::patch, R"({"disabled":false})").status, 200u);
    expect_in(true);
    EXPECT_EQ(change(verb::patch, "{}").status, 400u);
    EXPECT_EQ(change(verb::patch, R"({"name":"-"})").status, 400u);
    EXPECT_EQ(change(verb::patch, R"({"name":"syn2"})").status, 200u);
    EXPECT_EQ(change(verb::patch, R"({"name":"syn3"})").status, 404u);
    expect_in(true);
}

TEST(access, a_disabled_account_stays_disabled_with_requests_in_progress) {
    for (int steps = 0; steps < steps_max; ++steps) {
        test_server h;
        const auto syn = h.make_account("syn", "SYN");
        const auto in_progress = h.start(get("/v1/account", syn.token));
        auto headers = bearer(h.operator_token());
        headers.emplace_back("Content-Type", "application/json");
        const auto closing = h.start(
            make_request(verb::patch, "/v1/admin/accounts/syn", R"({"disabled":true})", headers));
        for (int n = 0; n < steps; ++n) h.step();
        const auto another = h.start(get("/v1/account", syn.token));
        h.advance(milliseconds{1000});
        ASSERT_TRUE(*in_progress && *closing && *another);
        ASSERT_EQ((*closing)->status, 200u) << (*closing)->body;
        EXPECT_EQ(h.call(get("/v1/account", syn.token)).status, 403u) << steps;
    }
}

// ---- revocations at every step of a request ----

// The path with which the operator revokes the account's token of scope `read`.
std::string path_of_token(test_server& h, account_id account) {
    auto question = [account](read_tx& tx) { return tokens::of(tx, account); };
    for (const token& t : h.look(question)) {
        if (t.scope == token_scope::read) {
            return "/v1/admin/tokens/" + std::to_string(t.id.value);
        }
    }
    return {};
}

TEST(access, a_revoked_token_stays_revoked_with_requests_in_progress) {
    for (int steps = 0; steps < steps_max; ++steps) {
        test_server h;
        const auto syn = h.make_account("syn", "SYN");
        const std::string token = h.make_token("syn", token_scope::read);
        const std::string root = h.operator_token();
        const std::string path = path_of_token(h, syn.id);
        const auto in_progress = h.start(get("/v1/account", token));
        const auto revoking = h.start(make_request(verb::delete_, path, "", bearer(root)));
        for (int n = 0; n < steps; ++n) h.step();
        const auto another = h.start(get("/v1/account", token));
        h.advance(milliseconds{1000});
        ASSERT_TRUE(*in_progress && *revoking && *another);
        ASSERT_EQ((*revoking)->status, 200u) << (*revoking)->body;
        EXPECT_EQ(h.call(get("/v1/account", token)).status, 401u) << steps;
    }
}

TEST(access, a_revoked_device_stays_revoked_with_requests_in_progress) {
    for (int steps = 0; steps < steps_max; ++steps) {
        test_server h;
        const auto syn = h.make_account("syn", "SYN");
        const std::string root = h.operator_token();
        // This key cannot be decrypted: a device with access gets that error, a revoked one does
        // not.
        create_device command{syn.id, "laptop", *parse_uuid(some_id(1)), "sealed"};
        const auto made = *h.run(h.engine().submit(std::move(command)));
        const std::string id = std::to_string(std::get<device>(made).id.value);
        const auto in_progress = h.start(child_of(some_id(1), nil_id));
        const auto revoking = h.start(
            make_request(verb::delete_, "/v1/admin/accounts/syn/devices/" + id, "", bearer(root)));
        for (int n = 0; n < steps; ++n) h.step();
        const auto another = h.start(child_of(some_id(1), nil_id));
        h.advance(milliseconds{1000});
        ASSERT_TRUE(*in_progress && *revoking && *another);
        ASSERT_EQ((*revoking)->status, 200u) << (*revoking)->body;
        EXPECT_EQ(h.call(child_of(some_id(1), nil_id)).status, 403u) << steps;
    }
}

// A concurrent read of the client must detect that its result may be stale, although the client was
// not cached yet.
TEST(access, an_invalidation_begins_a_new_edition) {
    api::known_clients clients(4);
    const std::uint64_t before = clients.edition();
    clients.follow(events::device_revoked{{}, *parse_uuid(some_id(1))});
    EXPECT_NE(clients.edition(), before);
}

// The revocation may be durable; the next read decides.
TEST(access, a_revocation_whose_outcome_is_unknown_is_looked_up) {
    for (const bool of_device : {false, true}) {
        const auto disk = make_memory_store();
        faulty_store failing(*disk);
        test_server h({.disk = &failing});
        const auto syn = h.make_account("syn", "SYN");
        const std::string token = h.make_token("syn", token_scope::read);
        const std::string root = h.operator_token();
        create_device command{syn.id, "laptop", *parse_uuid(some_id(1)), "sealed"};
        const auto made = *h.run(h.engine().submit(std::move(command)));
        const std::string id = std::to_string(std::get<device>(made).id.value);
        const std::string path = path_of_token(h, syn.id);
        const auto ask = [&] {
            return of_device ? h.call(child_of(some_id(1), nil_id)).status
                             : h.call(get("/v1/account", token)).status;
        };
        EXPECT_EQ(ask(), of_device ? 503u : 200u);
        failing.arm(fault_point::before_any_commit, fault_kind::unknown_durable);
        const auto revoked = h.call(
            make_request(verb::delete_, of_device ? "/v1/admin/accounts/syn/devices/" + id : path,
                         "", bearer(root)));
        EXPECT_EQ(problem_code_of(revoked), "outcome-unknown");
        EXPECT_EQ(ask(), of_device ? 403u : 401u);
    }
}

}  // namespace
}  // namespace callsign::testing
