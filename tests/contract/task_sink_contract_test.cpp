// Contract of task stores on remote servers (ports/task_sink.hpp), run on three implementations: a
// chain in memory, an opaque account of a Callsign server over HTTP (without its turnstile, to
// respond as the reference server does), and a faulty connection whose faults are disabled.

#include "support/at_once.hpp"
#include "support/remote_chain.hpp"
#include "support/spawn.hpp"
#include "support/test_server.hpp"

#include <callsign/net/http.hpp>
#include <callsign/remote/task_sink.hpp>
#include <callsign/seal/envelope.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using operations = std::vector<operation>;

const uuid client_id = make_uuid_v7(time_point{milliseconds{1}}, 1, 1);

std::shared_ptr<const seal::key> key_of(std::string_view secret) {
    // A real key derivation takes a good part of a second and is not tested here.
    std::array<std::uint8_t, seal::key_bytes> bytes{};
    std::copy_n(secret.begin(), std::min(secret.size(), bytes.size()), bytes.begin());
    return std::make_shared<const seal::key>(bytes);
}

net::http_response reject(const net::rejected_request& rejected) {
    net::http_response response;
    response.status = rejected.status;
    return response;
}

// Single-threaded, in real time.
template <class T>
T await(asio::io_context& io, asio::awaitable<T> work) {
    const auto done = testing::spawn_for_result(io.get_executor(), std::move(work));
    while (!*done) {
        io.restart();
        io.run_one_for(std::chrono::seconds{20});
    }
    return std::move(**done);
}

// What a test needs from each implementation.
struct stand {
    virtual ~stand() = default;
    virtual asio::io_context& io() = 0;
    virtual task_sink& sink() = 0;
};

struct memory_stand : stand {
    asio::io_context& io() override { return io_; }
    task_sink& sink() override { return sink_; }

    asio::io_context io_;
    chain_in_memory chain_;
    memory_sink sink_{chain_};
};

struct calm_stand : stand {
    asio::io_context& io() override { return io_; }
    task_sink& sink() override { return sink_; }

    asio::io_context io_;
    chain_in_memory chain_;
    faulty_wire wire_{1};
    faulty_sink sink_{chain_, wire_};
};

struct http_stand : stand {
    http_stand() {
        asio::co_spawn(io(), server_.run(), asio::detached);
        url_ = "http://127.0.0.1:" + std::to_string(server_.local_endpoint().port());
        sink_ = open("secret");
    }
    std::unique_ptr<task_sink> open(std::string_view secret, const std::string& path = {}) {
        return sinks_.open(account_id{1}, url_ + path, client_id, key_of(secret));
    }
    asio::io_context& io() override { return inner_.io(); }
    task_sink& sink() override { return *sink_; }

    static test_server_options options() {
        test_server_options o;
        o.service.sync.open_registration = true;
        o.service.sync.turnstile = milliseconds{0};
        return o;
    }

    test_server inner_{options()};
    net::http_probe probe_;
    net::http_server server_{
        inner_.io().get_executor(),
        {asio::ip::address_v4::loopback(), 0},
        {.body_bytes_max = 64u << 20},
        [this](net::http_request r) { return inner_.service().handle(std::move(r)); },
        reject,
        probe_,
        {}};
    remote::sinks sinks_{inner_.io().get_executor(),
                         at_once,
                         inner_.entropy(),
                         {.timeout = std::chrono::seconds{10}}};
    std::string url_;
    std::unique_ptr<task_sink> sink_;
};

struct kind_of_sink {
    const char* name;
    std::unique_ptr<stand> (*make)();
};

template <class Stand>
std::unique_ptr<stand> make() {
    return std::make_unique<Stand>();
}

