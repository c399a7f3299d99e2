#include "http_fixture.hpp"

#include <callsign/base/errc.hpp>
#include <callsign/net/http_client.hpp>

#include <algorithm>
#include <gmock/gmock.h>

namespace callsign::net {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

http_client_options options_for(const running_server& server, milliseconds deadline = 10s) {
    return {"127.0.0.1", std::to_string(server.endpoint().port()), deadline};
}

TEST(http_client, keeps_its_connection) {
    running_server server;
    blocking_http_client client(options_for(server));
    for (int i = 0; i < 3; ++i) {
        const auto answer = client.exchange({"PUT", "/p?q", {{"X-A", "a"}}, "body"});
        ASSERT_TRUE(answer) << answer.error().error.message();
        EXPECT_EQ(answer->status, 200u);
        EXPECT_EQ(answer->body, "PUT /p q body");
        EXPECT_EQ(answer->header("content-TYPE"), "text/plain");
        EXPECT_EQ(answer->header("X-None"), "");
    }
    server.probe.await(server.probe.answered, 3);
    EXPECT_EQ(server.probe.opened, 1);
}

TEST(http_client, handles_responses_without_a_body) {
    running_server server;
    blocking_http_client client(options_for(server));
    const auto head = client.exchange({"HEAD", "/a"});
    ASSERT_TRUE(head);
    EXPECT_EQ(head->body, "");
    EXPECT_EQ(client.exchange({"GET", "/empty"})->status, 204u);
    EXPECT_EQ(client.exchange({"GET", "/a"})->body, "GET /a  ");
    server.probe.await(server.probe.answered, 3);
    EXPECT_EQ(server.probe.opened, 1);
}

TEST(http_client, connects_again_when_the_server_has_closed) {
    running_server server;
    blocking_http_client client(options_for(server));
    EXPECT_TRUE(client.exchange({"GET", "/a", {{"Connection", "close"}}}));
    EXPECT_FALSE(client.connected());
    EXPECT_TRUE(client.exchange({"GET", "/a"}));
    EXPECT_TRUE(client.connected());
    server.probe.await(server.probe.answered, 2);
    EXPECT_EQ(server.probe.opened, 2);
}

TEST(http_client, nothing_was_sent_when_the_connection_was_refused) {
    asio::io_context context;
    tcp::acceptor gone(context, {asio::ip::address_v4::loopback(), 0});
    const std::string port = std::to_string(gone.local_endpoint().port());
    gone.close();
    blocking_http_client client({"127.0.0.1", port, 10s});
    const auto outcome = client.exchange({"GET", "/"});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().error, asio::error::connection_refused);
    EXPECT_FALSE(outcome.error().sent);
    EXPECT_FALSE(client.connected());
}

TEST(http_client, waits_until_its_deadline) {
    running_server server;
    blocking_http_client client(options_for(server, 100ms));
    const auto outcome = client.exchange({"GET", "/hold"});
    ASSERT_FALSE(outcome);
    EXPECT_TRUE(outcome.error().timed_out());
    EXPECT_TRUE(outcome.error().sent);
    EXPECT_FALSE(client.connected());
    // The next call uses a new connection.
    EXPECT_TRUE(client.exchange({"GET", "/a"}));
}

// The thread runs again only after the deadline; the response had arrived before.
TEST(http_client, a_response_that_arrived_in_time_is_not_a_timeout) {
    running_server server;
    asio::io_context context;
    http_client client(context.get_executor(), options_for(server, 1s));
    auto outcome = asio::co_spawn(context, client.exchange({"GET", "/hold"}), asio::use_future);
    while (server.held == 0) context.poll();
    server.release();
    server.probe.await(server.probe.answered, 1);
    std::this_thread::sleep_for(1100ms);
    context.run();
    const http_outcome answer = outcome.get();
    ASSERT_TRUE(answer) << answer.error().error.message();
    EXPECT_EQ(answer->body, "GET /hold  ");
}

TEST(http_client, a_response_is_limited) {
    running_server server;
    http_client_options options = options_for(server);
    options.answer_bytes_max = 1000;
    blocking_http_client client(options);
    const auto outcome = client.exchange({"GET", "/large"});
    ASSERT_FALSE(outcome);
    EXPECT_THAT(outcome.error().error.message(), HasSubstr("body limit"));
    EXPECT_FALSE(client.connected());
}

// Memory is reserved before it is read; a small response needs no reservation.
TEST(http_client, memory_is_reserved_as_a_response_arrives) {
    running_server server;
    std::vector<std::size_t> asked;
    http_client_options options = options_for(server);
    std::size_t most = 64u << 20;
    options.make_room = [&](std::size_t bytes) {
        asked.push_back(bytes);
        return bytes <= most;
    };
    blocking_http_client client(options);
    EXPECT_TRUE(client.exchange({"GET", "/a"}));
    EXPECT_TRUE(asked.empty());
    const auto whole = client.exchange({"GET", "/large"});
    ASSERT_TRUE(whole) << whole.error().error.message();
    ASSERT_FALSE(asked.empty());
    EXPECT_TRUE(std::is_sorted(asked.begin(), asked.end()));
    EXPECT_GE(asked.back(), whole->body.size());
    EXPECT_LE(asked.back(), 4 * whole->body.size());
    most = asked.back() - 1;
    const auto rejected = client.exchange({"GET", "/large"});
    ASSERT_FALSE(rejected);
    EXPECT_EQ(rejected.error().error, errc::overloaded);
    EXPECT_TRUE(rejected.error().sent);
    EXPECT_FALSE(client.connected());
}

