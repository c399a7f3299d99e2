// Goal: a rude client harms itself alone. Method: raw bytes at a real server with small limits, and
// a polite client beside them that must not notice.

#include "fixture.hpp"

#include <list>

namespace callsign::testing {
namespace {

class limits_test : public system_test {
  protected:
    static void expect_served(const server& s, const std::string& token) {
        http_client polite(s.port(), token);
        const auto answer = polite.get("/v1/account");
        ASSERT_TRUE(answer.has_value());
        EXPECT_EQ(answer->status, 200u);
    }

    // Sends `step` again and again until the server has had enough, or `most` times. Between two
    // of them it waits for as long as the client's deadline says. How many it took.
    static int drip(http_client& c, std::string_view step, int most) {
        int steps = 0;
        while (steps < most && !c.closed_by_server() && c.send(step)) ++steps;
        return steps;
    }
};

TEST_F(limits_test, too_large_a_header_is_refused) {
    auto s = start();
    const std::string token = make_account(*s, "polite", "SYN");
    http_client rude(s->port());
    rude.send("GET /v1/account HTTP/1.1\r\nHost: x\r\nX-Padding: " + std::string(20'000, 'x') +
              "\r\n\r\n");
    const auto answer = rude.receive();
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, 431u);
    EXPECT_EQ(answer->header("Content-Type"), "application/problem+json");
    EXPECT_TRUE(!rude.connected() || rude.closed_by_server());
    expect_served(*s, token);
}

TEST_F(limits_test, too_large_a_body_is_refused_before_it_is_sent) {
    auto s = start();
    const std::string token = make_account(*s, "polite", "SYN");
    http_client rude(s->port());
    // Its length alone is enough: nothing of the body follows.
    rude.send("POST /v1/tasks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token +
              "\r\nContent-Type: application/json\r\nIdempotency-Key: \"large\"\r\n" +
              "Content-Length: 2000000\r\n\r\n");
    const auto answer = rude.receive();
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, 413u);
    expect_served(*s, token);
}

TEST_F(limits_test, a_body_without_end_is_refused) {
    auto s = start({}, {{"CALLSIGN_HTTP_BODY_BYTES_MAX", "16KiB"}});
    const std::string token = make_account(*s, "polite", "SYN");
    http_client rude(s->port());
    rude.send("POST /v1/tasks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token +
              "\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
    const std::string chunk = "1000\r\n" + std::string(4096, ' ') + "\r\n";
    for (int i = 0; i < 8 && rude.send(chunk); ++i) {
    }
    const auto answer = rude.receive();
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, 413u);
    expect_served(*s, token);
}

TEST_F(limits_test, a_body_in_pieces_ends_no_process) {
    auto s = start();
    const std::string token = make_account(*s, "polite", "SYN");
    const std::string put = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (const std::vector<std::string>& pieces :
         {std::vector<std::string>{put + "0\r\n", "\r", "\n"},
          std::vector<std::string>{put, "0", "\r", "\n", "\r", "\n"},
          std::vector<std::string>{put + "0\r\nA: b", "\r", "\n\r", "\n"}}) {
        http_client rude(s->port(), {}, 50ms);
        for (const std::string& piece : pieces) {
            ASSERT_TRUE(rude.send(piece));
            expect_served(*s, token);
        }
    }
}

// Without the header nobody would have been let in: a field behind the body says nothing.
TEST_F(limits_test, a_trailer_gives_nobody_a_token) {
    auto s = start();
    const std::string token = make_account(*s, "polite", "SYN");
    http_client rude(s->port());
    ASSERT_TRUE(
        rude.send("POST /v1/tasks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                  "Transfer-Encoding: chunked\r\n\r\n13\r\n{\"description\":\"x\"}\r\n"
                  "0\r\nAuthorization: Bearer " +
                  token + "\r\nIdempotency-Key: \"k\"\r\n\r\n"));
    const auto answer = rude.receive();
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, 401u);
}

// Before there is any memory for it, and before it is asked for.
TEST_F(limits_test, a_body_that_may_not_come_is_refused_at_its_header) {
    auto s = start();
    for (const char* fields :
         {"POST /v1/tasks HTTP/1.1\r\nContent-Type: application/json\r\n",
          "POST /v1/tasks HTTP/1.1\r\nContent-Type: application/json\r\nAuthorization: Bearer "
          "x\r\n",
          "POST /v1/client/add-version/00000000-0000-0000-0000-000000000000 HTTP/1.1\r\n"
          "Content-Type: application/vnd.taskchampion.history-segment\r\n"
          "X-Client-Id: 9d2b6c9e-2f47-4a55-9b4f-6f0f5f2c7a11\r\n"}) {
        http_client stranger(s->port());
        ASSERT_TRUE(
            stranger.send(std::string(fields) +
                          "Host: x\r\nExpect: 100-continue\r\nContent-Length: 9000\r\n\r\n"));
        const auto answer = stranger.receive();
        ASSERT_TRUE(answer.has_value());
        EXPECT_TRUE(answer->status == 401 || answer->status == 404) << answer->status;
    }
}

TEST_F(limits_test, a_client_that_drips_its_header_is_cut_off) {
    auto s = start({}, {{"CALLSIGN_HTTP_HEADER_TIMEOUT", "300ms"}});
    const std::string token = make_account(*s, "polite", "SYN");
    std::list<http_client> silent;
    for (int i = 0; i < 50; ++i) {
        http_client& c = silent.emplace_back(s->port());
        ASSERT_TRUE(c.send("GET /v1/account HTTP/1.1\r\nHost: x\r\nX-Slow: "));
    }
    http_client drips(s->port(), {}, 20ms);
    ASSERT_TRUE(drips.send("GET /v1/account HTTP/1.1\r\nHost: x\r\nX-Slow: "));
    expect_served(*s, token);
    EXPECT_LT(drip(drips, "x", 2000), 2000);
    for (http_client* c : {&silent.front(), &silent.back(), &drips}) {
        const auto answer = c->receive();
        ASSERT_TRUE(answer.has_value());
        EXPECT_EQ(answer->status, 408u);
        EXPECT_TRUE(!c->connected() || c->closed_by_server());
    }
    expect_served(*s, token);
}

TEST_F(limits_test, a_client_that_drips_its_body_is_cut_off) {
    auto s = start({}, {{"CALLSIGN_HTTP_BODY_TIMEOUT", "300ms"}});
    const std::string token = make_account(*s, "polite", "SYN");
    http_client drips(s->port(), {}, 20ms);
    ASSERT_TRUE(drips.send("POST /v1/tasks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token +
                           "\r\nContent-Type: application/json\r\nIdempotency-Key: \"slow\"\r\n" +
                           "Content-Length: 100000\r\n\r\n{"));
    EXPECT_LT(drip(drips, " ", 2000), 2000);
    const auto answer = drips.receive();
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, 408u);
    EXPECT_TRUE(!drips.connected() || drips.closed_by_server());
    expect_served(*s, token);
}

