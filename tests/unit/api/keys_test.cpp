// Keys of tasks in opaque accounts.

#include "webhooks_fixture.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

class key_api : public webhook_api {
  protected:
    key_api() {
        const auto made =
            h.call(post("/v1/admin/accounts", R"({"name":"sealed","prefix":"SEA","mode":"opaque"})",
                        h.operator_token()));
        token = std::string(json::parse(made.body).at("token").as_string());
    }
    net::http_response ask(const std::string& body, std::string_view key = {}) {
        return h.call(post("/v1/keys", body, token, key));
    }

    const std::string one = R"({"uuid":"11111111-1111-4111-8111-111111111111"})";
};

TEST_F(key_api, a_retry_gets_the_same_receipt) {
    const auto first = ask(one);
    ASSERT_EQ(first.status, 201u) << first.body;
    EXPECT_EQ(json::parse(first.body).at("key"), "SEA-1");
    EXPECT_EQ(header(first, "Idempotent-Replayed"), "");
    const auto again = ask(one, "11111111-1111-4111-8111-111111111111");
    EXPECT_EQ(again.status, 201u);
    EXPECT_EQ(again.body, first.body);
    EXPECT_EQ(header(again, "Idempotent-Replayed"), "true");
    EXPECT_EQ(json::parse(ask(R"({"uuid":"11111111-1111-4111-8111-111111111112"})").body).at("key"),
              "SEA-2");
}

TEST_F(key_api, errors_are_reported) {
    const auto fields = [&](const std::string& body, std::string_view key = {}) {
        const auto answer = ask(body, key);
        EXPECT_EQ(answer.status, 400u) << answer.body;
        return fields_of(json::parse(answer.body).as_object());
    };
    EXPECT_EQ(fields("{}"), (texts{"uuid"}));
    EXPECT_EQ(fields(R"({"uuid":"x","prefix":"1"})"), (texts{"uuid", "prefix"}));
    EXPECT_EQ(fields(R"({"uuid":"00000000-0000-0000-0000-000000000000"})"), (texts{"uuid"}));
    EXPECT_EQ(fields(one, "another-key"), (texts{"uuid"}));
    EXPECT_EQ(fields(R"({"uuid":"11111111-1111-4111-8111-111111111111","prefix":"no"})"),
              (texts{"prefix"}));
    EXPECT_EQ(json::parse(ask(one).body).at("key"), "SEA-1");
}

TEST_F(key_api, its_tasks_are_not_shown) {
    ask(one);
    const auto shown = h.call(get("/v1/tasks/SEA-1", token));
    EXPECT_EQ(shown.status, 409u);
    EXPECT_EQ(json::parse(shown.body).at("code"), "account-opaque");
    token = h.make_token("home", token_scope::write);
    EXPECT_EQ(json::parse(ask(one).body).at("code"), "account-managed");
}

}  // namespace
}  // namespace callsign::testing
