#pragma once
// A server on a loopback port with a thread of its own, and a blocking client with a timeout, so
// that an error fails the test instead of blocking it.

#include <callsign/net/http.hpp>

#include <array>
#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>
#include <condition_variable>
#include <future>
#include <gtest/gtest.h>
#include <mutex>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/time.h>
#include <thread>

namespace callsign::net {

namespace asio = boost::asio;
using asio::ip::tcp;

inline constexpr std::string_view get_a = "GET /a?b=c HTTP/1.1\r\nHost: h\r\n\r\n";

// Counts its events; a test waits for a count.
class counting_probe : public http_probe {
  public:
    void connection_opened() override { add(opened); }
    void connection_closed() override { add(closed); }
    void connection_rejected() override { add(rejected); }
    void connection_evicted() override { add(evicted); }
    void connection_timed_out() override { add(timed_out); }
    void session_failed(std::string_view what) override {
        last_failure = what;
        add(failed);
    }
    void request_answered(const http_request& request, const http_response& response,
                          std::chrono::nanoseconds) override {
        last_target = std::string(request.target().data(), request.target().size());
        last_status = response.status;
        add(answered);
    }
    void request_finished(const finished_request& f) override {
        last_finished = {f.status,
                         std::string(f.facts.reason),
                         to_string(f.request.client_address),
                         f.bytes_in,
                         f.bytes_out,
                         f.sent};
        add(finished);
    }

    void await(const int& count, int wanted) {
        std::unique_lock lock(mutex_);
        ASSERT_TRUE(
            changed_.wait_for(lock, std::chrono::seconds(10), [&] { return count >= wanted; }));
    }

    int opened = 0, closed = 0, rejected = 0, evicted = 0, timed_out = 0, failed = 0, answered = 0;
    int finished = 0;
    struct finished_copy {
        unsigned status = 0;
        std::string reason;
        std::string client;
        std::size_t in = 0;
        std::size_t out = 0;
        bool sent = false;
    };
    finished_copy last_finished;
    // Read only after await().
    std::string last_failure, last_target;
    unsigned last_status = 0;

  private:
    void add(int& count) {
        const std::lock_guard lock(mutex_);
        ++count;
        changed_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
};

struct answer_text {
    std::string head;  // with the empty line
    std::string body;
    unsigned status() const { return static_cast<unsigned>(std::stoul(head.substr(9, 3))); }
    bool has(std::string_view line) const {
        return head.find("\r\n" + std::string(line) + "\r\n") != std::string::npos;
    }
    std::string field(const std::string& name) const {
        const std::size_t at = head.find("\r\n" + name + ": ");
        if (at == std::string::npos) return "(none)";
        const std::size_t start = at + name.size() + 4;
        return head.substr(start, head.find("\r\n", start) - start);
    }
};

// Uses a socket of its own instead of net's client, because it sends malformed requests, connects
// from a chosen address, and returns raw responses.
class client {
  public:
    explicit client(const tcp::endpoint& server, const char* from = "127.0.0.1") : socket_(io_) {
        socket_.open(server.protocol());
        socket_.bind({asio::ip::make_address(from), 0});
        socket_.connect(server);
        socket_.set_option(tcp::no_delay(true));
        const timeval timeout{10, 0};
        ::setsockopt(socket_.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    }

    void send(std::string_view bytes) {
        // a server that rejects the request may have closed already
        boost::system::error_code ignored;
        asio::write(socket_, asio::buffer(bytes.data(), bytes.size()), ignored);
    }
    void half_close() { socket_.shutdown(tcp::socket::shutdown_send); }

    answer_text read_answer(bool has_body = true) {
        answer_text out;
        while (buffer_.find("\r\n\r\n") == std::string::npos) {
            if (!read_some()) throw std::runtime_error("closed in a header: " + buffer_);
        }
        out.head = take(buffer_.find("\r\n\r\n") + 4);
        const std::string length = out.field("Content-Length");
        if (!has_body || length == "(none)") return out;
        while (buffer_.size() < std::stoul(length)) {
            if (!read_some()) throw std::runtime_error("closed in a body");
        }
        out.body = take(std::stoul(length));
        return out;
    }

    // All bytes until the server closes the connection.
    std::string read_rest() {
        while (read_some()) {
        }
        return take(buffer_.size());
    }

  private:
    bool read_some() {
        char bytes[16384];
        const ssize_t n = ::recv(socket_.native_handle(), bytes, sizeof bytes, 0);
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            throw std::runtime_error("the server keeps silent");
        }
        if (n <= 0) return false;
        buffer_.append(bytes, static_cast<std::size_t>(n));
        return true;
    }
    std::string take(std::size_t n) {
        std::string out = buffer_.substr(0, n);
        buffer_.erase(0, n);
        return out;
    }

    asio::io_context io_;
    tcp::socket socket_;
    std::string buffer_;
};

// Sends the same response to the first request, and serves no other.
class fixed_answer {
  public:
    enum class end { closes, resets, stays };

    // Writes in pieces of `piece` bytes.
    explicit fixed_answer(std::string text, end how = end::closes,
                          std::size_t piece = std::string::npos)
        : thread_([this, text = std::move(text), how, piece] { serve(text, how, piece); }) {}
    ~fixed_answer() {
        boost::system::error_code ignored;
        tcp::socket last(context_);
        last.connect(at_, ignored);  // without a client: ends the accept that blocks
        last.close(ignored);
        thread_.join();
    }

