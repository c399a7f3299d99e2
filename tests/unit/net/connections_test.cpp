// The limits of connections, and the choice of the connection to evict.

#include "http_fixture.hpp"

#include <gtest/gtest.h>
#include <list>

namespace callsign::net {
namespace {

constexpr std::string_view hold = "GET /hold HTTP/1.1\r\nHost: h\r\n\r\n";

void expect_served(client& c) {
    c.send(get_a);
    EXPECT_EQ(c.read_answer().status(), 200u);
}

void expect_turned_away(client& c) {
    c.send(get_a);
    const answer_text a = c.read_answer();
    EXPECT_EQ(a.status(), 503u);
    EXPECT_EQ(a.body, "too-many-connections");
    EXPECT_TRUE(a.has("Retry-After: 1"));
    EXPECT_EQ(c.read_rest(), "");
}

http_options with_connections(std::size_t all, std::size_t per_address) {
    http_options o;
    o.connections_max = all;
    o.connections_per_address_max = per_address;
    o.trusted_proxies.clear();
    return o;
}

TEST(http_server, the_connection_idle_longest_is_evicted) {
    running_server server(with_connections(2, 2));
    client first(server.endpoint());
    expect_served(first);
    client second(server.endpoint());
    expect_served(second);
    client third(server.endpoint());
    expect_served(third);
    EXPECT_EQ(first.read_rest(), "");
    expect_served(second);
    client fourth(server.endpoint());
    expect_served(fourth);
    EXPECT_EQ(third.read_rest(), "");
    expect_served(second);
    EXPECT_EQ(server.probe.evicted, 2);
    EXPECT_EQ(server.probe.rejected, 0);
}

// This holds for any number of connections that send nothing or half a header.
TEST(http_server, silent_connections_do_not_block_others) {
    running_server server(with_connections(8, 8));
    std::list<client> silent;
    for (int i = 0; i < 30; ++i) {
        client& c = silent.emplace_back(server.endpoint());
        if (i % 2 == 0) c.send("GET / HT");
        server.probe.await(server.probe.opened, i + 1);
    }
    client polite(server.endpoint());
    for (int i = 0; i < 3; ++i) expect_served(polite);
}

TEST(http_server, rejects_connections_when_all_are_at_work) {
    running_server server(with_connections(1, 1));
    client first(server.endpoint());
    first.send(hold);
    server.held.wait(0);
    {
        client second(server.endpoint());
        expect_turned_away(second);
    }
    server.release();
    EXPECT_EQ(first.read_answer().status(), 200u);
    server.probe.await(server.probe.closed, 1);
    expect_served(first);
    EXPECT_EQ(server.probe.rejected, 1);
    EXPECT_EQ(server.probe.evicted, 0);
}

// A rejected connection does not count while its client reads the response.
TEST(http_server, a_rejected_connection_does_not_count) {
    running_server server(with_connections(2, 8));
    client first(server.endpoint());
    first.send(hold);
    server.held.wait(0);
    auto second = std::make_unique<client>(server.endpoint());
    second->send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345");
    server.round_trip();
    client third(server.endpoint());
    expect_turned_away(third);
    client fourth(server.endpoint());
    expect_turned_away(fourth);
    second.reset();
    server.probe.await(server.probe.closed, 1);
    client fifth(server.endpoint());
    expect_served(fifth);
    server.release();
    EXPECT_EQ(first.read_answer().status(), 200u);
}

TEST(http_server, an_address_has_its_share) {
    running_server server(with_connections(100, 2));
    client first(server.endpoint());
    first.send(hold);
    client second(server.endpoint());
    expect_served(second);
    client third(server.endpoint());
    expect_served(third);
    EXPECT_EQ(second.read_rest(), "");  // evicted for its own address, not for another
    third.send(hold);
    for (int held = 0; (held = server.held) < 2;) server.held.wait(held);
    client fourth(server.endpoint());
    expect_turned_away(fourth);
    client other(server.endpoint(), "127.0.0.2");
    expect_served(other);
    server.release();
    EXPECT_EQ(first.read_answer().status(), 200u);
    EXPECT_EQ(third.read_answer().status(), 200u);
}

TEST(http_server, behind_a_trusted_proxy_the_clients_are_counted) {
    http_options o = with_connections(100, 2);
    o.trusted_proxies = loopback_blocks();
    running_server server(o);
    const auto from = [](std::string_view path, std::string_view whom) {
        return "GET " + std::string(path) +
               " HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: " + std::string(whom) + "\r\n\r\n";
    };
    std::list<client> pooled;
    for (int i = 0; i < 5; ++i) expect_served(pooled.emplace_back(server.endpoint()));
    client first(server.endpoint()), second(server.endpoint()), third(server.endpoint());
    first.send(from("/hold", "198.51.100.1, 192.0.2.1"));
    second.send(from("/hold", "198.51.100.2, 192.0.2.1"));
    for (int held = 0; (held = server.held) < 2;) server.held.wait(held);
    third.send(from("/a", "192.0.2.2"));
    EXPECT_EQ(third.read_answer().status(), 200u);
    third.send(from("/a", "198.51.100.3, 192.0.2.1"));
    const answer_text one_too_many = third.read_answer();
    EXPECT_EQ(one_too_many.status(), 503u);
    EXPECT_TRUE(one_too_many.has("Retry-After: 1"));
    server.release();
    EXPECT_EQ(first.read_answer().status(), 200u);
    EXPECT_EQ(second.read_answer().status(), 200u);
    // Each of these clients has one request in progress at a time.
    for (int i = 0; i < 3; ++i) {
        first.send(from("/a", "192.0.2.1"));
        EXPECT_EQ(first.read_answer().status(), 200u);
    }
}

}  // namespace
}  // namespace callsign::net
