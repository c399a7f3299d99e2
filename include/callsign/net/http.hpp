#pragma once
// HTTP/1.1 mechanics: sockets, keep-alive, limits, deadlines. Knows no route.
//
// Threads: a server and all its sessions live on one executor; the handler runs there.
//
// Memory: every body counts against one budget (body_budget.hpp).

#include <callsign/base/time.hpp>
#include <callsign/net/address.hpp>
#include <callsign/net/body_budget.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
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

// How a request comes to an end from outside: its client goes, or its connection is needed for
// another.
struct early_end {
    bool over = false;
    // Called when that comes to be. Set: nothing is done for the request but to wait.
    std::function<void()> told{};

    void come() {
        over = true;
        if (const auto tell = std::exchange(told, {})) tell();
    }
};

struct http_request : boost::beast::http::request<boost::beast::http::string_body> {
    // Drawn by the server; in the answer's X-Request-Id and in each log line.
    std::string id;
    // Whom it comes from: the peer, or whom a trusted proxy names.
    address_bytes client_address{};
    // Covers this request's body, and what was reserved for its answer. Shared with its session,
    // which may be cut off while a question still runs for the handler. None: of no server.
    std::shared_ptr<body_lease> memory{};
    // Shared with its session. None: of no server.
    std::shared_ptr<early_end> ending{};
    // What those behind the server found out when its header was complete (body_limits::notes).
    std::shared_ptr<const void> notes{};

    // Room for so many bytes more, before a handler loads them for its answer (body_budget.hpp).
    // False: there is none, answer 503. Any thread, one at a time.
    bool reserve(std::size_t bytes) const { return !memory || memory->reserve(bytes); }

    // It asks for a WebSocket, as RFC 6455 has it.
    bool wants_socket() const noexcept;

    // The target up to '?', as sent (percent-encoded), and after it.
    std::string_view path() const noexcept;
    std::string_view query() const noexcept;
};

// For as long as a handler does nothing but wait for what others do: its connection may be had for
// another, and it's told when that comes to be, or when the client has gone. What it answers then
// is sent, if there is anybody left to hear it.
class waiting {
  public:
    waiting(const http_request& request, std::function<void()> told) : end_(request.ending) {
        if (end_ && !end_->over) end_->told = std::move(told);
    }
    ~waiting() {
        if (end_) end_->told = {};
    }
    waiting(const waiting&) = delete;
    waiting& operator=(const waiting&) = delete;

    bool is_over() const noexcept { return end_ && end_->over; }

  private:
    const std::shared_ptr<early_end> end_;
};

// The body of an answer that comes bit by bit, for as long as its writer likes: chunks, one for
// each write, and nothing between them until a client reads too slowly.
class body_stream {
  public:
    virtual ~body_stream() = default;

    // False: it is over, and whoever writes it has to return. Not to be empty.
    virtual boost::asio::awaitable<bool> write(std::string bytes) = 0;
    // The client has gone, or the connection is needed for another.
    virtual bool is_over() const noexcept = 0;
    // Called once when that comes to be while nothing is written.
    virtual void tell_when_over(std::function<void()> told) = 0;
};
// Runs in the session, once the answer's head is written. Must not throw for what a client does.
using body_writer = std::function<boost::asio::awaitable<void>(body_stream&)>;

// The server's end of a WebSocket (RFC 6455). What the client says on it is no more than that it is
// there or goes: a message of its own ends it.
class web_socket {
  public:
    virtual ~web_socket() = default;

    // One message each, which is held until the client has taken it. False: it is over.
    virtual boost::asio::awaitable<bool> send(std::vector<std::string> messages) = 0;
    // The code that it is closed with once its writer returns; 1000 if none is said.
    virtual void close_with(std::uint16_t code) = 0;
    // As of a body_stream.
    virtual bool is_over() const noexcept = 0;
    virtual void tell_when_over(std::function<void()> told) = 0;
};

