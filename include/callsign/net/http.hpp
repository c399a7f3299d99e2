#pragma once
// HTTP/1.1 mechanics: sockets, keep-alive, limits, deadlines. Knows no route.
//
// Threads: a server and all its sessions live on one executor; the handler runs there.

#include <callsign/base/time.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace callsign::net {

struct http_request : boost::beast::http::request<boost::beast::http::string_body> {
    // Drawn by the server; in the answer's X-Request-Id and in each log line.
    std::string id;
    // Which connection it came on: never 0, never given twice by one server. 0: on none.
    std::uint64_t connection = 0;

    // The target up to '?', as sent (percent-encoded), and after it.
    std::string_view path() const noexcept;
    std::string_view query() const noexcept;
};

struct http_response {
    unsigned status = 200;
    std::string content_type;  // empty: none is sent
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;
};

// Answers every request; must not throw for input.
using http_handler = std::function<boost::asio::awaitable<http_response>(http_request)>;

// What is known of a request when its header is complete.
using http_header = boost::beast::http::request_header<>;

// How large the body of one request may be.
struct body_terms {
    std::size_t bytes_max = 0;
    // What a larger one is answered with; none: a refusal of 413.
    std::optional<http_response> too_large;
};

// What those behind the server want to have a say in, or to be told. All optional.
struct http_hooks {
    // Decides when a request's header is complete; not set: body_bytes_max for all.
    std::function<body_terms(const http_header&)> terms_of;
};

struct http_options {
    // Start line and all header fields together. More: 431.
    std::size_t header_bytes_max = 16u << 10;
    // More: 413. A request whose own terms are wider has a large body when it uses them.
    std::size_t body_bytes_max = 1u << 20;
    // All large bodies together, requests' and answers', while they are under way: what bounds
    // memory. More: 503.
    std::size_t large_bodies_bytes_max = 256u << 20;
    // Connections beyond this are answered 503 and closed.
    std::size_t connections_max = 2048;
    // A kept-alive connection without a request.
    milliseconds idle_timeout{std::chrono::seconds{75}};
    // From a request's first byte to its last header byte (408), from there to its last body byte
    // (408), and for an answer to be taken by the client (closed). The last two are for each
    // body_bytes_max of a body, so that a large one has its time and a stalled one has not.
    milliseconds header_timeout{std::chrono::seconds{10}};
    milliseconds body_timeout{std::chrono::seconds{30}};
    milliseconds write_timeout{std::chrono::seconds{30}};
};

class http_probe {
  public:
    virtual ~http_probe() = default;
    virtual void connection_opened() {}
    virtual void connection_closed() {}
    virtual void connection_refused() {}
    virtual void connection_timed_out() {}
    // Of the request only id, method, target and version: the handler has had the rest. For one
    // that was refused (431, 413, 408, 400) only the id.
    virtual void request_answered(const http_request& /*request*/,
                                  const http_response& /*response*/,
                                  std::chrono::nanoseconds /*took*/) {}
    // An exception that reached a session: it is answered 500 if the handler threw it, and ends
    // that session alone.
    virtual void session_failed(std::string_view /*what*/) {}
};

// Problem documents for what the mechanics refuse by themselves (431, 413, 408, 400, 503).
using http_refusal =
    std::function<http_response(unsigned status, std::string_view code, std::string_view detail)>;

class http_server {
  public:
    // Binds and listens at once; throws boost::system::system_error if it cannot. Port 0 picks one.
    http_server(boost::asio::any_io_executor executor, const boost::asio::ip::tcp::endpoint& listen,
                http_options options, http_handler handler, http_refusal refusal, http_probe& probe,
                http_hooks hooks = {});
    ~http_server();
    http_server(const http_server&) = delete;
    http_server& operator=(const http_server&) = delete;

    boost::asio::ip::tcp::endpoint local_endpoint() const;

    // Accepts until stop(). Spawn once.
    boost::asio::awaitable<void> run();
    // Stops accepting, closes idle connections; those with a request under way are answered
    // ("Connection: close") and then closed.
    void stop();
    // Completes when no session is left, or after `patience`, when what is left is cut off.
    boost::asio::awaitable<void> drained(milliseconds patience);

  private:
    class impl;
    std::shared_ptr<impl>
        impl_;  // shared with the sessions' coroutines, which may outlive a cut-off drain
};

}  // namespace callsign::net
