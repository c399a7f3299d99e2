// A connection that becomes a WebSocket: the handshake, the messages, and each way to end it.

#include "http_fixture.hpp"

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>

namespace callsign::net {
namespace {

namespace websocket = boost::beast::websocket;
using namespace std::chrono_literals;

class socket_client {
  public:
    socket_client(const running_server& s, const std::string& target) : ws_(io_) {
        tcp::socket& socket = ws_.next_layer();
        socket.connect(s.endpoint());
        const timeval timeout{10, 0};
        ::setsockopt(socket.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
        ws_.handshake(response, "h", target, error);
    }

    std::string read() {
        boost::beast::flat_buffer buffer;
        ws_.read(buffer, error);
        return {static_cast<const char*>(buffer.data().data()), buffer.size()};
    }

    websocket::stream<tcp::socket>& ws() { return ws_; }

    boost::system::error_code error;
    websocket::response_type response;

  private:
    asio::io_context io_;
    websocket::stream<tcp::socket> ws_;
};

TEST(web_socket, sends_its_messages_and_the_reason_of_its_end) {
    running_server s;
    socket_client client(s, "/talk?bye");
    ASSERT_FALSE(client.error) << client.error.message();
    EXPECT_EQ(client.response["Sec-WebSocket-Protocol"], "words");
    EXPECT_EQ(client.response["Server"], "callsign");
    EXPECT_NE(client.response["X-Request-Id"], "");
    EXPECT_EQ(client.read(), "hello");
    EXPECT_TRUE(client.ws().got_text());
    client.read();
    EXPECT_EQ(client.error, websocket::error::closed);
    EXPECT_EQ(client.ws().reason().code, 1001);
    s.probe.await(s.probe.closed, 1);
    EXPECT_EQ(s.probe.last_status, 101u);
    EXPECT_EQ(s.probe.finished, 1);
    EXPECT_EQ(s.probe.last_finished.status, 101u);
    EXPECT_EQ(s.probe.last_finished.out, 5u);
    EXPECT_TRUE(s.probe.last_finished.sent);
}

TEST(web_socket, one_that_a_sleeping_client_does_not_close_is_closed_anyway) {
    running_server s;
    socket_client client(s, "/talk?bye");
    EXPECT_EQ(client.read(), "hello");
    s.probe.await(s.probe.closed, 1);
    EXPECT_TRUE(s.probe.last_finished.sent);
}

TEST(web_socket, its_messages_are_binary_if_so_agreed) {
    running_server s;
    socket_client client(s, "/talk?binary");
    EXPECT_EQ(client.read(), "hello");
    EXPECT_TRUE(client.ws().got_binary());
}

TEST(web_socket, a_close_frame_of_the_client_gets_a_response) {
    running_server s;
    socket_client client(s, "/talk");
    EXPECT_EQ(client.read(), "hello");
    client.ws().close(websocket::close_code::normal, client.error);
    EXPECT_FALSE(client.error) << client.error.message();
    s.probe.await(s.probe.closed, 1);
}

TEST(web_socket, a_client_that_disconnects_without_a_close_frame_is_noticed) {
    running_server s;
    {
        socket_client client(s, "/talk");
        EXPECT_EQ(client.read(), "hello");
    }
    s.probe.await(s.probe.closed, 1);
}

TEST(web_socket, a_ping_gets_a_pong_and_a_message_ends_it) {
    running_server s;
    socket_client client(s, "/talk");
    EXPECT_EQ(client.read(), "hello");
    bool answered = false;
    client.ws().control_callback([&](websocket::frame_type kind, boost::beast::string_view) {
        answered = answered || kind == websocket::frame_type::pong;
    });
    client.ws().ping({}, client.error);
    EXPECT_EQ(s.probe.closed, 0);
    client.ws().write(asio::buffer("listen", 6), client.error);
    client.read();
    EXPECT_EQ(client.error, websocket::error::closed);
    EXPECT_EQ(client.ws().reason().code, websocket::close_code::unknown_data);
    EXPECT_TRUE(answered);
    s.probe.await(s.probe.closed, 1);
}

TEST(web_socket, an_invalid_frame_ends_it) {
    running_server s;
    std::optional<client> c(std::in_place, s.endpoint());
    c->send(
        "GET /talk HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n");
    EXPECT_EQ(c->read_answer(false).status(), 101u);
    c->send(std::string(1000, '\xFF'));
    c->read_rest();
    c.reset();
    s.probe.await(s.probe.closed, 1);
}

TEST(web_socket, a_request_without_an_upgrade_is_rejected) {
    running_server s;
    client c(s.endpoint());
    c.send("GET /talk HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(c.read_answer().status(), 426u);
    // The Upgrade fields without the other required ones.
    c.send("GET /talk HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    EXPECT_EQ(c.read_answer().status(), 400u);
    s.probe.await(s.probe.closed, 1);
}

TEST(web_socket, is_read_in_pieces_as_in_one) {
    running_server s;
    std::optional<client> c(std::in_place, s.endpoint());
    const std::string request =
        "GET /talk?bye HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
    for (const char byte : request) {
        c->send({&byte, 1});
        s.round_trip();
    }
    EXPECT_EQ(c->read_answer(false).status(), 101u);
    const std::string close{'\x88', '\x82', 0, 0, 0, 0, '\x03', '\xE9'};
    for (const char byte : close) c->send({&byte, 1});
    EXPECT_EQ(c->read_rest(),
              std::string({'\x81', 5}) + "hello" + std::string({'\x88', 2, 3, '\xE9'}));
    c.reset();
    s.probe.await(s.probe.closed, 1);
}

TEST(web_socket, a_client_that_does_not_read_is_cut_off) {
    http_options o;
    o.write_timeout = 100ms;
    o.body_rate_min = 1u << 30;
    running_server s(o);
    socket_client client(s, "/shout");
    ASSERT_FALSE(client.error);
    s.probe.await(s.probe.closed, 1);
    EXPECT_EQ(s.probe.timed_out, 1);
}

TEST(web_socket, is_within_the_budget_of_bodies) {
    http_options o;
    o.bodies_bytes_max = 1u << 20;
    running_server s(o);
    socket_client client(s, "/shout");
    ASSERT_FALSE(client.error);
    EXPECT_EQ(client.read(), "");
    EXPECT_TRUE(client.error);
    s.probe.await(s.probe.closed, 1);
}

// A message holds memory until its client has read it.
TEST(web_socket, messages_that_wait_are_within_the_budget_too) {
    for (const std::size_t room : {std::size_t{1} << 20, std::size_t{2} << 20}) {
        http_options o;
        o.bodies_bytes_max = room;
        running_server s(o);
        socket_client client(s, "/talk?more");
        ASSERT_FALSE(client.error);
        const bool fits = room > 4u * (300u << 10);
        for (int n = 0; n < 4; ++n) EXPECT_EQ(client.read().size(), fits ? 300u << 10 : 0u);
        EXPECT_EQ(client.error.failed(), !fits);
    }
}

TEST(web_socket, drain_cuts_it_off_after_its_timeout) {
    running_server s;
    socket_client client(s, "/talk");
    EXPECT_EQ(client.read(), "hello");
    s.stop();
    s.drained(milliseconds{10});
    client.read();
    EXPECT_TRUE(client.error);
    s.probe.await(s.probe.closed, 1);
}

}  // namespace
}  // namespace callsign::net