    std::string port() const { return std::to_string(at_.port()); }

  private:
    void serve(const std::string& text, end how, std::size_t piece) {
        boost::system::error_code ignored;
        tcp::socket socket(context_);
        acceptor_.accept(socket, ignored);
        std::array<char, 4096> asked{};
        socket.read_some(asio::buffer(asked), ignored);
        socket.set_option(tcp::no_delay(true), ignored);
        for (std::size_t at = 0; at < text.size(); at += std::min(piece, text.size() - at)) {
            asio::write(socket, asio::buffer(text.substr(at, piece)), ignored);
        }
        if (how == end::resets) socket.set_option(asio::socket_base::linger(true, 0), ignored);
        // Waits until the client closes.
        while (how == end::stays && !ignored) socket.read_some(asio::buffer(asked), ignored);
        socket.close(ignored);
    }

    asio::io_context context_{1};
    tcp::acceptor acceptor_{context_, {asio::ip::address_v4::loopback(), 0}};
    const tcp::endpoint at_ = acceptor_.local_endpoint();
    std::thread thread_;
};

// Responds with method, path, query and body; "/whose" returns the client's address; "/hold" waits
// for release(), "/throw" throws. "/talk" is a WebSocket that sends hello and then, unless its
// query is "bye", waits for its end; "/shout" sends 64 MiB.
class running_server {
  public:
    explicit running_server(http_options options = {}, http_hooks hooks = {})
        : gate_(io_, asio::steady_timer::time_point::max()),
          server_(
              io_.get_executor(), {asio::ip::make_address("127.0.0.1"), 0}, options,
              [this](http_request request) { return answer(this, std::move(request)); },
              [](const rejected_request& r) {
                  return http_response{
                      r.status, "application/problem+json", std::string(r.code), {}};
              },
              probe, std::move(hooks)) {
        asio::co_spawn(io_, server_.run(), asio::detached);
        thread_ = std::thread([this] { io_.run(); });
    }
    ~running_server() {
        stop();
        drained(milliseconds{0});
        io_.stop();
        thread_.join();
    }

    tcp::endpoint endpoint() const { return endpoint_; }

    void use_certificate(std::shared_ptr<asio::ssl::context> tls) {
        on_its_thread([&] { server_.use_certificate(std::move(tls)); });
    }
    void stop() {
        on_its_thread([this] { server_.stop(); });
    }
    void drained(milliseconds timeout) {
        asio::co_spawn(io_, server_.drained(timeout), asio::use_future).get();
    }
    // Waits until the server has handled all bytes that were sent to it.
    void round_trip() {
        on_its_thread([] {});
        on_its_thread([] {});
    }
    void release() {
        on_its_thread([this] { gate_.expires_at(asio::steady_timer::time_point::min()); });
    }

    counting_probe probe;
    std::atomic<int> held = 0;

  private:
    template <class Action>
    void on_its_thread(Action action) {
        std::promise<void> done;
        asio::post(io_, [&] {
            action();
            done.set_value();
        });
        done.get_future().get();
    }

    static asio::awaitable<http_response> answer(running_server* self, http_request request) {
        if (request.path() == "/throw") throw std::runtime_error("thrown");
        if (request.path() == "/hold") {
            ++self->held;
            self->held.notify_all();
            boost::system::error_code ignored;
            auto waiting =
                self->gate_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
            co_await std::move(waiting);
        }
        http_response out;
        if (request.path() == "/talk" || request.path() == "/shout") {
            std::vector<std::string> words{"hello"};
            if (request.path() == "/shout") words = {std::string(64u << 20, 's')};
            if (request.query() == "more") words.assign(4, std::string(300u << 10, 'm'));
            const bool stays = request.query() != "bye";
            out.status = 101;
            out.upgrade.emplace("words", request.query() == "binary",
                                [words = std::move(words), stays](web_socket& to) {
                                    return talk(words, stays, to);
                                });
            co_return out;
        }
        out.content_type = "text/plain";
        if (request.path() == "/large") {
            out.body.assign(64u << 20, 'l');
            co_return out;
        }
        if (request.path() == "/empty") {
            out.status = 204;
            co_return out;
        }
        if (request.path() == "/whose") {
            out.body = to_string(address_block{request.client_address, 128});
            co_return out;
        }
        if (request.path() == "/size") {
            out.body = std::to_string(request.body().size());
            co_return out;
        }
        out.headers.emplace_back("X-Split", "a\r\nX-Injected: b");
        out.body.append(request.method_string().data(), request.method_string().size());
        out.body.append(" ").append(request.path()).append(" ").append(request.query());
        out.body.append(" ").append(request.body());
        co_return out;
    }

    static asio::awaitable<void> talk(std::vector<std::string> words, bool stays, web_socket& to) {
        auto saying = to.send(std::move(words));
        bool goes_on = co_await std::move(saying);
        asio::steady_timer end(co_await asio::this_coro::executor,
                               asio::steady_timer::time_point::max());
        to.tell_when_over([&] { end.cancel(); });
        while (goes_on && stays && !to.is_over()) {
            boost::system::error_code ignored;
            auto waiting = end.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
            co_await std::move(waiting);
        }
        to.close_with(1001);
    }

    asio::io_context io_{1};
    // After stop() there may be no other work, and drained() is still to run.
    asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
    asio::steady_timer gate_;
    http_server server_;
    const tcp::endpoint endpoint_ = server_.local_endpoint();  // after stop() there is none
    std::thread thread_;
};

}  // namespace callsign::net
