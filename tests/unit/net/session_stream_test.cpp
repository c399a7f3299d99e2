// Streamed bodies, the events of finished requests, and the eviction of connections.

#include "session_fixture.hpp"

#include <gtest/gtest.h>
#include <list>

namespace callsign::net {
namespace {

// ---- streamed bodies ----

TEST(session, a_body_is_streamed_in_chunks) {
    sessions all(patient());
    sessions::peer client(all);
    client.send(get_stream);
    const std::string head = client.read();
    EXPECT_EQ(head.substr(0, 12), "HTTP/1.1 200");
    EXPECT_NE(head.find("\r\nTransfer-Encoding: chunked\r\n"), std::string::npos);
    EXPECT_NE(head.find("\r\nConnection: close\r\n"), std::string::npos);
    EXPECT_EQ(head.find("Content-Length"), std::string::npos);
    all.say("hello");
    EXPECT_EQ(client.read(), "5\r\nhello\r\n");
    all.pass(1h);  // a silent stream has no deadline
    all.say(std::string(300, 'x'));
    EXPECT_EQ(client.read(), "12c\r\n" + std::string(300, 'x') + "\r\n");
    EXPECT_EQ(all.held(), 0u);
    all.be_silent();
    EXPECT_EQ(client.read(), "0\r\n\r\n");
    EXPECT_TRUE(client.closed());
    EXPECT_EQ(all.streaming, 0);
}

// ---- events of finished requests ----

TEST(session, a_stream_is_finished_at_its_end) {
    sessions all(patient());
    sessions::peer client(all);
    client.send(get_stream);
    all.say("hello");
    all.pass(60s);
    EXPECT_TRUE(all.probe.finished.empty());
    all.be_silent();
    ASSERT_EQ(all.probe.finished.size(), 1u);
    EXPECT_EQ(all.probe.finished[0].took, 60s);
    EXPECT_TRUE(all.probe.finished[0].sent);
    EXPECT_GE(all.probe.finished[0].out, 5u);
}

TEST(session, a_stream_whose_client_leaves_was_not_sent_to_its_end) {
    sessions all(patient());
    {
        sessions::peer client(all);
        client.send(get_stream);
        all.pass(5s);
    }
    all.settle_soon();
    ASSERT_EQ(all.probe.finished.size(), 1u);
    EXPECT_FALSE(all.probe.finished[0].sent);
    EXPECT_EQ(all.probe.finished[0].took, 5s);
}

TEST(session, a_response_that_is_not_read_was_not_sent) {
    sessions all(patient());
    sessions::peer client(all);
    client.send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_TRUE(all.probe.finished.empty()) << "it is still being sent";
    for (int i = 0; i < 200 && all.open() > 0; ++i) all.pass(30s);
    ASSERT_EQ(all.probe.finished.size(), 1u);
    EXPECT_EQ(all.probe.finished[0].status, 200u);
    EXPECT_FALSE(all.probe.finished[0].sent);
    EXPECT_LT(all.probe.finished[0].out, 8u << 20);
    EXPECT_GE(all.probe.finished[0].took, 30s);
}

TEST(session, a_rejected_request_is_finished_too) {
    sessions all(patient());
    sessions::peer client(all);
    client.send("GET / HTTP/1.1\r\nHost: h\r\nA: ");
    all.pass(11s);
    ASSERT_EQ(all.probe.finished.size(), 1u);
    EXPECT_EQ(all.probe.finished[0].status, 408u);
    EXPECT_TRUE(all.probe.finished[0].sent);
}

TEST(session, an_older_client_gets_a_stream_up_to_its_end) {
    sessions all(patient());
    sessions::peer client(all);
    client.send("GET /stream HTTP/1.0\r\n\r\n");
    EXPECT_EQ(client.read().find("chunked"), std::string::npos);
    all.say("hello");
    all.be_silent();
    EXPECT_EQ(client.read(), "hello");
    EXPECT_TRUE(client.closed());
}

TEST(session, a_head_of_a_stream_has_no_body) {
    sessions all(patient());
    sessions::peer client(all);
    client.send("HEAD /stream HTTP/1.1\r\nHost: h\r\n\r\n");
    const std::string head = client.read();
    EXPECT_EQ(head.substr(head.size() - 4), "\r\n\r\n");
    EXPECT_EQ(all.streaming, 0);
    EXPECT_TRUE(client.closed());
}

TEST(session, a_follower_that_reads_too_slowly_is_cut_off) {
    sessions all(patient());
    sessions::peer slow(all), quick(all);
    slow.send(get_stream);
    quick.send(get_stream);
    quick.read();
    all.say(std::string(8u << 20, 'x'));
    EXPECT_GE(quick.read_all((8u << 20) + 10).size(), 8u << 20);
    EXPECT_EQ(all.held(), 8u << 20);
    all.pass(31s);
    EXPECT_EQ(all.streaming, 1);
    EXPECT_EQ(all.held(), 0u);
    EXPECT_EQ(all.probe.timed_out, 1);
    // The body is not marked as complete.
    const std::string rest = slow.read_all(until_the_end);
    EXPECT_FALSE(rest.ends_with("0\r\n\r\n"));
    EXPECT_LT(rest.size(), 8u << 20);
}

TEST(session, a_follower_that_leaves_is_noticed_at_once) {
    sessions all(patient());
    {
        sessions::peer client(all);
        client.send(get_stream);
        EXPECT_EQ(all.streaming, 1);
    }
    all.settle_soon();
    EXPECT_EQ(all.streaming, 0);
    EXPECT_EQ(all.open(), 0u);
}

TEST(session, a_stream_is_within_the_budget_of_bodies) {
    http_options o = patient();
    o.bodies_bytes_max = 1u << 20;
    sessions all(std::move(o));
    sessions::peer client(all);
    client.send(get_stream);
    all.say(std::string(2u << 20, 'x'));
    EXPECT_EQ(all.streaming, 0);
    EXPECT_FALSE(client.read().ends_with("0\r\n\r\n"));
    EXPECT_EQ(all.held(), 0u);
}

// ---- eviction ----

TEST(session, a_follower_is_evicted_after_idle_connections) {
    sessions all(patient());
    sessions::peer following(all);
    following.send(get_stream);
    all.pass(1s);
    sessions::peer idle(all);
    EXPECT_EQ(all.state().least_needed(std::nullopt), all.state().sessions[1]);
    idle.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(all.state().least_needed(std::nullopt), all.state().sessions[0]);
    all.state().least_needed(std::nullopt)->displace();
    all.settle();
    EXPECT_EQ(all.streaming, 0);
    EXPECT_TRUE(following.closed());
    EXPECT_FALSE(idle.closed());
}

std::string poll_of(int account) {
    return "GET /poll?" + std::to_string(account) + " HTTP/1.1\r\nHost: h\r\n\r\n";
}

TEST(session, a_long_poll_is_evicted_with_a_response) {
    sessions all(patient());
    sessions::peer client(all);
    client.send(poll_of(7));
    ASSERT_EQ(all.state().least_needed(std::nullopt), all.state().sessions[0]);
    all.state().least_needed(std::nullopt)->displace();
    all.settle();
    const std::string answer = client.read();
    EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 200");
    EXPECT_NE(answer.find("\r\nConnection: close\r\n"), std::string::npos);
    EXPECT_TRUE(client.closed());
    EXPECT_EQ(all.open(), 0u);
}

TEST(session, a_request_that_arrived_during_an_eviction_does_not_wait) {
    sessions all(patient());
    sessions::peer client(all);
    const std::string poll = poll_of(7);
    client.send(poll.substr(0, 20));
    all.state().sessions[0]->displace();
    client.send(poll.substr(20));
    all.settle();
    EXPECT_EQ(all.open(), 0u);
}

// Also if the client has sent more than the server has read.
TEST(session, a_long_poll_whose_client_disconnects_ends) {
    for (const std::string more : {"", "GET / HTTP/1.1\r\nHost: h\r\n\r\n"}) {
        sessions all(patient());
        {
            sessions::peer client(all);
            client.send(poll_of(7) + more);
            all.pass(1h);
            EXPECT_EQ(all.open(), 1u);
        }
        all.settle_soon();
        all.pass(1s);
        EXPECT_EQ(all.open(), 0u) << more;
    }
}

// This holds however often the account with many connections reconnects, and for any requests.
TEST(session, the_only_connection_of_an_account_is_kept_beside_one_with_many) {
    sessions all(patient());
    sessions::peer only(all);
    only.send(poll_of(7));
    std::list<sessions::peer> many;
    for (int n = 0; n < 20; ++n) {
        all.pass(1s);
        sessions::peer& next = many.emplace_back(all);
        next.send(n % 2 == 0 ? poll_of(8) : "GET / HT");
        if (n < 4) continue;
        session* const least = all.state().least_needed(std::nullopt);
        ASSERT_NE(least, nullptr);
        EXPECT_NE(least->paid_by(), payer(account_id{7}));
        least->displace();
        all.settle();
        all.settle();
    }
    EXPECT_FALSE(only.closed());
}

}  // namespace
}  // namespace callsign::net