TEST(http_client, sends_raw_bytes_and_keeps_the_response) {
    running_server server;
    blocking_http_client client(options_for(server));
    EXPECT_FALSE(client.send("GET /a HTTP/1.1\r\nHost: h\r\n"));
    EXPECT_FALSE(client.send("Connection: close\r\n\r\n"));
    while (!client.read_more()) {
    }
    EXPECT_FALSE(client.connected());
    const auto answer = client.receive();
    ASSERT_TRUE(answer) << answer.error().error.message();
    EXPECT_EQ(answer->body, "GET /a  ");
}

// Delimited by its length, by chunks or by the end of the connection.
const std::string answers_hello[] = {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
                                     "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
                                     "chunked\r\n\r\n2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nX: y\r\n\r\n",
                                     "HTTP/1.1 200 OK\r\n\r\nhello"};

TEST(http_client, a_response_is_the_same_in_any_pieces) {
    for (const std::string& text : answers_hello) {
        for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, text.size()}) {
            for (const bool makes_room : {false, true}) {
                fixed_answer server(text, fixed_answer::end::closes, piece);
                http_client_options options{"127.0.0.1", server.port(), 10s};
                if (makes_room) options.make_room = [](std::size_t) { return true; };
                blocking_http_client client(options);
                const auto answer = client.exchange({"GET", "/"});
                ASSERT_TRUE(answer) << text << answer.error().error.message();
                EXPECT_EQ(answer->status, 200u) << text;
                EXPECT_EQ(answer->body, "hello") << text;
            }
        }
    }
}

TEST(http_client, a_truncated_response_is_an_error) {
    const std::string first = "HTTP/1.1 200 OK\r\n\r\n";
    for (const std::string& text : answers_hello) {
        // A response that ends with the connection is complete anywhere after its header.
        const std::size_t whole = text.starts_with(first) ? first.size() : text.size();
        for (std::size_t size = 0; size < whole; ++size) {
            fixed_answer server(text.substr(0, size));
            blocking_http_client client({"127.0.0.1", server.port(), 10s});
            const auto outcome = client.exchange({"GET", "/"});
            ASSERT_FALSE(outcome) << text.substr(0, size);
            using why = boost::beast::http::error;
            EXPECT_EQ(outcome.error().error, size == 0 ? why::end_of_stream : why::partial_message)
                << text.substr(0, size);
            EXPECT_TRUE(outcome.error().sent);
            EXPECT_FALSE(client.connected());
        }
    }
}

TEST(http_client, skips_interim_responses) {
    const std::string last = "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok";
    const std::string hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    std::string hundred;
    for (int i = 0; i < 100; ++i) hundred += hints;
    for (const std::string& before :
         {std::string("HTTP/1.1 100 Continue\r\n\r\n"), std::string("HTTP/1.1 102 \r\n\r\n"), hints,
          std::string("HTTP/1.1 199 \r\nContent-Length: 5\r\n\r\n"), hundred}) {
        fixed_answer server(before + last);
        blocking_http_client client({"127.0.0.1", server.port(), 10s});
        const auto answer = client.exchange({"POST", "/", {}, "body"});
        ASSERT_TRUE(answer) << answer.error().error.message();
        EXPECT_EQ(answer->status, 201u);
        EXPECT_EQ(answer->body, "ok");
        EXPECT_EQ(answer->header("Link"), "");
    }
    fixed_answer endless(hundred + hints + last);
    blocking_http_client client({"127.0.0.1", endless.port(), 10s});
    EXPECT_FALSE(client.exchange({"GET", "/"}));
    EXPECT_FALSE(client.connected());
}

// The call may not have begun, or wait for the name, the connection or the response.
TEST(http_client, a_cancelled_call_ends) {
    running_server server;
    for (const std::string host : {"127.0.0.1", "localhost"}) {
        for (int step = 0; step < 6; ++step) {
            auto options = options_for(server);
            options.host = host;
            asio::io_context context{1};
            http_client client(context.get_executor(), options);
            auto outcome =
                asio::co_spawn(context, client.exchange({"GET", "/hold"}), asio::use_future);
            for (int n = 0; n < step; ++n) context.run_one_for(10ms);
            client.cancel();
            context.run();
            const auto ended = outcome.get();
            ASSERT_FALSE(ended) << host << " " << step;
            EXPECT_FALSE(ended.error().timed_out()) << host << " " << step;
        }
    }
}

// A caller that retries after a failure also gets an error.
TEST(http_client, nothing_is_sent_once_it_is_cancelled) {
    running_server server;
    asio::io_context context{1};
    http_client client(context.get_executor(), options_for(server));
    const auto exchange = [&](const char* target) {
        auto outcome = asio::co_spawn(context, client.exchange({"GET", target}), asio::use_future);
        context.restart();
        context.run();
        return outcome.get();
    };
    ASSERT_TRUE(exchange("/"));
    ASSERT_TRUE(client.connected());
    client.cancel();
    const auto later = exchange("/");
    ASSERT_FALSE(later);
    EXPECT_EQ(later.error().error, asio::error::operation_aborted);
    EXPECT_FALSE(later.error().sent);
}

TEST(http_client, many_at_a_time_on_one_thread) {
    running_server server;
    asio::io_context context;
    std::vector<http_client> clients;
    std::vector<std::future<http_outcome>> outcomes;
    for (int i = 0; i < 20; ++i) {
        clients.emplace_back(context.get_executor(), options_for(server));
        outcomes.push_back(
            asio::co_spawn(context, clients.back().exchange({"GET", "/hold"}), asio::use_future));
    }
    while (server.held < 20) context.poll();
    server.release();
    context.run();
    for (auto& outcome : outcomes) EXPECT_TRUE(outcome.get());
}

}  // namespace
}  // namespace callsign::net
