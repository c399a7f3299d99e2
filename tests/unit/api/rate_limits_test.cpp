// The rate limit of an account.

#include "api/front/rate_limits.hpp"

#include "support/test_server.hpp"

#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using api::rate_limits;
using namespace std::chrono_literals;

constexpr account_id taker{1};

TEST(rate_limits, permits_a_quota_at_once_and_then_a_steady_rate) {
    rate_limits limits(6);
    for (int n = 5; n >= 0; --n) {
        const auto s = limits.take(taker, 1000ms);
        EXPECT_TRUE(s.allowed);
        EXPECT_EQ(s.remaining, n);
    }
    const auto no = limits.take(taker, 1000ms);
    EXPECT_FALSE(no.allowed);
    EXPECT_EQ(no.remaining, 0);
    EXPECT_EQ(no.retry_in, 10s);
    EXPECT_EQ(no.full_in, 60s);
    EXPECT_FALSE(limits.take(taker, 10'999ms).allowed);
    EXPECT_TRUE(limits.take(taker, 11'000ms).allowed);
    EXPECT_FALSE(limits.take(taker, 11'000ms).allowed) << "only one is available again";
    EXPECT_TRUE(limits.take(account_id{2}, 11'000ms).allowed)
        << "another account has its own quota";
    EXPECT_EQ(limits.take(taker, 200'000ms).remaining, 5) << "the quota is full again";
    EXPECT_EQ(limits.policy(), "\"account\";q=6;w=60");
    EXPECT_EQ(rate_limits::field_of({true, 5, 10s, 0s}), "\"account\";r=5;t=10");
}

TEST(rate_limits, a_rejected_request_does_not_count) {
    rate_limits limits(1);
    EXPECT_TRUE(limits.take(taker, 0ms).allowed);
    for (int n = 0; n < 100; ++n) EXPECT_FALSE(limits.take(taker, 59'999ms).allowed);
    EXPECT_TRUE(limits.take(taker, 60'000ms).allowed);
}

TEST(rate_limits, are_in_the_headers_of_each_response) {
    test_server_options o;
    o.service.api.account_requests_per_minute = 2;
    test_server h(std::move(o));
    const auto syn = h.make_account("syn", "SYN");
    const auto other = h.make_account("ops", "OPS");
    const auto first = h.call(post("/v1/tasks", R"({"description":"x"})", syn.token, "k"));
    EXPECT_EQ(header(first, "RateLimit-Policy"), "\"account\";q=2;w=60");
    EXPECT_EQ(header(first, "RateLimit"), "\"account\";r=1;t=30");
    EXPECT_EQ(h.call(get("/v1/tasks/SYN-9", syn.token)).status, 404u) << "it counts too";
    const auto no = h.call(get("/v1/tasks", syn.token));
    EXPECT_EQ(no.status, 429u);
    EXPECT_NE(no.body.find("\"code\":\"rate-limited\""), std::string::npos);
    EXPECT_EQ(header(no, "Retry-After"), "30");
    EXPECT_EQ(header(no, "RateLimit"), "\"account\";r=0;t=60");
    EXPECT_EQ(h.call(get("/v1/tasks", other.token)).status, 200u);
    EXPECT_EQ(h.call(get("/v1/admin/accounts", h.operator_token())).status, 200u);
    EXPECT_EQ(header(h.call(get("/livez")), "RateLimit"), "");
    h.advance(30s);
    EXPECT_EQ(h.call(get("/v1/tasks", syn.token)).status, 200u);
}

// ---- tokens that expire ----

TEST(tokens, are_invalid_once_they_have_expired) {
    test_server h;
    const auto syn = h.make_account("syn", "SYN");
    const auto admin = h.make_token("syn", token_scope::admin);
    const auto made =
        h.call(post("/v1/tokens", R"({"name":"ci","expiresAt":"2026-11-20T12:10:00Z"})", admin));
    ASSERT_EQ(made.status, 201u) << made.body;
    EXPECT_NE(made.body.find(R"("expiresAt":"2026-11-20T12:10:00.000Z")"), std::string::npos);
    const auto begin = made.body.find("\"token\":\"") + 9;
    const std::string token = made.body.substr(begin, made.body.find('"', begin) - begin);
    EXPECT_EQ(h.call(get("/v1/tasks", token)).status, 200u);  // and is cached
    h.advance(10min - 1ms);
    EXPECT_EQ(h.call(get("/v1/tasks", token)).status, 200u);
    h.advance(1ms);
    const auto late = h.call(get("/v1/tasks", token));
    EXPECT_EQ(late.status, 401u);
    EXPECT_NE(late.body.find("\"code\":\"invalid-token\""), std::string::npos);
    EXPECT_NE(late.body.find("2026-11-20T12:10:00.000Z"), std::string::npos);
    EXPECT_EQ(h.call(get("/v1/tasks", syn.token)).status, 200u);
    const auto past =
        h.call(post("/v1/tokens", R"({"name":"ci","expiresAt":"2026-11-20T12:10:00Z"})", admin));
    EXPECT_EQ(past.status, 400u);
}

}  // namespace
}  // namespace callsign::testing
