#pragma once
// The other side of an HTTP/1.1 server: one connection, kept from call to call, plain or with TLS.
// The program `callsign`, the tests and the benchmarks ask servers with it, and webhooks are
// delivered with it (outgoing.hpp).
//
// A call has one deadline, from connecting to the last byte of the answer, and an answer is
// bounded. Interim answers (RFC 9110 section 15.2) are passed over, a bounded number of them. What
// goes wrong is a value. Nothing is asked twice: after a failure nobody knows what became of the
// request, and only the caller knows whether it may be repeated.
//
// One thread at a time, one call at a time. A host that is a name is looked up by the system, in
// the system's own time.

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

    // The first of that name, in any case; empty: there is none.
    std::string header(std::string_view name) const;
};

// Why there is no answer.
struct http_failure {
    boost::system::error_code error{};
    bool sent = false;  // the server may have acted on the request
    // What is wrong with the certificate it showed, in OpenSSL's words; empty: it was not that.
    std::string distrust{};

    bool timed_out() const noexcept;
};

using http_outcome = boost::system::result<http_answer, http_failure>;

struct http_client_options {
    std::string host = "127.0.0.1";
    std::string port = "80";
    milliseconds deadline{std::chrono::seconds{30}};
    // A larger body is a failure.
    std::size_t answer_bytes_max = 64u << 20;
    // What a 2xx says is said by its header: one whose body is too large, broken, or does not come
    // to its end in time is an answer with what there is of it.
    bool header_suffices = false;
    // Whether so many bytes in all may be held of an answer's body: asked before they are, again
    // when more come, and not for small ones. False: the rest is not read, errc::overloaded. Empty:
    // they may.
    std::function<bool(std::size_t)> make_room{};
    // Where it is; empty: `host` is looked up.
    std::vector<boost::asio::ip::tcp::endpoint> addresses{};
    // None: plain. Else the server must prove that it is `host`. Outlives the client.
    boost::asio::ssl::context* tls = nullptr;
    // It need not prove anything: who it is, is known otherwise.
    bool unproven = false;
};

// Must outlive its calls.
class http_client {
  public:
    http_client(boost::asio::any_io_executor executor, http_client_options options);
    ~http_client();
    http_client(http_client&&) noexcept;
    http_client& operator=(http_client&&) noexcept;

    // Connects if need be. After a failure the connection is closed.
    boost::asio::awaitable<http_outcome> exchange(http_call call);

    // The parts of a call, each with a deadline of its own, for those who send what is none.

    // Anew, if it was connected.
    boost::asio::awaitable<boost::system::error_code> connect();
    // Connects if need be.
    boost::asio::awaitable<boost::system::error_code> send(std::string bytes);
    // The next answer, or interim one; without a body, that of a HEAD. After a failure the
    // connection is closed.
    boost::asio::awaitable<http_outcome> receive(bool has_body = true);
    // Waits until something arrives, and keeps it for receive(). After an error the connection is
    // closed; what arrived before is kept.
    boost::asio::awaitable<boost::system::error_code> read_more();

    bool connected() const noexcept;
    // Requires: no call is under way.
    void close() noexcept;
    // The call under way fails, and so does each after it; a name that is being looked up ends in
    // its own time.
    void cancel() noexcept;
    // Of the socket, to wait for it in other ways. Requires: it is connected.
    int native_handle();

  private:
    class impl;
    std::unique_ptr<impl> impl_;
};

// The same for a thread that waits.
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
