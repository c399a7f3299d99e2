// Goal: a connection that makes too little progress is closed, in steps of any size, and a
// connection cannot delay the shutdown.

#include "session_fixture.hpp"

#include <gtest/gtest.h>
#include <list>

namespace callsign::net {
namespace {

// Sends `step` every `every` until the server closes the connection; returns the time until then,
// at most `limit`.
milliseconds drip(sessions& all, sessions::peer& client, std::string_view step, milliseconds every,
                  milliseconds limit) {
    milliseconds took{0};
    while (took < limit && all.open() > 0 && !client.closed()) {
        client.send(step);
        all.pass(every);
        took += every;
    }
    return took;
}

// ---- slow clients ----

TEST(session, a_header_that_drips_has_one_deadline) {
    sessions all(patient());
    sessions::peer client(all);
    client.send("GET / HTTP/1.1\r\nHost: h\r\nA: ");
    EXPECT_EQ(drip(all, client, "x", 1s, 100s), 10s);
    EXPECT_EQ(all.probe.timed_out, 1);
}

TEST(session, a_header_in_many_lines_has_one_deadline_too) {
    sessions all(patient());
    sessions::peer client(all);
    client.send("GET / HTTP/1.1\r\nHost: h\r\n");
    EXPECT_EQ(drip(all, client, "A: b\r\n", 3s, 100s), 12s);
}

TEST(session, empty_lines_do_not_keep_an_idle_connection) {
    sessions all(patient());
    sessions::peer client(all);
    EXPECT_EQ(drip(all, client, "\r\n", 5s, 500s), 75s);
    EXPECT_EQ(all.probe.timed_out, 0);
}

TEST(session, a_body_in_drips_is_cut_off) {
    sessions all(patient());
    sessions::peer client(all);
    client.send(large_put);
    // its bytes have extended the deadline by 31 ms
    EXPECT_EQ(drip(all, client, "x", 1s, 1000s), 31s);
    EXPECT_EQ(all.probe.timed_out, 1);
    EXPECT_EQ(all.held(), 0u);
    EXPECT_EQ(client.read(), "");
}

// The headers of chunks do not extend the deadline.
TEST(session, a_chunked_body_in_drips_is_cut_off) {
    sessions all(patient());
    sessions::peer client(all);
    client.send("PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
    EXPECT_EQ(drip(all, client, "1;" + std::string(900, 'x') + "\r\na\r\n", 1s, 1000s), 31s);
    EXPECT_EQ(all.held(), 0u);
}

TEST(session, a_trailer_in_drips_is_cut_off) {
    sessions all(patient());
    sessions::peer client(all);
    client.send("PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n");
    EXPECT_EQ(drip(all, client, "A: b\r\n", 1s, 1000s), 30s);
}

TEST(session, a_body_below_the_minimum_rate_is_cut_off_after_the_grace_period) {
    sessions all(patient());
    sessions::peer client(all);
    client.send(large_put);
    // Each piece is half a second too slow: the grace period lasts twice as long.
    EXPECT_EQ(drip(all, client, std::string(500, 'x'), 1s, 1000s), 59s);
}

TEST(session, a_body_at_the_minimum_rate_is_read_to_any_length) {
    sessions all(patient());
    sessions::peer client(all);
    client.send(large_put);
    EXPECT_EQ(drip(all, client, std::string(1000, 'x'), 1s, 899s), 899s);
    client.send(std::string(1000, 'x'));
    EXPECT_NE(client.read().find("900000"), std::string::npos);
    EXPECT_EQ(all.open(), 1u);
}

TEST(session, a_fast_beginning_does_not_pay_for_a_long_stall) {
    sessions all(patient());
    sessions::peer client(all);
    client.send(large_put);
    client.send(std::string(800'000, 'x'));
    all.pass(29s);
    EXPECT_EQ(all.open(), 1u);
    all.pass(1s);
    EXPECT_NE(client.read().find(" 408 "), std::string::npos);
}

TEST(session, a_response_read_in_drips_is_cut_off) {
    sessions all(patient());
    sessions::peer client(all);
    client.send(large_get);
    EXPECT_GE(all.held(), 8u << 20);
    std::size_t seconds = 0;
    for (; all.open() > 0 && seconds < 2000; ++seconds) {
        client.read(10);
        all.pass(1s);
    }
    // The buffers of the kernels extended the deadline at first.
    EXPECT_LT(seconds, 600u);
    EXPECT_EQ(all.probe.timed_out, 1);
    EXPECT_EQ(all.held(), 0u);
}

// Each piece extends the deadline by the time for its own bytes only.
TEST(session, a_response_read_below_the_minimum_rate_is_cut_off) {
    http_options o = patient();
    o.body_rate_min = 10'000;
    sessions all(std::move(o));
    sessions::peer client(all);
    client.send(large_get);
    std::size_t taken = 0;
    for (int i = 0; i < 100 && all.open() > 0; ++i) {
        // More than the buffers of the two kernels: the server has to write for each piece.
        taken += client.read_all(64u << 10).size();
        all.pass(8s);
    }
    EXPECT_EQ(all.open(), 0u);
    EXPECT_LT(taken, 2u << 20);
    EXPECT_EQ(all.probe.timed_out, 1);
}

TEST(session, a_response_read_at_the_minimum_rate_is_sent_to_any_length) {
    sessions all(patient());
    sessions::peer client(all);
    client.send(large_get);
    std::size_t taken = 0;
    for (int i = 0; i < 2000 && all.open() > 0 && taken < (8u << 20); ++i) {
        taken += client.read_all(8u << 10).size();
        all.pass(5s);
    }
    taken += client.read_all(until_the_end).size();
    EXPECT_GT(taken, 8u << 20);
    EXPECT_EQ(all.held(), 0u);
    EXPECT_EQ(all.probe.timed_out, 0);
}

// ---- shutdown ----

// This holds for connections in any state.
TEST(session, connections_without_progress_do_not_delay_a_stop) {
    sessions all(patient());
    std::list<sessions::peer> sleeping;
    for (const std::string_view sent :
         {std::string_view("GET / HT"),
          std::string_view("PUT / HTTP/1.1\r\nHost: h\r\n"
                           "Content-Length: 2000\r\n\r\nab"),
          std::string_view("GET /large HTTP/1.1\r\nHost: h\r\n\r\n"), get_stream}) {
        sleeping.emplace_back(all).send(sent);
    }
    all.say(std::string(8u << 20, 'x'));
    EXPECT_EQ(all.open(), 4u);
    all.stop();
    all.be_silent();
    EXPECT_EQ(all.open(), 4u);
    all.pass(1s);
    EXPECT_EQ(all.open(), 4u);
    all.pass(1001ms);  // they get an error response and time to read it
    all.pass(2001ms);
    EXPECT_EQ(all.open(), 0u);
}

TEST(session, a_request_that_makes_progress_is_completed_after_a_stop) {
    sessions all(patient());
    sessions::peer client(all);
    client.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 9000\r\n\r\n");
    all.stop();
    for (int n = 0; n < 9; ++n) {
        all.pass(1s);
        client.send(std::string(1000, 'x'));
    }
    EXPECT_EQ(client.read().substr(0, 12), "HTTP/1.1 200");
}

// A client in the middle of a sync: its follow-up requests get responses until there are no more.
TEST(session, immediate_follow_up_requests_are_accepted_after_a_stop) {
    sessions all(patient());
    sessions::peer client(all), ended(all), other(all);
    const std::string followed = "GET /followed HTTP/1.1\r\nHost: h\r\n\r\n";
    ended.send(followed);
    all.pass(1s);
    client.send(followed);
    other.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(all.open(), 3u);
    all.stop();
    EXPECT_EQ(all.open(), 1u);
    EXPECT_TRUE(ended.closed());
    EXPECT_TRUE(other.closed());
    client.read();
    for (int n = 0; n < 5; ++n) {
        all.pass(900ms);
        client.send("GET /followed?" + std::to_string(n) + " HTTP/1.1\r\nHost: h\r\n\r\n");
        const std::string answer = client.read();
        EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 200");
        EXPECT_EQ(answer.find("Connection: close"), std::string::npos) << answer;
    }
    all.pass(1001ms);
    EXPECT_EQ(all.open(), 0u);
}

TEST(session, a_client_that_polls_is_closed_when_the_server_stops) {
    sessions all(patient());
    sessions::peer client(all);
    const std::string followed = "GET /followed HTTP/1.1\r\nHost: h\r\n\r\n";
    client.send(followed);
    client.read();
    client.send(followed);
    EXPECT_EQ(client.read().find("Connection: close"), std::string::npos);
    all.stop();
    EXPECT_EQ(all.open(), 1u);
    client.send(followed);
    EXPECT_NE(client.read().find("Connection: close"), std::string::npos);
    EXPECT_EQ(all.open(), 0u);
}

TEST(session, the_one_idle_longest_is_least_needed) {
    sessions all(patient());
    sessions::peer working(all);
    working.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n");
    all.pass(1s);
    sessions::peer sending(all);
    sending.send(large_put);
    EXPECT_EQ(all.state().least_needed(std::nullopt), nullptr);
    all.pass(1s);
    sessions::peer slow(all);
    slow.send("GET / HT");
    all.pass(1s);
    sessions::peer slower(all);
    slower.send("GET / HT");
    EXPECT_EQ(all.state().least_needed(std::nullopt), all.state().sessions[2]);
    all.pass(1s);
    sessions::peer idle(all);
    all.pass(1s);
    sessions::peer fresh(all);
    EXPECT_EQ(all.state().least_needed(std::nullopt), all.state().sessions[4]);
    all.pass(1s);
    idle.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");  // its idle time begins again here
    all.pass(1s);
    EXPECT_EQ(all.state().least_needed(std::nullopt), all.state().sessions[5]);
    all.state().least_needed(std::nullopt)->displace();
    EXPECT_EQ(all.state().least_needed(std::nullopt), all.state().sessions[4]);
    all.settle();
    EXPECT_TRUE(fresh.closed());
    EXPECT_FALSE(idle.closed());
    EXPECT_EQ(all.probe.evicted, 1);
}

}  // namespace
}  // namespace callsign::net
