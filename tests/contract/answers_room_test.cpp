// Goal: the memory of incoming responses from remote servers has one limit for all of them.

#include "net/use_result.hpp"
#include "support/at_once.hpp"
#include "support/seeded_entropy.hpp"

#include <callsign/base/errc.hpp>
#include <callsign/remote/task_sink.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using asio::awaitable;
using asio::ip::tcp;
using failure = sink_failure::kind;

using net::use_result;
constexpr std::size_t MiB = std::size_t{1} << 20;

// Responds with a large version that no key decrypts, and pauses in the middle of it until a client
// has closed its connection.
class stopping_server {
  public:
    stopping_server(asio::io_context& io, bool says_length)
        : acceptor_(io, {asio::ip::address_v4::loopback(), 0}),
          hung_up_(io, tcp_time::max()),
          says_length_(says_length) {
        asio::co_spawn(io, serve(), asio::detached);
    }
    std::string url() const {
        return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
    }

    void go_on() { hung_up_.expires_at(tcp_time::min()); }

  private:
    using tcp_time = asio::steady_timer::time_point;
    static constexpr std::size_t first = 5 * MiB / 2, rest = MiB;

    awaitable<void> serve() {
        for (;;) {
            auto [error, accepted] = co_await acceptor_.async_accept(use_result);
            if (error) co_return;
            const auto socket = std::make_shared<tcp::socket>(std::move(accepted));
            asio::co_spawn(acceptor_.get_executor(), answer(socket), asio::detached);
        }
    }
    awaitable<void> answer(std::shared_ptr<tcp::socket> socket) {
        std::string text;
        co_await asio::async_read_until(*socket, asio::dynamic_buffer(text), "\r\n\r\n",
                                        use_result);
        asio::co_spawn(acceptor_.get_executor(), watch(socket), asio::detached);
        const std::string length =
            says_length_ ? "Content-Length: " + std::to_string(first + rest) + "\r\n" : "";
        const std::string head =
            "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.taskchampion.history-segment\r\n"
            "X-Version-Id: " +
            to_string(make_uuid_v7(time_point{1ms}, 1, 1)) +
            "\r\nX-Parent-Version-Id: " + to_string(uuid{}) + "\r\n" + length +
            "Connection: close\r\n\r\n" + std::string(1, '\1') + std::string(first - 1, 'x');
        co_await asio::async_write(*socket, asio::buffer(head), use_result);
        co_await hung_up_.async_wait(use_result);
        const std::string end(rest, 'x');
        co_await asio::async_write(*socket, asio::buffer(end), use_result);
        boost::system::error_code ignored;
        socket->shutdown(tcp::socket::shutdown_send, ignored);
    }
    awaitable<void> watch(std::shared_ptr<tcp::socket> socket) {
        char none = 0;
        co_await socket->async_read_some(asio::buffer(&none, 1), use_result);
        go_on();
    }

    tcp::acceptor acceptor_;
    asio::steady_timer hung_up_;
    const bool says_length_;
};

class answers_room : public ::testing::TestWithParam<bool> {
  protected:
    std::unique_ptr<task_sink> open(int n) {
        const auto key = std::make_shared<const seal::key>(std::array<std::uint8_t, 32>{});
        return sinks_.open(account, server_.url(), make_uuid_v7(time_point{1ms}, 2, n), key);
    }
    awaitable<boost::system::error_code> offload(claim asks, std::function<void()> work) {
        claims_.push_back(asks);
        if (has_room_) return at_once(asks, std::move(work));
        return reject();
    }
    static awaitable<boost::system::error_code> reject() {
        co_return make_error_code(errc::overloaded);
    }
    static failure why(const sink_child_answer& answer) {
        const auto* const failed = std::get_if<sink_failure>(&answer);
        EXPECT_TRUE(failed);
        return failed ? failed->why : failure::lost;
    }

    static constexpr account_id account{7};

    asio::io_context io_{1};
    std::vector<claim> claims_;
    bool has_room_ = true;
    seeded_entropy chance_{1};
    stopping_server server_{io_, GetParam()};
    remote::sinks sinks_{
        io_.get_executor(),
        [this](claim asks, std::function<void()> work) { return offload(asks, std::move(work)); },
        chance_,
        {.timeout = 20s, .answer_bytes_max = 4 * MiB, .answers_bytes_max = 5 * MiB}};
};

// Memory suffices for one of two half-received responses. The other is aborted and reports `busy`.
TEST_P(answers_room, one_that_finds_none_is_retried_when_others_have_been_read) {
    const auto one = open(1), other = open(2);
    auto first = asio::co_spawn(io_, one->get_child(uuid{}), asio::use_future);
    auto second = asio::co_spawn(io_, other->get_child(uuid{}), asio::use_future);
    const auto is_there = [](auto& answer) {
        return answer.wait_for(0s) == std::future_status::ready;
    };
    while (!is_there(first) || !is_there(second)) {
        ASSERT_GT(io_.run_one_for(30s), 0u);
    }
    const failure of_one = why(first.get()), of_other = why(second.get());
    EXPECT_NE(of_one, of_other);
    EXPECT_TRUE(of_one == failure::busy || of_other == failure::busy);
    EXPECT_TRUE(of_one == failure::wrong_secret || of_other == failure::wrong_secret);

    const auto& late = of_one == failure::busy ? one : other;
    auto again = asio::co_spawn(io_, late->get_child(uuid{}), asio::use_future);
    while (!is_there(again)) ASSERT_GT(io_.run_one_for(30s), 0u);
    EXPECT_EQ(why(again.get()), failure::wrong_secret);
}

// A response is decrypted on its account's share, and the claim contains its size.
TEST_P(answers_room, is_decrypted_on_the_share_of_its_account) {
    const auto asked = open(1);
    const auto ask = [&] {
        auto answer = asio::co_spawn(io_, asked->get_child(uuid{}), asio::use_future);
        while (answer.wait_for(0s) != std::future_status::ready) {
            EXPECT_GT(io_.run_one_for(30s), 0u);
        }
        return why(answer.get());
    };
    server_.go_on();
    EXPECT_EQ(ask(), failure::wrong_secret);
    ASSERT_EQ(claims_.size(), 1u);
    EXPECT_EQ(claims_[0].who, payer(account));
    EXPECT_GE(claims_[0].price.bytes, 2 * MiB);
    has_room_ = false;
    EXPECT_EQ(ask(), failure::busy);
}

INSTANTIATE_TEST_SUITE_P(length, answers_room, ::testing::Bool(), [](const auto& tested) {
    return std::string(tested.param ? "said" : "not_said");
});

}  // namespace
}  // namespace callsign::testing