class task_sink_contract : public ::testing::TestWithParam<kind_of_sink> {
  protected:
    sink_add_answer add(const uuid& parent, operations all) {
        return await(stand_->io(), stand_->sink().add_version(parent, std::move(all)));
    }
    sink_child_answer child(const uuid& parent) {
        return await(stand_->io(), stand_->sink().get_child(parent));
    }
    uuid accepted(const uuid& parent, operations all) {
        const auto answer = add(parent, std::move(all));
        const auto* const given = std::get_if<sink_accepted>(&answer);
        EXPECT_TRUE(given);
        return given ? given->version : uuid{};
    }

    std::unique_ptr<stand> stand_ = GetParam().make();
};

const uuid task_id_1 = make_uuid_v7(time_point{milliseconds{5}}, 2, 1);

operations some_of(const std::string& text) {
    const precise_time at = precise_time(virtual_start) + std::chrono::nanoseconds{123'456'789};
    return {{operation_kind::create, task_id_1, {}, {}, {}},
            {operation_kind::update, task_id_1, "description", text, at},
            {operation_kind::update, task_id_1, "due", std::nullopt, at},
            {operation_kind::remove, task_id_1, {}, {}, {}}};
}

TEST_P(task_sink_contract, an_empty_chain_is_up_to_date_and_has_no_snapshot) {
    EXPECT_TRUE(std::holds_alternative<sink_up_to_date>(child(uuid{})));
    const auto snapshot = await(stand_->io(), stand_->sink().get_snapshot());
    EXPECT_TRUE(std::holds_alternative<sink_no_snapshot>(snapshot));
}

TEST_P(task_sink_contract, what_was_taken_is_the_child_of_its_parent_to_the_nanosecond) {
    const auto sent = some_of("first");
    const uuid first = accepted(uuid{}, sent);
    const auto found = child(uuid{});
    ASSERT_TRUE(std::holds_alternative<sink_child>(found));
    EXPECT_EQ(std::get<sink_child>(found).version, first);
    EXPECT_EQ(std::get<sink_child>(found).operations, sent);
    EXPECT_TRUE(std::holds_alternative<sink_up_to_date>(child(first)));
}

TEST_P(task_sink_contract, of_two_behind_one_parent_one_is_taken) {
    const uuid first = accepted(uuid{}, some_of("first"));
    const uuid second = accepted(first, some_of("second"));
    const auto late = add(first, some_of("late"));
    ASSERT_TRUE(std::holds_alternative<sink_conflict>(late));
    EXPECT_EQ(std::get<sink_conflict>(late).head, second);
    const auto found = child(first);
    EXPECT_EQ(std::get<sink_child>(found).operations, some_of("second"));
    EXPECT_TRUE(std::holds_alternative<sink_up_to_date>(child(second)));
}

TEST_P(task_sink_contract, what_it_never_had_is_gone) {
    accepted(uuid{}, some_of("first"));
    EXPECT_TRUE(std::holds_alternative<sink_gone>(child(client_id)));
}

TEST_P(task_sink_contract, a_version_may_be_empty) {
    const uuid first = accepted(uuid{}, some_of("first"));
    const uuid fence = accepted(first, {});
    const auto found = child(first);
    ASSERT_TRUE(std::holds_alternative<sink_child>(found));
    EXPECT_EQ(std::get<sink_child>(found).version, fence);
    EXPECT_TRUE(std::get<sink_child>(found).operations.empty());
    EXPECT_TRUE(std::holds_alternative<sink_conflict>(add(first, some_of("late"))));
}

TEST_P(task_sink_contract, any_text_comes_back_as_it_was) {
    uuid at{};
    for (const std::string& text :
         {std::string("\"quoted\\\n\t\x01"), std::string("\xF0\x9F\x90\xA6 \xC3\xA9"),
          std::string(3u << 20, 'x')}) {
        const uuid next = accepted(at, some_of(text));
        const auto found = child(at);
        ASSERT_TRUE(std::holds_alternative<sink_child>(found));
        EXPECT_EQ(std::get<sink_child>(found).operations, some_of(text));
        at = next;
    }
}

INSTANTIATE_TEST_SUITE_P(each, task_sink_contract,
                         ::testing::Values(kind_of_sink{"memory", make<memory_stand>},
                                           kind_of_sink{"http", make<http_stand>},
                                           kind_of_sink{"faulty", make<calm_stand>}),
                         [](const auto& tested) { return std::string(tested.param.name); });

