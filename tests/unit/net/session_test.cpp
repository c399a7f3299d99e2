// Goal: nobody holds a connection or memory for longer than he may, by whatever small steps he goes
// on. Method: real sessions on loopback sockets, whose time is the test's: it passes between two
// bytes, as much as is said, and nothing waits for it.

#include "net/session.hpp"

#include "http_fixture.hpp"

#include <list>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace callsign::net {
namespace {

using namespace std::chrono_literals;

// What a session tells, here without threads.
class noting_probe : public http_probe {
  public:
    void connection_timed_out() override { ++timed_out; }
    void connection_displaced() override { ++displaced; }
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
    int timed_out = 0, displaced = 0;
};

class sessions {
  public:
    explicit sessions(http_options options, http_hooks hooks = {})
        : acceptor_(io_, {asio::ip::make_address("127.0.0.1"), 0}),
          state_{std::move(options), [this](http_request r) { return answer(this, std::move(r)); },
                 [](const refused_request& r) {
                     return http_response{r.status, "text/plain", std::string(r.code), {}};
                 },
                 &probe, std::move(hooks)} {
        // Small, as the clients' (below).
        acceptor_.set_option(asio::socket_base::send_buffer_size(16 << 10));
        state_.now = [this] { return now_; };
        state_.sessions_changed = [](bool) {};
    }

    // The client's end of a new connection.
    class peer {
      public:
        explicit peer(sessions& all) : all_(all), socket_(all.io_) {
            // Small, so that an answer does not fit into what the two kernels hold.
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
                    return;  // a server that refuses may be gone already
                }
            }
            all_.settle();
        }
        // As much as that, or all there is before the end.
        std::string read_all(std::size_t bytes) {
            std::string got;
            while (got.size() < bytes && !closed_) {
                got += read(bytes - got.size());
                all_.settle_soon();
            }
            return got;
        }
        // What has come, at most `most`.
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

    // Time passes, and the server looks at its deadlines.
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
    // The kernel may need a moment to pass on what does not fit.
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