struct socket_upgrade {
    std::string subprotocol;  // that the client offered; empty: none
    bool binary = false;      // its messages, or else they are text
    std::function<boost::asio::awaitable<void>(web_socket&)> talk;

    socket_upgrade(std::string protocol, bool is_binary,
                   std::function<boost::asio::awaitable<void>(web_socket&)> talker)
        : subprotocol(std::move(protocol)), binary(is_binary), talk(std::move(talker)) {}
};

// What those who answer a request know of it, for logs and metrics; net looks at none of it. Views
// are of static texts.
struct request_facts {
    std::string_view route = "none";  // its pattern: never what was sent
    std::string_view refused{};       // what a refusal is called in the log, if it is told there
    std::string_view reason{};        // why it was not done, in a word
    std::string account{};            // by its name
    std::string caller{};             // the name of a token or a device
};

struct http_response {
    unsigned status = 200;
    std::string content_type;  // empty: none is sent
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers{};
    // In place of `body`. The connection closes behind it.
    body_writer write_body{};
    // In place of all of it, to a request that wants_socket(). The connection closes behind it.
    std::optional<socket_upgrade> upgrade{};
    // Whatever its status, this server has not failed: another one has, that it asks.
    bool is_fault_of_another = false;
    // Clients ask again right behind it, on the same connection, and have lost something if they
    // cannot: a stop of the server leaves them a second for that, unless they ask for the same.
    bool is_followed = false;
    request_facts facts{};
};

// Answers every request; must not throw for input.
using http_handler = std::function<boost::asio::awaitable<http_response>(http_request)>;

// What is known of a request when its header is complete.
using http_header = boost::beast::http::request_header<>;

// How large the body of one request may be.
struct body_limits {
    std::size_t bytes_max = 0;
    // What a larger one is answered with; none: a refusal of 413.
    std::optional<http_response> too_large{};
    // Comes back with the request, so that its header is read once.
    std::shared_ptr<const void> notes{};
};

// Whether a body may come.
struct admission {
    // No: this is the answer, whatever the body is.
    std::optional<http_response> refused{};
    // On whose account it and its answer are held.
    callsign::payer payer = callsign::payer::strangers();
};

// What those behind the server want to have a say in, or to be told. All optional.
struct http_hooks {
    // Asked when a request's header is there and its body still has to come, before any of that is
    // held or asked for: what can be refused is refused now. `head`: the request without its body.
    // Not set: all may come.
    std::function<boost::asio::awaitable<admission>(http_request head)> admit{};
    // Decides when a request's header is complete and it may come; not set: body_bytes_max for all.
    std::function<body_limits(const http_header&)> body_limits_of{};
    // Adds to an answer, whoever made it, what depends on its request alone. Called once for each.
    // The header has what was understood of method, target, version and Origin, and no more.
    std::function<void(const http_header&, http_response&)> complete{};
};

