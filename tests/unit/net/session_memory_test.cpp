// Goal: memory is released as soon as it is not needed: that of a request with its response, and
// the total stays below its limit.

#include "session_fixture.hpp"

#include <gtest/gtest.h>
#include <list>

namespace callsign::net {
namespace {

// ---- memory ----

TEST(session, memory_of_a_request_is_released_with_its_response) {
    sessions all(patient());
    sessions::peer client(all);
    client.send("PUT /hold HTTP/1.1\r\nHost: h\r\nContent-Length: 5000\r\n\r\n" +
                std::string(2000, 'x'));
    EXPECT_EQ(all.held(), 5000u);
    client.send(std::string(3000, 'x'));
    EXPECT_EQ(all.held(), 5000u);  // held by the handler
    all.release();
    EXPECT_EQ(all.held(), 0u);
    EXPECT_NE(client.read().find("5000"), std::string::npos);
    EXPECT_EQ(all.open(), 1u);
}

TEST(session, a_response_holds_memory_until_it_is_written) {
    sessions all(patient());
    sessions::peer client(all);
    client.send(large_get);
    EXPECT_EQ(all.held(), 8u << 20);
    EXPECT_GT(client.read_all(until_the_end).size(), 8u << 20);
    EXPECT_EQ(all.held(), 0u);
}

TEST(session, a_written_response_holds_no_memory_while_its_client_lingers) {
    sessions all(patient());
    sessions::peer client(all);
    client.send("GET /large HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n" +
                std::string(large_get));
    EXPECT_GT(client.read_all(until_the_end).size(), 8u << 20);
    EXPECT_EQ(all.open(), 1u);
    EXPECT_EQ(all.held(), 0u);
}

TEST(session, the_total_of_responses_is_limited) {
    http_options o = patient();
    o.bodies_bytes_max = o.account_bodies_bytes_max = 20u << 20;
    sessions all(std::move(o));
    for (const char* path : {"/large", "/reserve"}) {
        std::list<sessions::peer> clients;
        for (int i = 0; i < 3; ++i) {
            clients.emplace_back(all).send("GET " + std::string(path) +
                                           " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
            EXPECT_LE(all.held(), 20u << 20);
        }
        EXPECT_EQ(all.held(), 16u << 20);
        const std::string third = clients.back().read();
        EXPECT_EQ(third.substr(0, 12), "HTTP/1.1 503");
        EXPECT_NE(third.find("\r\nRetry-After: 1\r\n"), std::string::npos);
        EXPECT_GT(clients.front().read_all(until_the_end).size(), 8u << 20);
        EXPECT_EQ(all.held(), 8u << 20);
        // A small response always succeeds.
        sessions::peer small(all);
        small.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
        EXPECT_EQ(small.read().substr(0, 12), "HTTP/1.1 200");
        clients.clear();
        all.settle();
        EXPECT_EQ(all.held(), 0u);
    }
}

TEST(session, the_total_of_bodies_is_limited) {
    http_options o = patient();
    o.bodies_bytes_max = 300'000;
    sessions all(std::move(o));
    const std::string put = "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 200000\r\n\r\n";
    const std::string in_chunks =
        "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n30d40\r\n";
    const std::string body(200'000, 'b');
    sessions::peer first(all);
    first.send(put);
    EXPECT_LE(all.held(), 16u << 10);  // announced, not yet sent
    first.send(std::string_view(body).substr(0, 150'000));
    EXPECT_EQ(all.held(), 200'000u);
    for (const std::string& head : {put, in_chunks}) {
        sessions::peer other(all);
        other.send(head);
        other.send(body);
        const std::string answer = other.read();
        EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 503");
        EXPECT_NE(answer.find("\r\nRetry-After: 1\r\n"), std::string::npos);
        EXPECT_EQ(all.held(), 200'000u);
    }
    sessions::peer small(all);
    small.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc");
    EXPECT_EQ(small.read().substr(0, 12), "HTTP/1.1 200");
    first.send(std::string_view(body).substr(150'000));
    EXPECT_EQ(first.read().substr(0, 12), "HTTP/1.1 200");
    EXPECT_EQ(all.held(), 0u);
}

TEST(session, a_rejected_body_is_not_held_while_its_client_reads_the_response) {
    http_options o = patient();
    o.body_bytes_max = 50'000;
    sessions all(std::move(o));
    sessions::peer client(all);
    client.send("PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n9c40\r\n" +
                std::string(40'000, 'x') + "\r\n");
    EXPECT_GE(all.held(), 40'000u);
    client.send("9c40\r\n");
    EXPECT_EQ(all.open(), 1u);
    EXPECT_EQ(all.held(), 0u);
}

TEST(session, a_client_that_disconnects_releases_its_memory) {
    sessions all(patient());
    {
        sessions::peer client(all);
        client.send(large_put);
        client.send(std::string(100'000, 'x'));
        EXPECT_GE(all.held(), 100'000u);
    }
    all.settle();
    EXPECT_EQ(all.open(), 0u);
    EXPECT_EQ(all.held(), 0u);
}

// ---- admission of bodies ----

TEST(session, a_body_is_requested_only_once_it_is_admitted) {
    http_hooks hooks;
    std::vector<std::string> asked;
    hooks.admit = [&](http_request head) -> asio::awaitable<admission> {
        asked.push_back(std::string(head.target()) + " " + head.body());
        admission given{.payer = account_id{7}};
        if (head.target() == "/rejected")
            given.rejected = http_response{401, "text/plain", "no", {}};
        co_return given;
    };
    sessions all(patient(), hooks);
    const auto put = [](const std::string& path) {
        return "PUT " + path +
               " HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2000\r\n\r\n";
    };
    sessions::peer rejected(all);
    rejected.send(put("/rejected"));
    EXPECT_EQ(rejected.read().substr(0, 12), "HTTP/1.1 401");
    EXPECT_EQ(all.held(), 0u);
    rejected.send(std::string(2000, 'x'));
    EXPECT_EQ(all.held(), 0u);

    sessions::peer allowed(all);
    allowed.send(put("/hold"));
    EXPECT_EQ(allowed.read(), "HTTP/1.1 100 Continue\r\n\r\n");
    allowed.send(std::string(1000, 'x'));
    EXPECT_EQ(all.bodies()->held_by(account_id{7}), 2000u);
    EXPECT_EQ(all.bodies()->held_by(payer::anonymous()), 0u);
    allowed.send(std::string(1000, 'x'));
    all.release();
    EXPECT_NE(allowed.read().find("2000"), std::string::npos);

    // There is no admission for a body that has already arrived.
    allowed.send("PUT /whole HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab");
    EXPECT_EQ(allowed.read().substr(0, 12), "HTTP/1.1 200");
    allowed.send("GET /none HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(allowed.read().substr(0, 12), "HTTP/1.1 200");
    EXPECT_EQ(asked, (std::vector<std::string>{"/rejected ", "/hold "}));
}

}  // namespace
}  // namespace callsign::net