// ---- HTTP only ----

sink_failure::kind why(const sink_child_answer& answer) {
    const auto* const failure = std::get_if<sink_failure>(&answer);
    EXPECT_TRUE(failure);
    EXPECT_FALSE(failure && failure->text.empty());
    return failure ? failure->why : sink_failure::kind::busy;
}
sink_failure::kind why(const sink_add_answer& answer) {
    const auto* const failure = std::get_if<sink_failure>(&answer);
    EXPECT_TRUE(failure);
    return failure ? failure->why : sink_failure::kind::busy;
}
using failure = sink_failure::kind;

TEST(http_sink, a_wrong_secret_is_reported) {
    http_stand s;
    await(s.io(), s.sink().add_version(uuid{}, some_of("x")));
    const auto other = s.open("another");
    EXPECT_EQ(why(await(s.io(), other->get_child(uuid{}))), failure::wrong_secret);
}

TEST(http_sink, an_unreachable_server_received_nothing) {
    http_stand s;
    tcp::acceptor taken(s.io(), {asio::ip::address_v4::loopback(), 0});
    const auto port = taken.local_endpoint().port();
    taken.close();
    s.url_ = "http://127.0.0.1:" + std::to_string(port);
    const auto nowhere = s.open("secret");
    EXPECT_EQ(why(await(s.io(), nowhere->get_child(uuid{}))), failure::unreachable);
    EXPECT_EQ(why(await(s.io(), nowhere->add_version(uuid{}, {}))), failure::unreachable);
}

TEST(http_sink, what_is_no_url_and_no_key_opens_nothing) {
    http_stand s;
    EXPECT_FALSE(s.sinks_.open(account_id{1}, "ftp://example.com", client_id, key_of("x")));
    EXPECT_FALSE(s.sinks_.open(account_id{1}, s.url_, client_id, nullptr));
}

// Responds with `answer` and closes the connection.
class liar {
  public:
    explicit liar(asio::io_context& io)
        : io_(io), acceptor_(io, {asio::ip::address_v4::loopback(), 0}) {
        asio::co_spawn(io_, accept(), asio::detached);
    }
    ~liar() { acceptor_.close(); }
    std::string url() const {
        return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
    }
    std::string answer;

  private:
    asio::awaitable<void> accept() {
        auto token = asio::as_tuple(asio::use_awaitable);
        for (;;) {
            auto [error, socket] = co_await acceptor_.async_accept(token);
            if (error) co_return;
            std::string seen(64 * 1024, '\0');
            auto reading = socket.async_read_some(asio::buffer(seen), token);
            co_await std::move(reading);
            std::string copy = answer;
            auto writing = asio::async_write(socket, asio::buffer(copy), token);
            co_await std::move(writing);
        }
    }
    asio::io_context& io_;
    tcp::acceptor acceptor_;
};

std::string http(const std::string& status, const std::string& headers, const std::string& body) {
    return "HTTP/1.1 " + status + "\r\n" + headers +
           "Content-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" +
           body;
}

class lying_server : public ::testing::Test {
  protected:
    failure of_child(const std::string& answer) {
        liar_.answer = answer;
        return why(await(s_.io(), open()->get_child(uuid{})));
    }
    failure of_add(const std::string& answer) {
        liar_.answer = answer;
        return why(await(s_.io(), open()->add_version(uuid{}, some_of("x"))));
    }
    std::unique_ptr<task_sink> open() {
        sink_.reset();
        s_.url_ = liar_.url();
        sink_ = s_.open("secret");
        return s_.open("secret");
    }

    http_stand s_;
    liar liar_{s_.io()};
    std::unique_ptr<task_sink> sink_;
};

