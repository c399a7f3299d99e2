// The responses to clients whose account has reached its storage limit.

#include "support/answer_json.hpp"
#include "support/sync_client.hpp"
#include "support/test_server.hpp"

#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using boost::beast::http::verb;

const std::string opaque_client = "01936a5e-7b2c-4000-8000-00000000000f";

struct counting_probe final : engine_probe {
    void account_full(account_limit limit) override {
        EXPECT_EQ(limit, account_limit::stored_bytes);
        ++full;
    }
    int full = 0;
};

test_server_options options_with(counting_probe& probe) {
    test_server_options o;
    o.engine.stored_bytes_max = 200;
    o.service.sync.open_registration = true;
    o.probe = &probe;
    return o;
}

header_list as_json(header_list headers) {
    headers.emplace_back("Content-Type", "application/json");
    return headers;
}

void expect_full(const net::http_response& answer) {
    EXPECT_EQ(answer.status, 507u);
    EXPECT_NE(answer.body.find("\"code\":\"account-full\""), std::string::npos) << answer.body;
    EXPECT_EQ(header(answer, "Retry-After"), "") << "a retry does not help";
}

TEST(account_limits, of_a_managed_one) {
    counting_probe probe;
    test_server h(options_with(probe));
    const auto syn = h.make_account("syn", "SYN");
    const std::string body = R"({"description":"the first of them"})";
    const auto made = h.call(post("/v1/tasks", body, syn.token, "k1"));
    ASSERT_EQ(made.status, 201u);
    const auto shown = h.call(get("/v1/admin/accounts/syn", h.operator_token()));
    EXPECT_EQ(shown.body.find("\"storedBytes\":0"), std::string::npos) << shown.body;
    const std::string large(200, 'x');
    expect_full(
        h.call(post("/v1/tasks", R"({"description":")" + large + R"("})", syn.token, "k2")));
    expect_full(
        h.call(make_request(verb::patch, "/v1/tasks/SYN-1", R"({"description":")" + large + R"("})",
                            as_json(bearer(syn.token)))));
    const auto batch = h.call(
        post("/v1/tasks:batchCreate",
             R"({"items":[{"idempotencyKey":"k3","task":{"description":")" + large + R"("}}]})",
             syn.token));
    EXPECT_EQ(batch.status, 200u);
    EXPECT_NE(batch.body.find("\"code\":\"account-full\""), std::string::npos) << batch.body;
    expect_full(h.call(post("/v1/admin/accounts/syn/import",
                            R"({"tasks":[{"uuid":"01936a5e-7b2c-7000-8000-00000000000f",)"
                            R"("attributes":{"description":")" +
                                large + R"("}}]})",
                            h.operator_token())));
    EXPECT_EQ(probe.full, 4);
    EXPECT_EQ(h.call(post("/v1/tasks", body, syn.token, "k1")).status, 201u) << "a retry";
    const auto purged =
        h.call(make_request(verb::delete_, "/v1/tasks/SYN-1?purge=true", "", bearer(syn.token)));
    EXPECT_EQ(purged.status, 204u);
}

TEST(account_limits, of_an_opaque_one) {
    counting_probe probe;
    test_server h(options_with(probe));
    const auto first = h.call(add_version(opaque_client, nil_id, std::string(150, 's')));
    ASSERT_EQ(first.status, 200u);
    const std::string version(header(first, "X-Version-Id"));
    const auto next = h.call(add_version(opaque_client, version, std::string(51, 's')));
    EXPECT_EQ(next.status, 507u);
    EXPECT_EQ(next.body, "the account's storage limit is reached");
    EXPECT_EQ(h.call(add_snapshot(opaque_client, version, std::string(51, 's'))).status, 507u);
    EXPECT_EQ(h.call(add_snapshot(opaque_client, version, std::string(50, 's'))).status, 200u);
    EXPECT_EQ(probe.full, 2);
}

TEST(account_limits, of_tokens_is_the_same_for_operators_and_accounts) {
    test_server_options o;
    o.engine.tokens_max = 3;
    test_server h(std::move(o));
    const auto syn = h.make_account("board", "SYN");
    const auto add = [&](const std::string& path, const std::string& token) {
        return h.call(post(path, R"({"scope":"admin"})", token));
    };
    const std::string of_board = "/v1/admin/accounts/board/tokens";
    const auto made = add(of_board, h.operator_token());
    ASSERT_EQ(made.status, 201u);
    const std::string own(body_of(made).at("token").as_string());
    EXPECT_EQ(add("/v1/tokens", own).status, 201u);
    for (const auto& rejected : {add("/v1/tokens", own), add(of_board, h.operator_token())}) {
        EXPECT_EQ(rejected.status, 409u) << rejected.body;
        EXPECT_EQ(code_of(rejected), "too-many-tokens");
        EXPECT_EQ(header(rejected, "Retry-After"), "");
    }
    EXPECT_EQ(add("/v1/admin/tokens", h.operator_token()).status, 201u);
}

// The row of the token is gone, and its key is not.
TEST(account_limits, a_retry_of_a_creation_whose_token_has_ended_is_told_so) {
    test_server_options o;
    o.engine.tokens_max = 3;
    test_server h(std::move(o));
    h.make_account("board", "SYN");
    const std::string own = h.operator_token();
    const auto add = [&](const std::string& key) {
        auto headers = bearer(own);
        headers.emplace_back("Content-Type", "application/json");
        headers.emplace_back("Idempotency-Key", key);
        return h.call(make_request(verb::post, "/v1/admin/accounts/board/tokens", "{}", headers));
    };
    const auto first = add("first");
    ASSERT_EQ(first.status, 201u) << first.body;
    const std::string id(body_of(first).at("tokenId").as_string());
    const auto revoked =
        h.call(make_request(verb::delete_, "/v1/admin/tokens/" + id, "", bearer(own)));
    ASSERT_EQ(revoked.status, 200u) << revoked.body;
    EXPECT_EQ(add("first").status, 201u);
    EXPECT_EQ(add("second").status, 201u);
    EXPECT_EQ(add("third").status, 201u) << "in place of the first";
    const auto again = add("first");
    EXPECT_EQ(again.status, 404u);
    EXPECT_EQ(code_of(again), "token-not-found");
}

}  // namespace
}  // namespace callsign::testing