    // Of all bodies that are streamed: the next words, and the end.
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
    // "/poll" waits, on the account in its query, until it is told to end; "/hold" for release();
    // "/large" has 8 MiB, for which "/reserve" asks before; behind "/followed" there is another.
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

http_options patient() {
    http_options o;
    o.idle_timeout = 75s;
    o.header_timeout = 10s;
    o.body_timeout = 30s;
    o.write_timeout = 30s;
    o.body_rate_min = 1000;
    return o;
}

// Sends `step` every `every` until the server has had enough; how long that took, at most `limit`.
milliseconds drip(sessions& all, sessions::peer& client, std::string_view step, milliseconds every,
                  milliseconds limit) {
    milliseconds took{0};
    while (took < limit && all.open() > 0 && !client.closed()) {
        client.send(step);
        all.pass(every);
        took += every;
    }
    return took;
}

// ---- drips ----

TEST(session, a_header_that_drips_has_one_deadline) {
    sessions all(patient());
    sessions::peer client(all);
    client.send("GET / HTTP/1.1\r\nHost: h\r\nA: ");
    EXPECT_EQ(drip(all, client, "x", 1s, 100s), 10s);
    EXPECT_EQ(all.probe.timed_out, 1);
}

TEST(session, a_header_in_many_lines_has_one_deadline_too) {
    sessions all(patient());
    sessions::peer client(all);
    client.send("GET / HTTP/1.1\r\nHost: h\r\n");
    EXPECT_EQ(drip(all, client, "A: b\r\n", 3s, 100s), 12s);
}

TEST(session, empty_lines_do_not_keep_an_idle_connection) {
    sessions all(patient());
    sessions::peer client(all);
    EXPECT_EQ(drip(all, client, "\r\n", 5s, 500s), 75s);
    EXPECT_EQ(all.probe.timed_out, 0);
}

constexpr std::string_view large_put =
    "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 900000\r\n\r\n";

TEST(session, a_body_that_drips_is_cut_off) {
    sessions all(patient());
    sessions::peer client(all);
    client.send(large_put);
    EXPECT_EQ(drip(all, client, "x", 1s, 1000s), 31s);  // its bytes have bought 31 ms
    EXPECT_EQ(all.probe.timed_out, 1);
    EXPECT_EQ(all.held(), 0u);
    EXPECT_EQ(client.read(), "");
}

// Its chunks' headers buy nothing.
TEST(session, a_body_that_drips_in_chunks_is_cut_off) {
    sessions all(patient());
    sessions::peer client(all);
    client.send("PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
    EXPECT_EQ(drip(all, client, "1;" + std::string(900, 'x') + "\r\na\r\n", 1s, 1000s), 31s);
    EXPECT_EQ(all.held(), 0u);
}

TEST(session, a_trailer_that_drips_is_cut_off) {
    sessions all(patient());
    sessions::peer client(all);
    client.send("PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n");
    EXPECT_EQ(drip(all, client, "A: b\r\n", 1s, 1000s), 30s);
}

TEST(session, a_body_below_the_least_rate_falls_behind_until_it_is_cut_off) {
    sessions all(patient());
    sessions::peer client(all);
    client.send(large_put);
    // Half a second behind with each: the grace is used up after twice as long.
    EXPECT_EQ(drip(all, client, std::string(500, 'x'), 1s, 1000s), 59s);
}

TEST(session, a_body_at_the_least_rate_is_taken_however_long_it_is) {
    sessions all(patient());
    sessions::peer client(all);
    client.send(large_put);
    EXPECT_EQ(drip(all, client, std::string(1000, 'x'), 1s, 899s), 899s);
    client.send(std::string(1000, 'x'));
    EXPECT_NE(client.read().find("900000"), std::string::npos);
    EXPECT_EQ(all.open(), 1u);
}

TEST(session, a_fast_beginning_does_not_pay_for_a_long_stall) {
    sessions all(patient());
    sessions::peer client(all);
    client.send(large_put);
    client.send(std::string(800'000, 'x'));
    all.pass(29s);
    EXPECT_EQ(all.open(), 1u);
    all.pass(1s);
    EXPECT_NE(client.read().find(" 408 "), std::string::npos);
}

constexpr std::string_view large_get =
    "GET /large HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
constexpr std::size_t until_the_end = std::size_t{1} << 40;

TEST(session, an_answer_taken_in_drips_is_cut_off) {
    sessions all(patient());
    sessions::peer client(all);
    client.send(large_get);
    EXPECT_GE(all.held(), 8u << 20);
    std::size_t seconds = 0;
    for (; all.open() > 0 && seconds < 2000; ++seconds) {
        client.read(10);
        all.pass(1s);
    }
    // The kernels' buffers bought some time at first.
    EXPECT_LT(seconds, 600u);
    EXPECT_EQ(all.probe.timed_out, 1);
    EXPECT_EQ(all.held(), 0u);
}

// Each piece buys the time of its own bytes, and no more.
TEST(session, an_answer_taken_below_the_least_rate_is_cut_off) {
    http_options o = patient();
    o.body_rate_min = 10'000;
    sessions all(std::move(o));
    sessions::peer client(all);
    client.send(large_get);
    std::size_t taken = 0;
    for (int i = 0; i < 100 && all.open() > 0; ++i) {
        // More than the two kernels hold: the server has to write for each.
        taken += client.read_all(64u << 10).size();
        all.pass(8s);
    }
    EXPECT_EQ(all.open(), 0u);
    EXPECT_LT(taken, 2u << 20);
    EXPECT_EQ(all.probe.timed_out, 1);
}

TEST(session, an_answer_taken_at_the_least_rate_is_given_however_long_it_takes) {
    sessions all(patient());
    sessions::peer client(all);
    client.send(large_get);
    std::size_t taken = 0;
    for (int i = 0; i < 2000 && all.open() > 0 && taken < (8u << 20); ++i) {
        taken += client.read_all(8u << 10).size();
        all.pass(5s);
    }
    taken += client.read_all(until_the_end).size();
    EXPECT_GT(taken, 8u << 20);
    EXPECT_EQ(all.held(), 0u);
    EXPECT_EQ(all.probe.timed_out, 0);
}

// ---- memory ----

TEST(session, what_is_held_for_a_request_goes_with_its_answer) {
    sessions all(patient());
    sessions::peer client(all);
    client.send("PUT /hold HTTP/1.1\r\nHost: h\r\nContent-Length: 5000\r\n\r\n" +
                std::string(2000, 'x'));
    EXPECT_EQ(all.held(), 5000u);
    client.send(std::string(3000, 'x'));
    EXPECT_EQ(all.held(), 5000u);  // the handler has it
    all.release();
    EXPECT_EQ(all.held(), 0u);
    EXPECT_NE(client.read().find("5000"), std::string::npos);
    EXPECT_EQ(all.open(), 1u);
}

TEST(session, an_answer_is_paid_for_until_it_is_written) {
    sessions all(patient());
    sessions::peer client(all);
    client.send(large_get);
    EXPECT_EQ(all.held(), 8u << 20);
    EXPECT_GT(client.read_all(until_the_end).size(), 8u << 20);
    EXPECT_EQ(all.held(), 0u);
}

TEST(session, an_answer_that_is_written_is_not_paid_for_while_its_client_lingers) {
    sessions all(patient());
    sessions::peer client(all);
    client.send("GET /large HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n" +
                std::string(large_get));
    EXPECT_GT(client.read_all(until_the_end).size(), 8u << 20);
    EXPECT_EQ(all.open(), 1u);
    EXPECT_EQ(all.held(), 0u);
}

TEST(session, answers_together_are_bounded) {
    http_options o = patient();
    o.bodies_bytes_max = o.account_bodies_bytes_max = 20u << 20;
    sessions all(std::move(o));
    for (const char* path : {"/large", "/reserve"}) {
        std::list<sessions::peer> clients;
        for (int i = 0; i < 3; ++i) {
            clients.emplace_back(all).send("GET " + std::string(path) +
                                           " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
            EXPECT_LE(all.held(), 20u << 20);
        }
        EXPECT_EQ(all.held(), 16u << 20);
        const std::string third = clients.back().read();
        EXPECT_EQ(third.substr(0, 12), "HTTP/1.1 503");
        EXPECT_NE(third.find("\r\nRetry-After: 1\r\n"), std::string::npos);
        EXPECT_GT(clients.front().read_all(until_the_end).size(), 8u << 20);
        EXPECT_EQ(all.held(), 8u << 20);
        // A small one is always given.
        sessions::peer small(all);
        small.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
        EXPECT_EQ(small.read().substr(0, 12), "HTTP/1.1 200");
        clients.clear();
        all.settle();
        EXPECT_EQ(all.held(), 0u);
    }
}

TEST(session, bodies_together_are_bounded) {
    http_options o = patient();
    o.bodies_bytes_max = 300'000;
    sessions all(std::move(o));
    const std::string put = "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 200000\r\n\r\n";
    const std::string in_chunks =
        "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n30d40\r\n";
    const std::string body(200'000, 'b');
    sessions::peer first(all);
    first.send(put);
    EXPECT_LE(all.held(), 16u << 10);  // announced, not there
    first.send(std::string_view(body).substr(0, 150'000));
    EXPECT_EQ(all.held(), 200'000u);
    for (const std::string& head : {put, in_chunks}) {
        sessions::peer other(all);
        other.send(head);
        other.send(body);
        const std::string answer = other.read();
        EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 503");
        EXPECT_NE(answer.find("\r\nRetry-After: 1\r\n"), std::string::npos);
        EXPECT_EQ(all.held(), 200'000u);
    }
    sessions::peer small(all);
    small.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc");
    EXPECT_EQ(small.read().substr(0, 12), "HTTP/1.1 200");
    first.send(std::string_view(body).substr(150'000));
    EXPECT_EQ(first.read().substr(0, 12), "HTTP/1.1 200");
    EXPECT_EQ(all.held(), 0u);
}

TEST(session, a_refused_body_is_not_held_while_its_client_reads_why) {
    http_options o = patient();
    o.body_bytes_max = 50'000;
    sessions all(std::move(o));
    sessions::peer client(all);
    client.send("PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n9c40\r\n" +
                std::string(40'000, 'x') + "\r\n");
    EXPECT_GE(all.held(), 40'000u);
    client.send("9c40\r\n");
    EXPECT_EQ(all.open(), 1u);
    EXPECT_EQ(all.held(), 0u);
}

TEST(session, a_client_that_leaves_gives_back_what_it_held) {
    sessions all(patient());
    {
        sessions::peer client(all);
        client.send(large_put);
        client.send(std::string(100'000, 'x'));
        EXPECT_GE(all.held(), 100'000u);
    }
    all.settle();
    EXPECT_EQ(all.open(), 0u);
    EXPECT_EQ(all.held(), 0u);
}

// ---- who may send a body ----

TEST(session, a_body_is_asked_for_only_once_it_may_come) {
    http_hooks hooks;
    std::vector<std::string> asked;
    hooks.admit = [&](http_request head) -> asio::awaitable<admission> {
        asked.push_back(std::string(head.target()) + " " + head.body());
        admission given{.payer = account_id{7}};
        if (head.target() == "/refused") given.refused = http_response{401, "text/plain", "no", {}};
        co_return given;
    };
    sessions all(patient(), hooks);
    const auto put = [](const std::string& path) {
        return "PUT " + path +
               " HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2000\r\n\r\n";
    };
    sessions::peer refused(all);
    refused.send(put("/refused"));
    EXPECT_EQ(refused.read().substr(0, 12), "HTTP/1.1 401");
    EXPECT_EQ(all.held(), 0u);
    refused.send(std::string(2000, 'x'));
    EXPECT_EQ(all.held(), 0u);

    sessions::peer allowed(all);
    allowed.send(put("/hold"));
    EXPECT_EQ(allowed.read(), "HTTP/1.1 100 Continue\r\n\r\n");
    allowed.send(std::string(1000, 'x'));
    EXPECT_EQ(all.bodies()->held_by(account_id{7}), 2000u);
    EXPECT_EQ(all.bodies()->held_by(payer::strangers()), 0u);
    allowed.send(std::string(1000, 'x'));
    all.release();
    EXPECT_NE(allowed.read().find("2000"), std::string::npos);

    // There is nothing to ask about when the body is there.
    allowed.send("PUT /whole HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nab");
    EXPECT_EQ(allowed.read().substr(0, 12), "HTTP/1.1 200");
    allowed.send("GET /none HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(allowed.read().substr(0, 12), "HTTP/1.1 200");
    EXPECT_EQ(asked, (std::vector<std::string>{"/refused ", "/hold "}));
}

// ---- bodies that come bit by bit ----

constexpr std::string_view get_stream = "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n";

TEST(session, a_body_is_streamed_in_chunks) {
    sessions all(patient());
    sessions::peer client(all);
    client.send(get_stream);
    const std::string head = client.read();
    EXPECT_EQ(head.substr(0, 12), "HTTP/1.1 200");
    EXPECT_NE(head.find("\r\nTransfer-Encoding: chunked\r\n"), std::string::npos);
    EXPECT_NE(head.find("\r\nConnection: close\r\n"), std::string::npos);
    EXPECT_EQ(head.find("Content-Length"), std::string::npos);
    all.say("hello");
    EXPECT_EQ(client.read(), "5\r\nhello\r\n");
    all.pass(1h);  // silence is no fault
    all.say(std::string(300, 'x'));
    EXPECT_EQ(client.read(), "12c\r\n" + std::string(300, 'x') + "\r\n");
    EXPECT_EQ(all.held(), 0u);
    all.be_silent();
    EXPECT_EQ(client.read(), "0\r\n\r\n");
    EXPECT_TRUE(client.closed());
    EXPECT_EQ(all.streaming, 0);
}

// ---- what is told when a request is finished ----

TEST(session, a_stream_is_finished_at_its_end) {
    sessions all(patient());
    sessions::peer client(all);
    client.send(get_stream);
    all.say("hello");
    all.pass(60s);
    EXPECT_TRUE(all.probe.finished.empty());
    all.be_silent();
    ASSERT_EQ(all.probe.finished.size(), 1u);
    EXPECT_EQ(all.probe.finished[0].took, 60s);
    EXPECT_TRUE(all.probe.finished[0].sent);
    EXPECT_GE(all.probe.finished[0].out, 5u);
}

TEST(session, a_stream_whose_client_leaves_was_not_sent_to_its_end) {
    sessions all(patient());
    {
        sessions::peer client(all);
        client.send(get_stream);
        all.pass(5s);
    }
    all.settle_soon();
    ASSERT_EQ(all.probe.finished.size(), 1u);
    EXPECT_FALSE(all.probe.finished[0].sent);
    EXPECT_EQ(all.probe.finished[0].took, 5s);
}

TEST(session, an_answer_that_is_not_taken_was_not_sent) {
    sessions all(patient());
    sessions::peer client(all);
    client.send("GET /large HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_TRUE(all.probe.finished.empty()) << "it is on its way";
    for (int i = 0; i < 200 && all.open() > 0; ++i) all.pass(30s);
    ASSERT_EQ(all.probe.finished.size(), 1u);
    EXPECT_EQ(all.probe.finished[0].status, 200u);
    EXPECT_FALSE(all.probe.finished[0].sent);
    EXPECT_LT(all.probe.finished[0].out, 8u << 20);
    EXPECT_GE(all.probe.finished[0].took, 30s);
}

TEST(session, a_request_that_is_refused_is_finished_too) {
    sessions all(patient());
    sessions::peer client(all);
    client.send("GET / HTTP/1.1\r\nHost: h\r\nA: ");
    all.pass(11s);
    ASSERT_EQ(all.probe.finished.size(), 1u);
    EXPECT_EQ(all.probe.finished[0].status, 408u);
    EXPECT_TRUE(all.probe.finished[0].sent);
}

TEST(session, an_older_client_gets_a_stream_up_to_its_end) {
    sessions all(patient());
    sessions::peer client(all);
    client.send("GET /stream HTTP/1.0\r\n\r\n");
    EXPECT_EQ(client.read().find("chunked"), std::string::npos);
    all.say("hello");
    all.be_silent();
    EXPECT_EQ(client.read(), "hello");
    EXPECT_TRUE(client.closed());
}

TEST(session, a_head_of_a_stream_has_no_body) {
    sessions all(patient());
    sessions::peer client(all);
    client.send("HEAD /stream HTTP/1.1\r\nHost: h\r\n\r\n");
    const std::string head = client.read();
    EXPECT_EQ(head.substr(head.size() - 4), "\r\n\r\n");
    EXPECT_EQ(all.streaming, 0);
    EXPECT_TRUE(client.closed());
}

TEST(session, who_follows_too_slowly_is_cut_off) {
    sessions all(patient());
    sessions::peer slow(all), quick(all);
    slow.send(get_stream);
    quick.send(get_stream);
    quick.read();
    all.say(std::string(8u << 20, 'x'));
    EXPECT_GE(quick.read_all((8u << 20) + 10).size(), 8u << 20);
    EXPECT_EQ(all.held(), 8u << 20);
    all.pass(31s);
    EXPECT_EQ(all.streaming, 1);
    EXPECT_EQ(all.held(), 0u);
    EXPECT_EQ(all.probe.timed_out, 1);
    // Nothing tells it that the body was whole.
    const std::string rest = slow.read_all(until_the_end);
    EXPECT_FALSE(rest.ends_with("0\r\n\r\n"));
    EXPECT_LT(rest.size(), 8u << 20);
}

TEST(session, a_follower_that_leaves_is_noticed_at_once) {
    sessions all(patient());
    {
        sessions::peer client(all);
        client.send(get_stream);
        EXPECT_EQ(all.streaming, 1);
    }
    all.settle_soon();
    EXPECT_EQ(all.streaming, 0);
    EXPECT_EQ(all.open(), 0u);
}

TEST(session, what_is_streamed_is_within_the_budget_of_bodies) {
    http_options o = patient();
    o.bodies_bytes_max = 1u << 20;
    sessions all(std::move(o));
    sessions::peer client(all);
    client.send(get_stream);
    all.say(std::string(2u << 20, 'x'));
    EXPECT_EQ(all.streaming, 0);
    EXPECT_FALSE(client.read().ends_with("0\r\n\r\n"));
    EXPECT_EQ(all.held(), 0u);
}

// ---- who goes for another ----

TEST(session, a_follower_makes_room_after_those_who_are_idle) {
    sessions all(patient());
    sessions::peer following(all);
    following.send(get_stream);
    all.pass(1s);
    sessions::peer idle(all);
    EXPECT_EQ(all.state().least_needed(std::nullopt), all.state().sessions[1]);
    idle.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(all.state().least_needed(std::nullopt), all.state().sessions[0]);
    all.state().least_needed(std::nullopt)->displace();
    all.settle();
    EXPECT_EQ(all.streaming, 0);
    EXPECT_TRUE(following.closed());
    EXPECT_FALSE(idle.closed());
}

std::string poll_of(int account) {
    return "GET /poll?" + std::to_string(account) + " HTTP/1.1\r\nHost: h\r\n\r\n";
}

TEST(session, who_waits_makes_room_and_is_answered) {
    sessions all(patient());
    sessions::peer client(all);
    client.send(poll_of(7));
    ASSERT_EQ(all.state().least_needed(std::nullopt), all.state().sessions[0]);
    all.state().least_needed(std::nullopt)->displace();
    all.settle();
    const std::string answer = client.read();
    EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 200");
    EXPECT_NE(answer.find("\r\nConnection: close\r\n"), std::string::npos);
    EXPECT_TRUE(client.closed());
    EXPECT_EQ(all.open(), 0u);
}

TEST(session, a_request_that_came_as_its_connection_was_given_up_does_not_wait) {
    sessions all(patient());
    sessions::peer client(all);
    const std::string poll = poll_of(7);
    client.send(poll.substr(0, 20));
    all.state().sessions[0]->displace();
    client.send(poll.substr(20));
    all.settle();
    EXPECT_EQ(all.open(), 0u);
}

// Also if it has sent more than the server has read.
TEST(session, who_waits_and_leaves_is_not_waited_for) {
    for (const std::string more : {"", "GET / HTTP/1.1\r\nHost: h\r\n\r\n"}) {
        sessions all(patient());
        {
            sessions::peer client(all);
            client.send(poll_of(7) + more);
            all.pass(1h);
            EXPECT_EQ(all.open(), 1u);
        }
        all.settle_soon();
        all.pass(1s);
        EXPECT_EQ(all.open(), 0u) << more;
    }
}

// However often those come anew who have many, and whatever they have them for.
TEST(session, who_has_one_keeps_it_beside_one_who_has_many) {
    sessions all(patient());
    sessions::peer only(all);
    only.send(poll_of(7));
    std::list<sessions::peer> many;
    for (int n = 0; n < 20; ++n) {
        all.pass(1s);
        sessions::peer& next = many.emplace_back(all);
        next.send(n % 2 == 0 ? poll_of(8) : "GET / HT");
        if (n < 4) continue;
        session* const least = all.state().least_needed(std::nullopt);
        ASSERT_NE(least, nullptr);
        EXPECT_NE(least->paid_by(), payer(account_id{7}));
        least->displace();
        all.settle();
        all.settle();
    }
    EXPECT_FALSE(only.closed());
}

// ---- the end ----

// Whatever it was that they were doing.
TEST(session, who_moves_nothing_holds_up_no_stop) {
    sessions all(patient());
    std::list<sessions::peer> sleeping;
    for (const std::string_view sent :
         {std::string_view("GET / HT"),
          std::string_view("PUT / HTTP/1.1\r\nHost: h\r\n"
                           "Content-Length: 2000\r\n\r\nab"),
          std::string_view("GET /large HTTP/1.1\r\nHost: h\r\n\r\n"), get_stream}) {
        sleeping.emplace_back(all).send(sent);
    }
    all.say(std::string(8u << 20, 'x'));
    EXPECT_EQ(all.open(), 4u);
    all.stop();
    all.be_silent();
    EXPECT_EQ(all.open(), 4u);
    all.pass(1s);
    EXPECT_EQ(all.open(), 4u);
    all.pass(1001ms);  // they are told why, and may read it
    all.pass(2001ms);
    EXPECT_EQ(all.open(), 0u);
}

TEST(session, who_goes_on_is_answered_though_the_server_stops) {
    sessions all(patient());
    sessions::peer client(all);
    client.send("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 9000\r\n\r\n");
    all.stop();
    for (int n = 0; n < 9; ++n) {
        all.pass(1s);
        client.send(std::string(1000, 'x'));
    }
    EXPECT_EQ(client.read().substr(0, 12), "HTTP/1.1 200");
}

// As a client is in the middle of a sync: what it asks on is answered, until it asks nothing more.
TEST(session, who_asks_again_at_once_may_do_so_though_the_server_stops) {
    sessions all(patient());
    sessions::peer client(all), ended(all), other(all);
    const std::string followed = "GET /followed HTTP/1.1\r\nHost: h\r\n\r\n";
    ended.send(followed);
    all.pass(1s);
    client.send(followed);
    other.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_EQ(all.open(), 3u);
    all.stop();
    EXPECT_EQ(all.open(), 1u);
    EXPECT_TRUE(ended.closed());
    EXPECT_TRUE(other.closed());
    client.read();
    for (int n = 0; n < 5; ++n) {
        all.pass(900ms);
        client.send(followed);
        const std::string answer = client.read();
        EXPECT_EQ(answer.substr(0, 12), "HTTP/1.1 200");
        EXPECT_EQ(answer.find("Connection: close"), std::string::npos) << answer;
    }
    all.pass(1001ms);
    EXPECT_EQ(all.open(), 0u);
}

TEST(session, the_one_idle_longest_is_least_needed) {
    sessions all(patient());
    sessions::peer working(all);
    working.send("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n");
    all.pass(1s);
    sessions::peer sending(all);
    sending.send(large_put);
    EXPECT_EQ(all.state().least_needed(std::nullopt), nullptr);
    all.pass(1s);
    sessions::peer slow(all);
    slow.send("GET / HT");
    all.pass(1s);
    sessions::peer slower(all);
    slower.send("GET / HT");
    EXPECT_EQ(all.state().least_needed(std::nullopt), all.state().sessions[2]);
    all.pass(1s);
    sessions::peer idle(all);
    all.pass(1s);
    sessions::peer fresh(all);
    EXPECT_EQ(all.state().least_needed(std::nullopt), all.state().sessions[4]);
    all.pass(1s);
    idle.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");  // it waits anew from here on
    all.pass(1s);
    EXPECT_EQ(all.state().least_needed(std::nullopt), all.state().sessions[5]);
    all.state().least_needed(std::nullopt)->displace();
    EXPECT_EQ(all.state().least_needed(std::nullopt), all.state().sessions[4]);
    all.settle();
    EXPECT_TRUE(fresh.closed());
    EXPECT_FALSE(idle.closed());
    EXPECT_EQ(all.probe.displaced, 1);
}

}  // namespace
}  // namespace callsign::net
