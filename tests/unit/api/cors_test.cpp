// Web pages of other origins: preflight requests and responses.

#include "support/test_server.hpp"

#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using boost::beast::http::verb;

test_server_options open_to(std::vector<std::string> origins) {
    test_server_options o;
    o.service.api.cors_origins = std::move(origins);
    return o;
}

net::http_request from(net::http_request request, const std::string& origin) {
    request.insert("Origin", origin);
    return request;
}

net::http_request preflight(const std::string& path, const std::string& origin) {
    return from(make_request(verb::options, path, "",
                             {{"Access-Control-Request-Method", "PATCH"},
                              {"Access-Control-Request-Headers", "authorization, if-match"}}),
                origin);
}

const std::string board = "https://board.example";

TEST(cors, is_off_by_default) {
    test_server h;
    const auto account = h.make_account("syn", "SYN");
    const auto answer = h.call(from(get("/v1/tasks", account.token), board));
    EXPECT_EQ(answer.status, 200u);
    EXPECT_EQ(header(answer, "Access-Control-Allow-Origin"), "");
    EXPECT_EQ(h.call(preflight("/v1/tasks", board)).status, 405u);
}

TEST(cors, responds_to_preflight_requests) {
    test_server h(open_to({"http://localhost:3000", board}));
    const auto asked = h.call(preflight("/v1/tasks/SYN-1", board));
    EXPECT_EQ(asked.status, 204u);
    EXPECT_EQ(header(asked, "Access-Control-Allow-Origin"), board);
    EXPECT_EQ(header(asked, "Access-Control-Allow-Methods"), "GET, HEAD, PATCH, DELETE");
    EXPECT_NE(header(asked, "Access-Control-Allow-Headers").find("Idempotency-Key"),
              std::string::npos);
    EXPECT_EQ(header(asked, "Vary"), "Origin");
    EXPECT_EQ(h.call(preflight("/v1/nothing", board)).status, 404u);
    EXPECT_EQ(h.call(preflight("/v1/tasks", "https://other.example")).status, 405u);
    // Not a preflight request.
    const auto plain = h.call(from(make_request(verb::options, "/v1/tasks", "", {}), board));
    EXPECT_EQ(plain.status, 405u);
}

TEST(cors, pages_can_read_responses_of_any_kind) {
    test_server h(open_to({board}));
    const auto account = h.make_account("syn", "SYN");
    for (const auto& token : {account.token, std::string("nobodys")}) {
        const auto answer = h.call(from(get("/v1/tasks", token), board));
        EXPECT_EQ(header(answer, "Access-Control-Allow-Origin"), board) << answer.status;
        for (const char* name : {"ETag", "X-Request-Id", "RateLimit", "Retry-After"}) {
            EXPECT_NE(header(answer, "Access-Control-Expose-Headers").find(name), std::string::npos)
                << name;
        }
    }
    const auto other = h.call(from(get("/v1/tasks", account.token), "https://board.example.evil"));
    EXPECT_EQ(header(other, "Access-Control-Allow-Origin"), "");
    // Rejected before its body is sent.
    auto head = from(post("/v1/tasks", "", "nobodys"), board);
    const auto given = h.admit(std::move(head));
    ASSERT_TRUE(given.rejected);
    EXPECT_EQ(header(*given.rejected, "Access-Control-Allow-Origin"), board);
}

TEST(cors, may_be_for_all) {
    test_server h(open_to({"*"}));
    EXPECT_EQ(header(h.call(from(get("/livez"), "null")), "Access-Control-Allow-Origin"), "null");
    EXPECT_EQ(header(h.call(get("/livez")), "Access-Control-Allow-Origin"), "");
}

}  // namespace
}  // namespace callsign::testing