TEST_F(limits_test, an_idle_connection_is_closed) {
    auto s = start({}, {{"CALLSIGN_HTTP_IDLE_TIMEOUT", "300ms"}});
    http_client quiet(s->port());
    ASSERT_TRUE(quiet.get("/livez").has_value());
    EXPECT_TRUE(quiet.closed_by_server());
}

TEST_F(limits_test, the_connection_idle_longest_makes_room) {
    auto s = start({}, {{"CALLSIGN_HTTP_CONNECTIONS_MAX", "4"}});
    std::list<http_client> idle;
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(idle.emplace_back(s->port()).get("/livez"));
    http_client fifth(s->port());
    const auto answer = fifth.get("/livez");
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, 200u);
    EXPECT_TRUE(idle.front().closed_by_server());
    EXPECT_TRUE(idle.back().get("/livez"));
}

TEST_F(limits_test, connections_beyond_the_bound_are_told_so) {
    auto s = start({}, {{"CALLSIGN_HTTP_CONNECTIONS_MAX", "4"}});
    const std::string token = make_account(*s, "polite", "SYN");
    std::list<http_client> at_work;
    for (int i = 0; i < 4; ++i) {
        http_client& c = at_work.emplace_back(s->port());
        ASSERT_TRUE(c.send("POST /v1/tasks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token +
                           "\r\nContent-Type: application/json\r\nIdempotency-Key: \"k\"\r\n"
                           "Expect: 100-continue\r\nContent-Length: 9\r\n\r\n"));
        const auto told = c.receive(true);
        ASSERT_TRUE(told.has_value());
        EXPECT_EQ(told->status, 100u);
    }
    http_client fifth(s->port());
    const auto answer = fifth.get("/livez");
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, 503u);
    EXPECT_NE(answer->header("Retry-After"), "");

    // One that leaves makes room; the server sees it go in its own time.
    at_work.clear();
    const auto deadline = std::chrono::steady_clock::now() + patience;
    unsigned status = 503;
    while (status == 503 && std::chrono::steady_clock::now() < deadline) {
        http_client next(s->port());
        const auto served = next.get("/livez");
        status = served ? served->status : 503;
    }
    EXPECT_EQ(status, 200u);
}

TEST_F(limits_test, nonsense_is_answered_and_closed) {
    auto s = start();
    const std::string token = make_account(*s, "polite", "SYN");
    for (const char* nonsense :
         {"EHLO mail\r\n\r\n", "\x01\x02\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
          "POST /v1/tasks HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
          "POST /v1/tasks HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"}) {
        http_client rude(s->port(), {}, 5s);
        ASSERT_TRUE(rude.send(nonsense));
        const auto answer = rude.receive();
        ASSERT_TRUE(answer.has_value()) << nonsense;
        EXPECT_EQ(answer->status, 400u) << nonsense;
        expect_served(*s, token);
    }
}

}  // namespace
}  // namespace callsign::testing
