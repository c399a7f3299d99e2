// The feed over a WebSocket.

#include "callsign/v1/callsign.pb.h"
#include "feed_fixture.hpp"

#include <callsign/rules/rows/tokens.hpp>
#include <callsign/wire/message.hpp>

#include <algorithm>
#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <iterator>

namespace callsign::testing {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using std::chrono::seconds;

class read_socket final : public net::web_socket {
  public:
    awaitable<bool> send(std::vector<std::string> all) override {
        if (taking) taking();
        std::ranges::move(all, std::back_inserter(messages));
        co_return !over;
    }
    void close_with(std::uint16_t with) override { code = with; }
    bool is_over() const noexcept override { return over; }
    void tell_when_over(std::function<void()> tell) override { told = std::move(tell); }

    std::vector<std::string> messages;
    std::uint16_t code = 1000;
    bool over = false;
    std::function<void()> told;
    std::function<void()> taking;
};

class feed_socket : public feed_api {
  protected:
    net::http_request asking(std::string_view query, const std::string& protocols) {
        header_list headers = bearer(token);
        headers.emplace_back("Connection", "Upgrade");
        headers.emplace_back("Upgrade", "websocket");
        headers.emplace_back("Sec-WebSocket-Version", "13");
        headers.emplace_back("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==");
        if (!protocols.empty()) headers.emplace_back("Sec-WebSocket-Protocol", protocols);
        return make_request(verb::get, "/v1/changes/socket" + std::string(query), {}, headers);
    }
    std::shared_ptr<read_socket> follow(std::string_view query, const std::string& protocols,
                                        std::string_view chosen) {
        const auto response = home.call(asking(query, protocols));
        EXPECT_EQ(response.status, 101u) << response.body;
        EXPECT_TRUE(response.upgrade);
        EXPECT_EQ(response.upgrade->subprotocol, chosen);
        EXPECT_EQ(response.upgrade->binary, chosen.ends_with("proto"));
        const auto socket = std::make_shared<read_socket>();
        home.spawn(run(response.upgrade->talk, socket));
        home.settle();
        return socket;
    }
    static awaitable<void> run(std::function<awaitable<void>(net::web_socket&)> talk,
                               std::shared_ptr<read_socket> to) {
        auto talking = talk(*to);
        co_await std::move(talking);
    }
};

TEST_F(feed_socket, has_the_same_content_in_both_forms) {
    create("a", "one");
    const auto in_json = follow("", "mqtt, callsign.feed.v1+json", "callsign.feed.v1+json");
    const auto binary = follow("", "callsign.feed.v1+proto", "callsign.feed.v1+proto");
    const auto plain = follow("", "", "");
    edit("SYN-1", R"({"description":"first"})");
    home.settle();
    ASSERT_EQ(in_json->messages.size(), 2u);
    EXPECT_EQ(plain->messages, in_json->messages);
    ASSERT_EQ(binary->messages.size(), 2u);
    for (std::size_t n = 0; n < 2; ++n) {
        v1::FeedEvent event;
        ASSERT_TRUE(event.ParseFromString(binary->messages[n]));
        EXPECT_EQ(wire::encode(wire::format::json, event), in_json->messages[n]);
    }
    home.advance(seconds{16});
    ASSERT_EQ(in_json->messages.size(), 3u);
    EXPECT_EQ(json::parse(in_json->messages[2]).at("heartbeat").at("last").as_int64(), 2);
}

TEST_F(feed_socket, holds_memory_only_for_what_it_sends) {
    create("a", std::string(500, 'x'));
    create("b", std::string(500, 'y'));
    const auto budget = std::make_shared<net::body_budget>(20'000, 10'000);
    auto asked = asking("?after=0", "");
    asked.memory = std::make_shared<net::body_lease>(budget);
    const auto response = home.call(std::move(asked));
    const auto socket = std::make_shared<read_socket>();
    std::vector<std::size_t> held;
    socket->taking = [&] { held.push_back(budget->held()); };
    home.spawn(run(response.upgrade->talk, socket));
    home.settle();
    EXPECT_EQ(socket->messages.size(), 2u);
    EXPECT_EQ(held, std::vector<std::size_t>{0});
}

TEST_F(feed_socket, sends_the_reason_of_its_end) {
    const auto stopped = follow("", "", "");
    home.service().stop_followers();
    home.settle();
    ASSERT_EQ(stopped->messages.size(), 1u);
    EXPECT_EQ(json::parse(stopped->messages[0]).at("end").at("code").as_string(), "shutting-down");
    EXPECT_EQ(stopped->code, 1001);
}

TEST_F(feed_socket, a_revoked_token_is_against_the_rules) {
    const auto socket = follow("", "", "");
    const auto found =
        home.look([&](read_tx& tx) { return tokens::find_principal(tx, sha256(token)); });
    ASSERT_TRUE(home.run(home.engine().submit(revoke_token{found->token, account})));
    home.settle();
    EXPECT_EQ(socket->code, 1008);
    socket->told = {};  // as a session does
    EXPECT_EQ(home.service().follower_count(), 0u);
}

TEST_F(feed_socket, is_rejected_with_a_status) {
    EXPECT_EQ(home.call(asking("", "mqtt")).status, 400u);
    EXPECT_EQ(home.call(asking("?after=x", "")).status, 400u);
    EXPECT_EQ(home.call(asking("?after=0123456789ab.7", "")).status, 410u);
    const auto no = home.call(make_request(verb::get, "/v1/changes/socket", {}, bearer(token)));
    EXPECT_EQ(no.status, 426u);
    EXPECT_EQ(header(no, "Upgrade"), "websocket");
}

}  // namespace
}  // namespace callsign::testing
