// Tickets of clients that cannot send a token: each admits one follower.

#include "api/shared/tickets.hpp"

#include "unit/api/service_fixture.hpp"

namespace callsign::testing {
namespace {

using boost::beast::http::verb;
using namespace std::chrono_literals;

struct feed_tickets : service_test {
    std::string ticket() {
        const auto made = h.call(post("/v1/changes/tickets", "", syn.token));
        EXPECT_EQ(made.status, 201u) << made.body;
        EXPECT_EQ(header(made, "Cache-Control"), "no-store");
        return text_of(body_of(made).at("ticket"));
    }
    // Returns the status of a stream; one that begins has a writer of its body.
    unsigned follow(const std::string& ticket,
                    std::string_view path = "/v1/changes/stream?after=0&") {
        const auto response =
            h.call(make_request(verb::get, std::string(path) + "ticket=" + ticket, "", {}));
        EXPECT_EQ(response.status == 200, static_cast<bool>(response.write_body));
        return response.status;
    }
};

TEST_F(feed_tickets, admit_one_follower) {
    const std::string one = ticket();
    EXPECT_EQ(follow(one), 200u);
    EXPECT_EQ(follow(one), 401u) << "used";
    EXPECT_EQ(follow("ct_unknown"), 401u);
    EXPECT_EQ(follow(""), 401u);
}

TEST_F(feed_tickets, expire_in_a_minute) {
    const std::string one = ticket(), other = ticket();
    h.advance(59s);
    EXPECT_EQ(follow(one), 200u);
    h.advance(1s);
    EXPECT_EQ(follow(other), 401u);
}

TEST_F(feed_tickets, admit_to_no_other_route) {
    const std::string one = ticket();
    EXPECT_EQ(follow(one, "/v1/tasks?"), 401u);
    EXPECT_EQ(follow(one, "/v1/changes?"), 401u);
    EXPECT_EQ(follow(one), 200u) << "it was not used by these";
}

// A ticket in the URL is not looked at beside a token.
TEST_F(feed_tickets, are_not_used_beside_a_token) {
    const std::string one = ticket();
    const auto response = h.call(get("/v1/changes/stream?after=0&ticket=" + one, syn.token));
    EXPECT_EQ(response.status, 200u);
    EXPECT_EQ(follow(one), 200u);
}

TEST_F(feed_tickets, end_with_their_token) {
    const auto made = body_of(admin_post("/v1/admin/accounts/syn/tokens", R"({"scope":"read"})"));
    const std::string token = text_of(made.at("token"));
    const auto answer = h.call(post("/v1/changes/tickets", "", token));
    ASSERT_EQ(answer.status, 201u) << answer.body;
    const std::string one = text_of(body_of(answer).at("ticket")), other = ticket();
    const auto revoked = h.call(make_request(
        verb::delete_, "/v1/admin/tokens/" + text_of(made.at("tokenId")), "", bearer(root)));
    ASSERT_EQ(revoked.status, 200u) << revoked.body;
    EXPECT_EQ(follow(one), 401u);
    EXPECT_EQ(follow(other), 200u) << "another token's is valid";
}

TEST_F(feed_tickets, end_with_the_access_of_their_account) {
    const std::string one = ticket();
    const auto neighbour = h.make_account("neighbour", "SYN");
    const auto made = h.call(post("/v1/changes/tickets", "", neighbour.token));
    const std::string other = text_of(body_of(made).at("ticket"));
    for (const char* const state : {"true", "false"}) {
        const auto changed = h.call(make_request(
            verb::patch, "/v1/admin/accounts/syn", std::string(R"({"disabled":)") + state + "}",
            {{"Authorization", "Bearer " + root}, {"Content-Type", "application/json"}}));
        ASSERT_EQ(changed.status, 200u) << changed.body;
    }
    EXPECT_EQ(follow(one), 401u);
    EXPECT_EQ(follow(other), 200u);
}

TEST_F(feed_tickets, of_a_token_are_limited) {
    const std::string neighbour = [&] {
        const auto made =
            h.call(post("/v1/changes/tickets", "", h.make_token("syn", token_scope::read)));
        return text_of(body_of(made).at("ticket"));
    }();
    const std::string first = ticket(), second = ticket();
    for (std::size_t n = 1; n < api::tickets::token_max; ++n) ticket();
    EXPECT_EQ(follow(first), 401u) << "replaced";
    EXPECT_EQ(follow(second), 200u);
    const std::string last = ticket();
    EXPECT_EQ(follow(last), 200u) << "the used one made room";
    EXPECT_EQ(follow(neighbour), 200u) << "another token's is not replaced";
}

// Neither HEAD nor the check of a header before its body arrives follows.
TEST_F(feed_tickets, are_used_by_a_follower_alone) {
    const std::string one = ticket();
    const std::string path = "/v1/changes/stream?after=0&ticket=" + one;
    EXPECT_EQ(h.call(make_request(verb::head, path, "", {})).status, 200u);
    EXPECT_FALSE(h.admit(make_request(verb::get, path, "", {})).rejected);
    EXPECT_EQ(follow(one), 200u);
    EXPECT_EQ(h.call(make_request(verb::head, path, "", {})).status, 401u) << "used";
    EXPECT_TRUE(h.admit(make_request(verb::get, path, "", {})).rejected);
}

}  // namespace
}  // namespace callsign::testing
