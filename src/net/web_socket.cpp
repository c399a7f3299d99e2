// A session's connection as a WebSocket, after its upgrade.

#include "session.hpp"
#include "use_result.hpp"

#include <array>
#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <boost/beast/websocket/teardown.hpp>
#include <sys/socket.h>

namespace callsign::net {
namespace {

namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;

// The connection as Beast's operations see it. Handlers are type-erased: otherwise all of Asio and
// TLS would be compiled for each operation.
class socket_bytes {
  public:
    using executor_type = connection::executor_type;

    explicit socket_bytes(connection& of) : connection_(of) {}

    executor_type get_executor() { return connection_.get_executor(); }

    template <class Buffers, class Token>
    auto async_read_some(const Buffers& buffers, Token&& token) {
        return asio::async_initiate<Token, outcome>(
            [this](auto handler, asio::mutable_buffer into) { read(into, std::move(handler)); },
            token, *asio::buffer_sequence_begin(buffers));
    }

    template <class Buffers, class Token>
    auto async_write_some(const Buffers& buffers, Token&& token) {
        // A frame's header and payload; buffers beyond the array's size are written with the next
        // call.
        const_buffers all;
        auto next = asio::buffer_sequence_begin(buffers);
        const auto end = asio::buffer_sequence_end(buffers);
        for (asio::const_buffer& each : all) {
            if (next != end) each = *next++;
        }
        return asio::async_initiate<Token, outcome>(
            [this](auto handler, const const_buffers& from) { write(from, std::move(handler)); },
            token, all);
    }

    template <class Handler>
    friend void async_teardown(boost::beast::role_type role, socket_bytes& bytes,
                               Handler&& handler) {
        connection& c = bytes.connection_;
        // A client that has taken so little that this does not fit has not received the rest,
        // either.
        const std::string end = c.last_record();
        ::send(c.socket().native_handle(), end.data(), end.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        websocket::async_teardown(role, c.socket(), std::forward<Handler>(handler));
    }
    friend void beast_close_socket(socket_bytes& bytes) {
        boost::system::error_code ignored;
        bytes.connection_.socket().close(ignored);
    }

  private:
    using outcome = void(boost::system::error_code, std::size_t);
    using on_outcome = asio::any_completion_handler<outcome>;
    using const_buffers = std::array<asio::const_buffer, 4>;

    void read(asio::mutable_buffer into, on_outcome handler) {
        connection_.async_read_some(into, std::move(handler));
    }
    void write(const const_buffers& from, on_outcome handler) {
        connection_.async_write_some(from, std::move(handler));
    }

    connection& connection_;
};

// Without compression: its tables would take most of an idle socket's memory.
using ws_stream = websocket::stream<socket_bytes, false>;

// In a frame of its own, so that the header is not kept as long as the socket.
asio::awaitable<bool> accept(ws_stream& ws, http_header header, const http_response& given,
                             const response_frame& frame) {
    namespace http = boost::beast::http;
    ws.set_option(websocket::stream_base::decorator([&](websocket::response_type& response) {
        const auto set = [&](std::string_view name, std::string_view value) {
            response.set({name.data(), name.size()}, {value.data(), value.size()});
        };
        set("Server", "callsign");
        set("X-Request-Id", frame.request_id);
        for (const auto& [name, value] : given.headers) set(name, value);
        for_each_usual_field(given, frame, set);
        const std::string& subprotocol = given.upgrade->subprotocol;
        if (!subprotocol.empty()) set("Sec-WebSocket-Protocol", subprotocol);
    }));
    http::request<http::empty_body> request;
    request.base() = std::move(header);
    const auto [rejected] = co_await ws.async_accept(request, use_result);
    ws.set_option(websocket::stream_base::decorator([](websocket::response_type&) {}));
    co_return !rejected;
}

// Reads until the client closes, and responds to pings. Sets `was_message` if a message arrives,
// which ends the connection, too.
asio::awaitable<void> read_to_end(ws_stream& ws, std::shared_ptr<early_end> end,
                                  bool& was_message) {
    std::array<char, 1> byte{};
    const auto [error, bytes] = co_await ws.async_read_some(asio::buffer(byte), use_result);
    was_message = !error;
    end->come();
}

}  // namespace

class session::beast_socket final : public web_socket {
  public:
    beast_socket(session& of, ws_stream& ws) : session_(of), ws_(ws) {}

    asio::awaitable<bool> send(std::vector<std::string> messages) override {
        if (is_over()) co_return false;
        std::size_t left = 0;
        for (const std::string& each : messages) left += each.size();
        bool sent = session_.has_room_for(left);
        for (std::string& each : messages) {
            if (!sent || is_over()) break;
            sent = co_await write(each);
            left -= each.size();
            each = std::string();
            session_.memory_->resize(left);
        }
        session_.memory_->give_back();
        if (!sent) session_.end_->over = true;
        session_.enter(phase::stream);
        co_return !is_over();
    }
    void close_with(std::uint16_t code) override { code_ = code; }
    bool is_over() const noexcept override { return session_.end_->over; }
    void tell_when_over(std::function<void()> told) override {
        session_.end_->told = std::move(told);
    }

    std::uint16_t code() const noexcept { return code_; }

  private:
    asio::awaitable<bool> write(const std::string& message) {
        session_.enter_write(message.size());
        const auto bytes = asio::buffer(message);
        const auto [error, written] = co_await ws_.async_write(bytes, use_result);
        session_.bytes_out_ += written;
        co_return !error && !session_.expired_;
    }

    session& session_;
    ws_stream& ws_;
    std::uint16_t code_ = websocket::close_code::normal;
};

// True: ended by the client or the writer, without a failure or an eviction.
asio::awaitable<bool> session::talk(http_header header, const http_response& response,
                                    const response_frame& frame) {
    const socket_upgrade& upgrade = *response.upgrade;
    ws_stream ws(connection_);
    // The session's own deadlines apply.
    ws.set_option(websocket::stream_base::timeout{websocket::stream_base::none(),
                                                  websocket::stream_base::none(), false});
    ws.binary(upgrade.binary);
    ws.auto_fragment(false);
    // A client must not send anything before the response.
    if (reader_.has_unread() || evicted_) co_return false;
    reader_.drop_buffer();
    enter(phase::write);
    const bool accepted = co_await accept(ws, std::move(header), response, frame);
    if (!accepted || expired_) co_return false;

    enter(phase::stream);
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer read(executor, asio::steady_timer::time_point::max());
    bool is_reading = true;
    bool was_message = false;
    asio::co_spawn(executor, read_to_end(ws, end_, was_message), [&](const std::exception_ptr&) {
        is_reading = false;
        read.cancel();
    });
    beast_socket socket(*this, ws);
    std::string failure;
    try {
        asio::awaitable<void> talking = upgrade.talk(socket);
        co_await std::move(talking);
    } catch (const std::exception& e) {
        failure = e.what();
    }
    end_->told = {};
    if (!failure.empty()) server_.probe->session_failed(failure);
    if (!end_->over || was_message) {
        // A client that sleeps does not respond, and must not delay a stop.
        enter(phase::linger);
        std::uint16_t code = socket.code();
        if (was_message) code = websocket::close_code::unknown_data;
        if (!failure.empty()) code = websocket::close_code::internal_error;
        co_await ws.async_close(websocket::close_reason(code), use_result);
    }
    cut_off();
    while (is_reading) co_await read.async_wait(use_result);
    co_return failure.empty() && !evicted_;
}

}  // namespace callsign::net
