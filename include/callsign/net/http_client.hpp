#pragma once
// HTTP/1.1 client: one connection, kept from call to call, unencrypted or with TLS. For the program
// `callsign`, tests and benchmarks, webhooks (outgoing.hpp) and remote servers
// (remote/task_sink.hpp).
//
// A call has one deadline, from connecting to the last byte of the response, and responses are
// limited in size. Interim responses (RFC 9110 section 15.2) are skipped, a limited number of them.
// Failures are values. Nothing is retried: after a failure it is unknown whether the server acted
// on the request, and only the caller knows whether it may be repeated.
//
// One thread at a time, one call at a time. The system's lookup of a host name is not bound by the
// deadline.

#include <callsign/base/time.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace callsign::net {

using http_field_list = std::vector<std::pair<std::string, std::string>>;

struct http_call {
    std::string method = "GET";
    std::string target = "/";
    http_field_list headers{};  // Host and Content-Length are added
    std::string body{};
};

struct http_answer {
    unsigned status = 0;
    http_field_list headers{};
    std::string body{};

    // The first of that name, in any case; empty: none.
    std::string header(std::string_view name) const;
};

// Why there is no response.
struct http_failure {
    boost::system::error_code error{};
    bool sent = false;  // the server may have acted on the request
    // OpenSSL's description of what is wrong with the server's certificate; empty: nothing.
    std::string certificate_error{};

    bool timed_out() const noexcept;
};

using http_outcome = boost::system::result<http_answer, http_failure>;

struct http_client_options {
    std::string host = "127.0.0.1";
    std::string port = "80";
    milliseconds deadline{std::chrono::seconds{30}};
    // A larger body is a failure.
    std::size_t answer_bytes_max = 64u << 20;
    // The header of a 2xx is sufficient: if its body is too large, malformed or late, the response
    // is returned with what was received.
    bool header_suffices = false;
    // Called before more than a small part of a response's body is held, and again as it grows,
    // with the bytes in all. False: the rest is not read, errc::overloaded. Empty: all may be held.
    std::function<bool(std::size_t)> make_room{};
    // Resolved addresses; empty: `host` is looked up.
    std::vector<boost::asio::ip::tcp::endpoint> addresses{};
    // Null: unencrypted. Otherwise the server's certificate must be valid for `host`. Outlives the
    // client.
    boost::asio::ssl::context* tls = nullptr;
    // Skips the verification of the certificate: the server is authenticated otherwise.
    bool unproven = false;
};

// Must outlive its calls.
class http_client {
  public:
    http_client(boost::asio::any_io_executor executor, http_client_options options);
    ~http_client();
    http_client(http_client&&) noexcept;
    http_client& operator=(http_client&&) noexcept;

    // Connects if necessary. After a failure the connection is closed.
    boost::asio::awaitable<http_outcome> exchange(http_call call);

    // The parts of a call, each with a deadline of its own, for callers that send raw bytes.

    // Connects again if connected.
    boost::asio::awaitable<boost::system::error_code> connect();
    // Connects if necessary.
    boost::asio::awaitable<boost::system::error_code> send(std::string bytes);
    // Returns the next response, interim ones included; has_body: false for a response to HEAD.
    // After a failure the connection is closed.
    boost::asio::awaitable<http_outcome> receive(bool has_body = true);
    // Waits until bytes arrive, and keeps them for receive(). After an error the connection is
    // closed; bytes that arrived before are kept.
    boost::asio::awaitable<boost::system::error_code> read_more();

    bool connected() const noexcept;
    // Requires: no call is in progress.
    void close() noexcept;
    // The call in progress and each later one fail; a lookup of a name in progress is not
    // interrupted.
    void cancel() noexcept;
    // The socket, to wait for it by other means. Requires: connected.
    int native_handle();

  private:
    class impl;
    std::unique_ptr<impl> impl_;
};

// The same, blocking the calling thread.
class blocking_http_client {
  public:
    explicit blocking_http_client(http_client_options options);

    http_outcome exchange(http_call call);
    boost::system::error_code connect();
    boost::system::error_code send(std::string bytes);
    http_outcome receive(bool has_body = true);
    boost::system::error_code read_more();

    bool connected() const noexcept { return client_.connected(); }
    void close() noexcept { client_.close(); }
    int native_handle() { return client_.native_handle(); }

  private:
    template <class T>
    T wait_for(boost::asio::awaitable<T> call);

    boost::asio::io_context context_{1};
    http_client client_;
};

}  // namespace callsign::net
