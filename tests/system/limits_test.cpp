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
    // It may be cut off while we still send, so that the answer is lost; but it is never accepted.
    const auto answer = rude.receive();
    if (answer) {
        EXPECT_TRUE(answer->status == 413 || answer->status == 411) << answer->status;
    }
    expect_served(*s, token);
}

TEST_F(limits_test, a_client_that_drips_its_header_is_cut_off) {
    auto s = start({}, {{"CALLSIGN_HTTP_HEADER_TIMEOUT", "300ms"}});
    const std::string token = make_account(*s, "polite", "SYN");
    std::list<http_client> drips;
    for (int i = 0; i < 50; ++i) {
        http_client& c = drips.emplace_back(s->port());
        ASSERT_TRUE(c.send("GET /v1/account HTTP/1.1\r\nHost: x\r\nX-Slow: "));
    }
    expect_served(*s, token);
    for (http_client& c : drips) {
        const auto answer = c.receive();
        if (answer) {
            EXPECT_EQ(answer->status, 408u);
        }
        EXPECT_TRUE(!c.connected() || c.closed_by_server());
    }
    expect_served(*s, token);
}

TEST_F(limits_test, a_client_that_drips_its_body_is_cut_off) {
    auto s = start({}, {{"CALLSIGN_HTTP_BODY_TIMEOUT", "300ms"}});
    const std::string token = make_account(*s, "polite", "SYN");
    http_client drip(s->port());
    ASSERT_TRUE(drip.send("POST /v1/tasks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token +
                          "\r\nContent-Type: application/json\r\nIdempotency-Key: \"slow\"\r\n" +
                          "Content-Length: 100\r\n\r\n{"));
    const auto answer = drip.receive();
    if (answer) {
        EXPECT_EQ(answer->status, 408u);
    }
    EXPECT_TRUE(!drip.connected() || drip.closed_by_server());
    expect_served(*s, token);
}

TEST_F(limits_test, an_idle_connection_is_closed) {
    auto s = start({}, {{"CALLSIGN_HTTP_IDLE_TIMEOUT", "300ms"}});
    http_client quiet(s->port());
    ASSERT_TRUE(quiet.get("/livez").has_value());
    EXPECT_TRUE(quiet.closed_by_server());
}

TEST_F(limits_test, connections_beyond_the_bound_are_told_so) {
    auto s = start({}, {{"CALLSIGN_HTTP_CONNECTIONS_MAX", "4"}});
    std::list<http_client> held;
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(held.emplace_back(s->port()).get("/livez"));
    http_client fifth(s->port());
    const auto answer = fifth.get("/livez");
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, 503u);
    EXPECT_NE(answer->header("Retry-After"), "");

    // One that leaves makes room; the server sees it go in its own time.
    held.clear();
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
         {"\r\n\r\nGET", "EHLO mail\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
          "POST /v1/tasks HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
          "POST /v1/tasks HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"}) {
        http_client rude(s->port(), {}, 5s);
        ASSERT_TRUE(rude.send(nonsense));
        const auto answer = rude.receive();
        if (answer) {
            EXPECT_EQ(answer->status, 400u) << nonsense;
        }
        expect_served(*s, token);
    }
}

}  // namespace
}  // namespace callsign::testing
