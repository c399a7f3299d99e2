// Goal: a misbehaving client harms no other client. Method: raw bytes sent to a real server with
// small limits, and a well-behaved client that must not be affected.

#include "fixture.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <fstream>
#include <list>

namespace callsign::testing {
namespace {

// With a sanitizer, memory usage is not the server's own.
#if defined(__SANITIZE_ADDRESS__) || defined(_GLIBCXX_TSAN)
constexpr bool memory_is_its_own = false;
#else
constexpr bool memory_is_its_own = true;
#endif

class limits_test : public system_test {
  protected:
    static void expect_served(const server& s, const std::string& token) {
        http_client polite(s.port(), token);
        const auto answer = polite.get("/v1/account");
        ASSERT_TRUE(answer.has_value());
        EXPECT_EQ(answer->status, 200u);
    }

    // The server's peak memory usage, in MiB.
    static long peak_of(server& s) {
        std::ifstream status("/proc/" + std::to_string(s.child().id()) + "/status");
        for (std::string line; std::getline(status, line);) {
            if (line.starts_with("VmHWM:")) return std::stol(line.substr(6)) / 1024;
        }
        return -1;
    }

    static std::string announcing(const std::string& token, std::size_t bytes) {
        return "POST /v1/tasks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token +
               "\r\nContent-Type: application/json\r\nIdempotency-Key: \"k\"\r\nContent-Length: " +
               std::to_string(bytes) + "\r\n\r\n";
    }

    // Sends `step` repeatedly until the server closes the connection, or `most` times, with pauses
    // of the client's deadline. Returns the number of steps.
    static int drip(http_client& c, std::string_view step, int most) {
        int steps = 0;
        while (steps < most && !c.closed_by_server() && c.send(step)) ++steps;
        return steps;
    }
};

TEST_F(limits_test, too_large_a_header_is_rejected) {
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

TEST_F(limits_test, too_large_a_body_is_rejected_before_it_is_sent) {
    auto s = start();
    const std::string token = make_account(*s, "polite", "SYN");
    http_client rude(s->port());
    // The announced length suffices: nothing of the body follows.
    rude.send("POST /v1/tasks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token +
              "\r\nContent-Type: application/json\r\nIdempotency-Key: \"large\"\r\n" +
              "Content-Length: 2000000\r\n\r\n");
    const auto answer = rude.receive();
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, 413u);
    expect_served(*s, token);
}

TEST_F(limits_test, a_body_without_end_is_rejected) {
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

// A trailer field cannot replace the Authorization header.
TEST_F(limits_test, a_trailer_is_no_authentication) {
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

// Before memory is allocated, and before 100 Continue.
TEST_F(limits_test, an_inadmissible_body_is_rejected_at_its_header) {
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

// Unfinished bodies, from anonymous clients and from an account: the former cost no memory, the
// latter at most the configured limit; further requests get 503.
TEST_F(limits_test, unfinished_bodies_cost_what_is_configured) {
    auto s = start({}, {{"CALLSIGN_HTTP_BODIES_BYTES_MAX", "48MiB"},
                        {"CALLSIGN_HTTP_ACCOUNT_BODIES_BYTES_MAX", "32MiB"},
                        {"CALLSIGN_SYNC_SEGMENT_BYTES_MAX", "16MiB"},
                        {"CALLSIGN_SYNC_SNAPSHOT_BYTES_MAX", "16MiB"}});
    const std::string token = make_account(*s, "rude", "RUDE");
    const std::string other = make_account(*s, "polite", "SYN");
    const long before = peak_of(*s);
    ASSERT_GT(before, 0);
    const std::string most(900'000, ' ');
    std::list<http_client> anonymous;
    for (int i = 0; i < 100; ++i) {
        http_client& c = anonymous.emplace_back(s->port());
        ASSERT_TRUE(c.send(announcing("cs_nobody", 1'000'000)));
        c.send(most);  // may fail: the server has closed the connection
    }
    if (memory_is_its_own) {
        EXPECT_LT(peak_of(*s) - before, 16);
    }
    expect_served(*s, other);

    std::list<http_client> rude;
    for (int i = 0; i < 100; ++i) {
        http_client& c = rude.emplace_back(s->port());
        ASSERT_TRUE(c.send(announcing(token, 1'000'000)));
        c.send(most);
    }
    const auto rejected = rude.back().receive();
    ASSERT_TRUE(rejected.has_value());
    EXPECT_EQ(rejected->status, 503u);
    EXPECT_EQ(rejected->header("Retry-After"), "1");
    if (memory_is_its_own) {
        EXPECT_LT(peak_of(*s) - before, 48 + 64);
    }
    // Other accounts have their share.
    http_client polite(s->port(), other);
    const auto made = polite.post_json("/v1/tasks", R"({"description":"x"})", "k");
    ASSERT_TRUE(made.has_value());
    EXPECT_EQ(made->status, 201u);
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

TEST_F(limits_test, the_longest_idle_connection_is_evicted) {
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

TEST_F(limits_test, connections_beyond_the_limit_get_503) {
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

    // A connection that closes frees its place; the server notices with a delay.
    at_work.clear();
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    unsigned status = 503;
    while (status == 503 && std::chrono::steady_clock::now() < deadline) {
        http_client next(s->port());
        const auto served = next.get("/livez");
        status = served ? served->status : 503;
    }
    EXPECT_EQ(status, 200u);
}

// If the limit of open files is below that of connections, the server accepts as many connections
// as files permit, logs it, and continues to accept.
TEST_F(limits_test, few_open_files_mean_few_connections) {
    process child({"/bin/sh", "-c", "ulimit -n 400; exec \"$0\" \"$@\"", callsignd(), "--data-dir",
                   data_dir().string(), "--listen", "127.0.0.1:0"});
    std::string address;
    while (!address.starts_with("callsignd listening on http://")) {
        const auto line = child.read_line(timeout);
        ASSERT_TRUE(line.has_value()) << child.errors();
        address = *line;
    }
    const auto port =
        static_cast<std::uint16_t>(std::stoul(address.substr(address.rfind(':') + 1)));
    const std::string log = await_line(child, "started");
    EXPECT_NE(log.find("open file limit allows fewer connections"), log.npos) << log;
    EXPECT_NE(log.find("open_files=400 connections_max=240"), log.npos) << log;
    // A shared io_context, because each http_client has a separate one, which needs open files too.
    boost::asio::io_context context;
    std::list<net::http_client> many;
    for (int i = 0; i < 300; ++i) {
        auto& c = many.emplace_back(context.get_executor(),
                                    net::http_client_options{"127.0.0.1", std::to_string(port)});
        auto outcome =
            boost::asio::co_spawn(context, c.exchange({"GET", "/livez"}), boost::asio::use_future);
        context.restart();
        context.run();
        const auto answer = outcome.get();
        ASSERT_TRUE(answer) << i << ": " << answer.error().error.message();
        EXPECT_EQ(answer->status, 200u);
    }
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
