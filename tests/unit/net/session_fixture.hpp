#pragma once
// Real sessions on loopback sockets, with a clock of the test: time passes only in pass(), and
// nothing waits for it.

#include "http_fixture.hpp"
#include "net/session.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <netinet/tcp.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <utility>
#include <vector>

namespace callsign::net {

using namespace std::chrono_literals;

// The events of sessions, without threads.
class noting_probe : public http_probe {
  public:
    void connection_timed_out() override { ++timed_out; }
    void connection_evicted() override { ++evicted; }
    void request_finished(const finished_request& f) override {
        finished.push_back({f.status, f.sent, f.bytes_in, f.bytes_out,
                            std::chrono::duration_cast<milliseconds>(f.took)});
    }
    struct end {
        unsigned status;
        bool sent;
        std::size_t in, out;
        milliseconds took;
    };
    std::vector<end> finished;
    int timed_out = 0, evicted = 0;
};

class sessions {
  public:
    explicit sessions(http_options options, http_hooks hooks = {})
        : acceptor_(io_, {asio::ip::make_address("127.0.0.1"), 0}),
          state_{std::move(options), [this](http_request r) { return answer(this, std::move(r)); },
                 [](const rejected_request& r) {
                     return http_response{r.status, "text/plain", std::string(r.code), {}};
                 },
                 &probe, std::move(hooks)} {
        // As small as the clients' (below).
        acceptor_.set_option(asio::socket_base::send_buffer_size(16 << 10));
        state_.now = [this] { return now_; };
        state_.sessions_changed = [](bool) {};
    }

    // The client's end of a new connection.
    class peer {
      public:
        explicit peer(sessions& all) : all_(all), socket_(all.io_) {
            // Small, so that a response does not fit into the buffers of the two kernels.
            socket_.open(tcp::v4());
            socket_.set_option(asio::socket_base::receive_buffer_size(16 << 10));
            socket_.connect(all.acceptor_.local_endpoint());
            socket_.set_option(tcp::no_delay(true));
            all.accept();
            socket_.non_blocking(true);
        }

        void send(std::string_view bytes) {
            while (!bytes.empty()) {
                boost::system::error_code error;
                bytes.remove_prefix(
                    socket_.write_some(asio::buffer(bytes.data(), bytes.size()), error));
                if (error == asio::error::would_block) {
                    all_.settle_soon();
                } else if (error) {
                    return;  // a server that rejects the request may have closed already
                }
            }
            all_.settle();
        }
        // Reads `bytes` bytes, or all until the end.
        std::string read_all(std::size_t bytes) {
            std::string got;
            while (got.size() < bytes && !closed_) {
                got += read(bytes - got.size());
                all_.settle_soon();
            }
            return got;
        }
        // Reads the bytes that have arrived, at most `most`.
        std::string read(std::size_t most = 64u << 20) {
            std::string got;
            char bytes[16384];
            for (;;) {
                boost::system::error_code error;
                const std::size_t n = socket_.read_some(
                    asio::buffer(bytes, std::min(sizeof bytes, most - got.size())), error);
                closed_ =
                    closed_ || error == asio::error::eof || error == asio::error::connection_reset;
                if (error || n == 0) break;
                got.append(bytes, n);
                all_.settle();
            }
            all_.settle();
            return got;
        }
        bool closed() {
            read();
            return closed_;
        }

      private:
        sessions& all_;
        tcp::socket socket_;
        bool closed_ = false;
    };

    // Advances the clock; the server checks its deadlines.
    void pass(milliseconds by) {
        now_ += by;
        const std::vector<session*> all = state_.sessions;
        for (session* s : all) s->check_deadline(now_);
        settle();
    }

    void settle() {
        io_.restart();
        while (io_.poll() > 0) {
        }
    }
    // The kernel may need a moment to deliver data or the end of a connection.
    void settle_soon() {
        io_.restart();
        io_.run_one_for(1ms);
        settle();
    }
    void stop() {
        state_.stopping = true;
        const std::vector<session*> all = state_.sessions;
        for (session* s : all) s->prepare_to_stop();
        settle();
    }
    void release() { gate_.expires_at(asio::steady_timer::time_point::min()), settle(); }