struct http_options {
    // Start line and all header fields together. More: 431.
    std::size_t header_bytes_max = 16u << 10;
    // More: 413. A request's own terms may be wider.
    std::size_t body_bytes_max = 1u << 20;
    // All bodies together, requests' and answers', while they are under way: what bounds memory.
    // More: 503.
    std::size_t bodies_bytes_max = 256u << 20;
    // Of these, one account's part; strangers have one together. More: 503.
    std::size_t account_bodies_bytes_max = 192u << 20;
    // For one more, the connection that has been idle longest is closed. If none is idle, it is one
    // that waits or whose header is on its way: of the account (or of strangers, together) that has
    // most of them, the oldest. When all are at work, the new one is answered 503 and closed.
    std::size_t connections_max = 2048;
    // The same for the connections of one address (address.hpp), and of requests that a trusted
    // proxy passes on for it.
    std::size_t connections_per_address_max = 256;
    // Peers that are not counted themselves: they say in X-Forwarded-For, or else in Forwarded
    // (RFC 7239), whom they ask for. A proxy
    // is most often on the same machine.
    std::vector<address_block> trusted_proxies = loopback_blocks();
    // What it proves itself with (certificate.hpp). None: it speaks in clear.
    std::shared_ptr<boost::asio::ssl::context> tls{};
    // It speaks in clear with a proxy, which speaks TLS with the clients.
    bool behind_tls = false;
    // How long browsers that came by TLS come by nothing else (HSTS, RFC 6797). 0: it isn't said.
    milliseconds hsts_max_age{std::chrono::days{180}};
    // From a connection's beginning to the end of its TLS handshake.
    milliseconds handshake_timeout{std::chrono::seconds{10}};
    // A kept-alive connection without a request.
    milliseconds idle_timeout{std::chrono::seconds{75}};
    // From a request's first byte to its last header byte (408).
    milliseconds header_timeout{std::chrono::seconds{10}};
    // A body must come at this rate at least, and an answer be taken: bytes a second. It may fall
    // behind by the timeout below, and not more (408; an answer's connection is closed).
    std::size_t body_rate_min = 16u << 10;
    milliseconds body_timeout{std::chrono::seconds{30}};
    milliseconds write_timeout{std::chrono::seconds{30}};
};

// A request to its end: answered, and the answer taken, or not.
struct finished_request {
    const http_request& request;  // of it only id, method, version and client_address
    unsigned status = 200;        // 101: it became a WebSocket
    const request_facts& facts;
    bool is_fault_of_another = false;
    std::chrono::nanoseconds took{};  // from its header's end to its answer's, or a stream's
    std::size_t bytes_in = 0;         // of its body
    std::size_t bytes_out = 0;        // of its answer's body
    bool sent = false;                // all of the answer
};

class http_probe {
  public:
    virtual ~http_probe() = default;
    virtual void connection_opened() {}
    virtual void connection_closed() {}
    virtual void connection_refused() {}
    // It was closed to make room for another.
    virtual void connection_displaced() {}
    virtual void connection_timed_out() {}
    // Of the request only id, method, target, version and client_address: the handler has had the
    // rest. For one that was refused (431, 413, 408, 400) no method and target. `took`: from all of
    // the request to the answer.
    virtual void request_answered(const http_request& /*request*/,
                                  const http_response& /*response*/,
                                  std::chrono::nanoseconds /*took*/) {}
    // Later, when the answer was sent, or could not be.
    virtual void request_finished(const finished_request& /*finished*/) {}
    // An exception that reached a session: it is answered 500 if the handler threw it, and ends
    // that session alone.
    virtual void session_failed(std::string_view /*error*/) {}
};

// What the mechanics refuse by themselves: 400, 408, 413, 417, 426, 431, 500, 503.
struct refused_request {
    unsigned status = 400;
    std::string_view code{};
    std::string_view detail{};
    std::string_view request_id{};
};
// Makes its problem document.
using http_refusal = std::function<http_response(const refused_request&)>;

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

    // The bytes of all bodies under way, for those who want to hold some beyond their request.
    const std::shared_ptr<body_budget>& bodies() const noexcept;

    // For connections from here on; those that are there go on as they are. Requires: it had one.
    void use_certificate(std::shared_ptr<boost::asio::ssl::context> tls);
    // Accepts until stop(). Spawn once.
    boost::asio::awaitable<void> run();
    // Stops accepting, closes idle connections; those with a request under way are answered
    // ("Connection: close") and then closed. Clients that move nothing for two seconds are cut off.
    void stop();
    // Completes when no session is left, or after `patience`, when what is left is cut off.
    boost::asio::awaitable<void> drained(milliseconds patience);

  private:
    class impl;
    std::shared_ptr<impl>
        impl_;  // shared with the sessions' coroutines, which may outlive a cut-off drain
};

}  // namespace callsign::net