TEST_F(lying_server, each_untruth_has_its_name) {
    const std::string id = to_string(client_id);
    const std::string as_segment =
        "Content-Type: application/vnd.taskchampion.history-segment\r\nX-Version-Id: " + id +
        "\r\nX-Parent-Version-Id: " + to_string(uuid{}) + "\r\n";
    EXPECT_EQ(of_child(http("200 OK", "Content-Type: text/html\r\n", "<html>")),
              failure::not_a_server);
    EXPECT_EQ(of_child(http("200 OK", as_segment, "\x01")), failure::unreadable);
    EXPECT_EQ(of_child(http("200 OK", as_segment, "\x07" + std::string(60, 'x'))),
              failure::unreadable);
    EXPECT_EQ(of_child(http("200 OK", as_segment, "\x01" + std::string(60, 'x'))),
              failure::wrong_secret);
    EXPECT_EQ(of_child(http("302 Found", "Location: /\r\n", "")), failure::not_a_server);
    EXPECT_EQ(of_child(http("403 Forbidden", "", "")), failure::unknown_client);
    EXPECT_EQ(of_child(http("500 Oh", "", "")), failure::unavailable);
    EXPECT_EQ(of_child(http("400 No", "", "")), failure::rejected);
    EXPECT_EQ(of_child("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"), failure::lost);
    EXPECT_EQ(of_child("this is no HTTP"), failure::lost);
    EXPECT_EQ(of_child(""), failure::lost);
    EXPECT_EQ(of_add(http("200 OK", "", "")), failure::lost);  // the server may have accepted it
    EXPECT_EQ(of_add(http("200 OK", "X-Version-Id: rubbish\r\n", "")), failure::lost);
    EXPECT_EQ(of_add(http("409 Conflict", "", "")), failure::unavailable);
    EXPECT_EQ(
        of_add(http("409 Conflict", "X-Parent-Version-Id: " + to_string(uuid{}) + "\r\n", "")),
        failure::unavailable);
    EXPECT_EQ(of_add(http("404 Not Found", "", "")), failure::unknown_client);
    EXPECT_EQ(of_add(http("413 Too Large", "", "")), failure::rejected);
    EXPECT_EQ(of_add(http("507 Full", "", "")), failure::unavailable);
    EXPECT_EQ(of_add("HTTP/1.1 200 OK\r\nX-Ver"), failure::lost);
}

TEST_F(lying_server, a_segment_that_decrypts_and_does_not_parse_is_unreadable) {
    const std::array<std::uint8_t, seal::nonce_bytes> nonce{};
    const std::string as_segment =
        "Content-Type: application/vnd.taskchampion.history-segment\r\nX-Version-Id: " +
        to_string(client_id) + "\r\nX-Parent-Version-Id: " + to_string(uuid{}) + "\r\n";
    const std::string body =
        seal::seal_body(*key_of("secret"), uuid{}, nonce, "{\"operations\":3}");
    EXPECT_EQ(of_child(http("200 OK", as_segment, body)), failure::unreadable);
}

TEST_F(lying_server, the_pause_it_requests_is_reported) {
    liar_.answer = http("503 Busy", "Retry-After: 7\r\n", "");
    const auto answer = await(s_.io(), open()->get_child(uuid{}));
    EXPECT_EQ(std::get<sink_failure>(answer).retry_in, std::chrono::seconds{7});
}

// ---- faulty connection ----

// Whatever happened to a version, the child of its parent is authoritative.
TEST(faulty_wire, no_fault_makes_two_of_one_version) {
    asio::io_context io;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        chain_in_memory chain;
        faulty_wire wire(seed);
        wire.faults_in_hundred = 60;
        faulty_sink sink(chain, wire);
        for (int n = 0; n < 4; ++n) {
            await(io, sink.add_version(uuid{}, some_of("the same")));
            if (wire.once_in(2)) wire.deliver_late(chain);
        }
        while (wire.deliver_late(chain)) {
        }
        EXPECT_LE(chain.links().size(), 1u) << seed;
        EXPECT_LE(chain.creations(task_id_1), 1) << seed;
    }
}

}  // namespace
}  // namespace callsign::testing