    // For all streamed bodies: the next text, and the end.
    void say(std::string words) {
        said_.push_back(std::move(words));
        more_.cancel();
        settle();
    }
    void be_silent() {
        is_silent_ = true;
        more_.cancel();
        settle();
    }
    int streaming = 0;

    std::size_t open() const { return state_.sessions.size(); }
    std::size_t held() const { return state_.bodies->held(); }
    const std::shared_ptr<body_budget>& bodies() const { return state_.bodies; }
    server_state& state() { return state_; }

    noting_probe probe;

  private:
    void accept() {
        tcp::socket socket = acceptor_.accept();
        socket.set_option(tcp::no_delay(true));
        const int unsent = 16 << 10;
        ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent,
                     sizeof unsent);
        socket.set_option(asio::socket_base::send_buffer_size(16 << 10));
        asio::co_spawn(io_, serve(this, std::move(socket)), asio::detached);
        settle();
    }
    static asio::awaitable<void> serve(sessions* self, tcp::socket socket) {
        session s(self->state_, std::move(socket), {}, std::nullopt);
        co_await s.serve();
    }
    // "/poll" waits, on the account in its query, until its end is requested; "/hold" waits for
    // release(); "/large" returns 8 MiB, and "/reserve" reserves them first; "/followed" announces
    // a follow-up request.
    static asio::awaitable<http_response> answer(sessions* self, http_request request) {
        http_response out;
        if (request.path() == "/hold") {
            boost::system::error_code ignored;
            auto waiting =
                self->gate_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
            co_await std::move(waiting);
        }
        if (request.path() == "/poll") {
            request.memory->pays(account_id{std::stoi(std::string(request.query()))});
            asio::steady_timer end(self->io_, asio::steady_timer::time_point::max());
            const waiting here(request, [&] { end.cancel(); });
            boost::system::error_code ignored;
            auto over = end.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
            if (!here.is_over()) co_await std::move(over);
        }
        if (request.path() == "/stream") {
            out.write_body = [self](body_stream& to) { return stream(self, to); };
            co_return out;
        }
        if (request.path() == "/reserve" && !request.reserve(8u << 20)) {
            out.status = 503;
            co_return out;
        }
        if (request.path() == "/large" || request.path() == "/reserve") {
            out.body.assign(8u << 20, 'l');
        } else {
            out.body = std::to_string(request.body().size());
        }
        out.is_followed = request.path() == "/followed";
        co_return out;
    }

    static asio::awaitable<void> stream(sessions* self, body_stream& out) {
        ++self->streaming;
        out.tell_when_over([self] { self->more_.cancel(); });
        std::size_t next = 0;
        while (!out.is_over()) {
            if (next < self->said_.size()) {
                auto writing = out.write(self->said_[next++]);
                const bool goes_on = co_await std::move(writing);
                if (!goes_on) break;
                continue;
            }
            if (self->is_silent_) break;
            boost::system::error_code ignored;
            auto waiting =
                self->more_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
            co_await std::move(waiting);
        }
        --self->streaming;
    }

    struct droppable : asio::io_context {
        using asio::io_context::shutdown;
        ~droppable() { shutdown(); }
    };

    session::steady::time_point now_{24h};
    droppable io_;
    tcp::acceptor acceptor_;
    asio::steady_timer gate_{io_, asio::steady_timer::time_point::max()};
    asio::steady_timer more_{io_, asio::steady_timer::time_point::max()};
    std::vector<std::string> said_;
    bool is_silent_ = false;
    server_state state_;

  public:
    ~sessions() { io_.shutdown(); }
};

inline http_options patient() {
    http_options o;
    o.idle_timeout = 75s;
    o.header_timeout = 10s;
    o.body_timeout = 30s;
    o.write_timeout = 30s;
    o.body_rate_min = 1000;
    return o;
}

inline constexpr std::string_view large_put =
    "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 900000\r\n\r\n";

inline constexpr std::string_view large_get =
    "GET /large HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
inline constexpr std::size_t until_the_end = std::size_t{1} << 40;

inline constexpr std::string_view get_stream = "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n";

}  // namespace callsign::net
