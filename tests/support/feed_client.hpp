#pragma once
// Followers as clients implement them: by long polls, an event stream or a WebSocket. Each resumes
// from its cursor whatever happens to its connection, and compares every change with the previous
// one.
//
// All run on one io_context.

#include <callsign/net/http_client.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <boost/json/parse.hpp>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace callsign::testing {

struct feed_account {
    std::uint16_t port = 0;
    std::string token;
};

// The changes that one follower received. Each version of its account concerns one task.
struct heard {
    std::string cursor = "0";
    std::int64_t seq = 0;
    std::int64_t changes = 0;
    std::int64_t connections = 0;
    std::string fault{};                                     // the first
    std::function<void(const boost::json::object&)> tell{};  // each change

    void hear(const boost::json::object& change) {
        const std::int64_t next = change.at("seq").as_int64();
        if (next != seq + 1 && fault.empty()) {
            fault = "after " + std::to_string(seq) + " came " + std::to_string(next);
        }
        seq = next;
        cursor = std::string(change.at("cursor").as_string());
        ++changes;
        if (tell) tell(change);
    }
    void reject(std::string why) {
        if (fault.empty()) fault = std::move(why);
    }
};

class feed_client {
  public:
    using tcp = boost::asio::ip::tcp;
    template <class T>
    using awaitable = boost::asio::awaitable<T>;

    // `is_enough`: returns true once the follower has all it wants, or is to stop. `book` must
    // outlive the client.
    feed_client(feed_account account, heard& book, std::function<bool()> is_enough)
        : account_(std::move(account)), book_(book), is_enough_(std::move(is_enough)) {}

    awaitable<void> poll() {
        const auto executor = co_await boost::asio::this_coro::executor;
        net::http_client http(executor, {.port = std::to_string(account_.port)});
        while (!is_enough_()) {
            ++book_.connections;
            net::http_call call;
            call.target = "/v1/changes?wait=5s&limit=500&after=" + book_.cursor;
            call.headers = {{"Authorization", "Bearer " + account_.token}};
            const auto answer = co_await http.exchange(std::move(call));
            if (answer && answer->status == 200) {
                hear_list(answer->body);
            } else {
                if (answer && answer->status != 503) book_.reject(answer->body);
                co_await pause();
            }
        }
    }

    awaitable<void> stream() {
        while (!is_enough_()) {
            co_await stream_once();
            if (!is_enough_()) co_await pause();
        }
    }

    awaitable<void> talk() {
        while (!is_enough_()) {
            co_await talk_once();
            if (!is_enough_()) co_await pause();
        }
    }

    // Cancels its wait.
    void stop() {
        boost::system::error_code ignored;
        if (socket_) socket_->close(ignored);
    }

  private:
    static constexpr auto use_result = boost::asio::as_tuple(boost::asio::use_awaitable);

    void hear_list(const std::string& body) {
        const auto all = boost::json::parse(body).as_object();
        for (const auto& each : all.at("changes").as_array()) book_.hear(each.as_object());
        book_.cursor = std::string(all.at("cursor").as_string());
    }

    static awaitable<void> pause() {
        boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor,
                                        std::chrono::milliseconds(20));
        co_await timer.async_wait(use_result);
    }

    awaitable<bool> connect() {
        ++book_.connections;
        socket_.emplace(co_await boost::asio::this_coro::executor);
        const tcp::endpoint server(boost::asio::ip::make_address("127.0.0.1"), account_.port);
        const auto [error] = co_await socket_->async_connect(server, use_result);
        co_return !error;
    }

    // ---- event stream ----

    awaitable<void> stream_once() {
        const bool connected = co_await connect();
        if (!connected) co_return;
        std::string request =
            "GET /v1/changes/stream HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " +
            account_.token + "\r\nLast-Event-ID: " + book_.cursor +
            "\r\nAccept: text/event-stream\r\n\r\n";
        const auto bytes = boost::asio::buffer(request);
        const auto [error, sent] = co_await boost::asio::async_write(*socket_, bytes, use_result);
        if (error) co_return;
        raw_.clear();
        text_.clear();
        bool has_head = false;
        while (!is_enough_()) {
            char buffer[16384];
            const auto space = boost::asio::buffer(buffer);
            const auto [gone, got] = co_await socket_->async_read_some(space, use_result);
            if (gone) co_return;
            raw_.append(buffer, got);
            if (!has_head) {
                const auto end = raw_.find("\r\n\r\n");
                if (end == std::string::npos) continue;
                const std::string status = raw_.substr(9, 3);
                if (status != "200") {
                    if (status != "503") book_.reject(raw_);
                    co_return;
                }
                raw_.erase(0, end + 4);
                has_head = true;
            }
            while (take_chunk()) {
            }
            while (take_event()) {
            }
        }
    }

    bool take_chunk() {
        const auto line = raw_.find("\r\n");
        if (line == std::string::npos) return false;
        std::size_t size = 0;
        std::from_chars(raw_.data(), raw_.data() + line, size, 16);
        if (raw_.size() < line + 2 + size + 2) return false;
        text_.append(raw_, line + 2, size);
        raw_.erase(0, line + 2 + size + 2);
        return size > 0;
    }

    bool take_event() {
        const auto end = text_.find("\n\n");
        if (end == std::string::npos) return false;
        const std::string event = text_.substr(0, end + 1);
        text_.erase(0, end + 2);
        const auto data = event.find("data: ");
        if (event.find("event: change\n") != std::string::npos) {
            book_.hear(boost::json::parse(event.substr(data + 6)).as_object());
        }
        return true;
    }

    // ---- WebSocket ----

    awaitable<void> talk_once() {
        const bool connected = co_await connect();
        if (!connected) co_return;
        boost::beast::websocket::stream<tcp::socket&, false> ws(*socket_);
        ws.set_option(boost::beast::websocket::stream_base::decorator(
            [&](boost::beast::websocket::request_type& request) {
                request.set(boost::beast::http::field::authorization, "Bearer " + account_.token);
                request.set(boost::beast::http::field::sec_websocket_protocol,
                            "callsign.feed.v1+json");
            }));
        const std::string target = "/v1/changes/socket?after=" + book_.cursor;
        boost::beast::websocket::response_type response;
        const auto [rejected] = co_await ws.async_handshake(response, "h", target, use_result);
        if (rejected) {
            const bool was_answered = rejected == boost::beast::websocket::error::upgrade_declined;
            if (was_answered && response.result_int() != 503) {
                book_.reject("status " + std::to_string(response.result_int()));
            }
            co_return;
        }
        boost::beast::flat_buffer buffer;
        while (!is_enough_()) {
            buffer.clear();
            const auto [gone, got] = co_await ws.async_read(buffer, use_result);
            if (gone) co_return;
            const std::string_view text(static_cast<const char*>(buffer.data().data()),
                                        buffer.size());
            const auto event = boost::json::parse(text).as_object();
            if (const auto* const change = event.if_contains("change")) {
                book_.hear(change->as_object());
            }
        }
    }

    feed_account account_;
    heard& book_;
    std::function<bool()> is_enough_;
    std::optional<tcp::socket> socket_;
    std::string raw_, text_;  // of an event stream, not parsed yet
};

}  // namespace callsign::testing
