// The feed as an event stream, and the ends of streams.

#include "feed_fixture.hpp"

#include <callsign/rules/rows/tokens.hpp>

#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <set>

namespace callsign::testing {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using std::chrono::seconds;

// Receives the stream like a client that reads at once.
class read_stream final : public net::body_stream {
  public:
    awaitable<bool> write(std::string bytes) override {
        if (taking) taking();
        text += bytes;
        co_return !over;
    }
    bool is_over() const noexcept override { return over; }
    void tell_when_over(std::function<void()> tell) override { told = std::move(tell); }

    void leave() {
        over = true;
        std::exchange(told, {})();
    }

    // The data of each event of this kind.
    std::vector<json::object> events(std::string_view kind) const {
        std::vector<json::object> all;
        const std::string start = "event: " + std::string(kind) + "\ndata: ";
        for (std::size_t at = text.find(start); at != std::string::npos;
             at = text.find(start, at + 1)) {
            const std::size_t data = at + start.size();
            all.push_back(json::parse(text.substr(data, text.find('\n', data) - data)).as_object());
        }
        return all;
    }

    std::string text;
    bool over = false;
    std::function<void()> told;
    std::function<void()> taking;
};

// ---- the stream ----

class feed_stream : public feed_api {
  protected:
    using feed_api::feed_api;

    // Follows the feed in the background.
    std::shared_ptr<read_stream> follow(std::string_view query, std::string_view with_token,
                                        std::string_view last_id = {}) {
        header_list headers = bearer(with_token);
        headers.emplace_back("Accept", "text/event-stream");
        if (!last_id.empty()) headers.emplace_back("Last-Event-ID", std::string(last_id));
        const auto response = home.call(make_request(
            verb::get, "/v1/changes/stream" + std::string(query), {}, std::move(headers)));
        EXPECT_EQ(response.status, 200u) << response.body;
        EXPECT_EQ(response.content_type, "text/event-stream");
        const auto stream = std::make_shared<read_stream>();
        home.spawn(run(response.write_body, stream, open_));
        home.settle();
        return stream;
    }
    static awaitable<void> run(net::body_writer write, std::shared_ptr<read_stream> to,
                               std::shared_ptr<int> open) {
        ++*open;
        auto writing = write(*to);
        co_await std::move(writing);
        --*open;
    }
    static lines seqs(const read_stream& stream) {
        lines all;
        for (const auto& each : stream.events("change")) {
            all.push_back(std::to_string(each.at("seq").as_int64()));
        }
        return all;
    }

    std::shared_ptr<int> open_ = std::make_shared<int>(0);
};

TEST_F(feed_stream, holds_memory_only_for_what_it_writes) {
    create("a", std::string(500, 'x'));
    const auto budget = std::make_shared<net::body_budget>(20'000, 10'000);
    auto asked = make_request(verb::get, "/v1/changes/stream?after=0", {}, bearer(token));
    asked.memory = std::make_shared<net::body_lease>(budget);
    const auto response = home.call(std::move(asked));
    const auto stream = std::make_shared<read_stream>();
    std::vector<std::size_t> held;
    stream->taking = [&] { held.push_back(budget->held()); };
    home.spawn(run(response.write_body, stream, open_));
    home.settle();
    EXPECT_EQ(seqs(*stream), lines{"1"});
    EXPECT_EQ(held, (std::vector<std::size_t>{0, 0}));
    // Without memory for an event the stream ends, and the client reconnects later.
    net::body_lease others(budget, account);
    others.reserve(9'000);
    create("b", "two");
    home.settle();
    EXPECT_EQ(*open_, 0);
    ASSERT_EQ(stream->events("end").size(), 1u);
    EXPECT_EQ(stream->events("end")[0].at("code").as_string(), "overloaded");
}

TEST_F(feed_stream, has_past_and_future_changes) {
    create("a", "one");
    const auto stream = follow("", token);
    EXPECT_EQ(seqs(*stream), lines{"1"});
    create("b", "two");
    edit("SYN-1", R"({"description":"first"})");
    home.settle();
    EXPECT_EQ(seqs(*stream), (lines{"1", "2", "3"}));
    // The id of each event is the cursor after it.
    const auto second = stream->events("change")[1];
    EXPECT_NE(stream->text.find("id: " + cursor_of(second) + "\nevent: change\n"),
              std::string::npos);
    EXPECT_EQ(seqs(*follow("?after=now", token, cursor_of(second))), lines{"3"});
    EXPECT_EQ(seqs(*follow("?after=" + cursor_of(second), token)), lines{"3"});
    EXPECT_EQ(seqs(*follow("?after=now", token)), lines{});
}

TEST_F(feed_stream, each_of_many_followers_receives_all_changes) {
    std::vector<std::shared_ptr<read_stream>> all;
    for (int n = 0; n < 20; ++n) all.push_back(follow("?after=now", token));
    lines expected;
    for (int n = 1; n <= 30; ++n) {
        // Several changes at once, so that followers are busy at the next one.
        home.start(post("/v1/tasks", R"({"description":"d"})", token, "k" + std::to_string(n)));
        if (n % 3 == 0) {
            for (int steps = 0; steps < n; ++steps) home.step();
        }
        expected.push_back(std::to_string(n));
    }
    home.advance(seconds{1});
    for (const auto& stream : all) EXPECT_EQ(seqs(*stream), expected);
}

// Followers of two accounts wait at the same seq and wake at the same time.
TEST_F(feed_stream, each_account_receives_its_own_changes) {
    const auto beside = home.make_account("beside", "TWO");
    const auto own = follow("", token), theirs = follow("", beside.token);
    for (int n = 0; n < 5; ++n) {
        const std::string key = "k" + std::to_string(n);
        home.start(post("/v1/tasks", R"({"description":"own"})", token, key));
        home.start(post("/v1/tasks", R"({"description":"theirs"})", beside.token, key));
        home.settle();
    }
    const auto descriptions = [](const read_stream& stream) {
        std::set<std::string> all;
        for (const auto& each : stream.events("change")) {
            all.insert(std::string(each.at("task").at("description").as_string()));
        }
        return all;
    };
    EXPECT_EQ(descriptions(*own), std::set<std::string>{"own"});
    EXPECT_EQ(descriptions(*theirs), std::set<std::string>{"theirs"});
    EXPECT_EQ(seqs(*own), (lines{"1", "2", "3", "4", "5"}));
    EXPECT_EQ(seqs(*theirs), (lines{"1", "2", "3", "4", "5"}));
}

TEST_F(feed_stream, heartbeats_have_the_position_of_the_account) {
    create("a", "one");
    const auto stream = follow("?after=now&tag=x", token);
    home.advance(seconds{16});
    ASSERT_EQ(stream->events("heartbeat").size(), 1u);
    EXPECT_EQ(stream->events("heartbeat")[0].at("last").as_int64(), 1);
    edit("SYN-1", R"({"description":"first"})");  // does not match the filter of this stream
    home.advance(seconds{16});
    ASSERT_EQ(stream->events("heartbeat").size(), 2u);
    const auto last = stream->events("heartbeat")[1];
    EXPECT_EQ(last.at("last").as_int64(), 2);
    EXPECT_EQ(cursor_of(last), cursor_of(get("/v1/changes?after=now")));
    EXPECT_TRUE(stream->events("change").empty());
}

// Changes that do not match the filter wake the stream, without an event.
TEST_F(feed_stream, heartbeats_are_sent_in_a_busy_account) {
    create("a", "one");
    const auto stream = follow("?after=now&tag=x", token);
    for (int n = 0; n < 8; ++n) {
        home.advance(seconds{10});
        edit("SYN-1", "{\"description\":\"d" + std::to_string(n) + "\"}");
    }
    home.advance(seconds{2});
    EXPECT_GE(stream->events("heartbeat").size(), 5u);
    EXPECT_EQ(stream->events("heartbeat").back().at("last").as_int64(), 8);
}

TEST_F(feed_stream, a_client_that_disconnects_is_removed_at_once) {
    const auto stream = follow("", token);
    EXPECT_EQ(*open_, 1);
    stream->leave();
    home.settle();
    EXPECT_EQ(*open_, 0);
}

TEST_F(feed_stream, a_revoked_token_receives_no_more_changes) {
    const std::string reader = home.make_token("home", token_scope::read);
    const auto one = follow("", reader), two = follow("", token);
    const auto found =
        home.look([&](read_tx& tx) { return tokens::find_principal(tx, sha256(reader)); });
    ASSERT_TRUE(home.run(home.engine().submit(revoke_token{found->token, account})));
    home.settle();
    ASSERT_EQ(one->events("end").size(), 1u);
    EXPECT_EQ(one->events("end")[0].at("code").as_string(), "invalid-token");
    EXPECT_EQ(*open_, 1);
    create("a", "one");
    home.settle();
    EXPECT_TRUE(one->events("change").empty());
    EXPECT_EQ(seqs(*two), lines{"1"});
}

TEST_F(feed_stream, a_disabled_account_receives_no_more_changes) {
    const auto stream = follow("", token);
    ASSERT_TRUE(home.run(home.engine().submit(edit_account{account, "renamed"})));
    home.settle();
    EXPECT_TRUE(stream->events("end").empty()) << "a new name does not end the stream";
    ASSERT_TRUE(home.run(home.engine().submit(edit_account{account, {}, true})));
    home.settle();
    ASSERT_EQ(stream->events("end").size(), 1u);
    EXPECT_EQ(stream->events("end")[0].at("code").as_string(), "account-disabled");
    EXPECT_EQ(*open_, 0);
}

TEST_F(feed_stream, an_expired_token_receives_no_more_changes) {
    std::string reader = api::make_token(home.entropy());
    create_token c{"home", "brief", token_scope::read, sha256(reader)};
    c.expires_at = home.clock().now() + seconds{40};
    ASSERT_TRUE(home.run(home.engine().submit(c)));
    const auto stream = follow("", reader);
    home.advance(seconds{39});
    EXPECT_TRUE(stream->events("end").empty());
    EXPECT_EQ(stream->events("heartbeat").size(), 2u);
    home.advance(seconds{2});
    ASSERT_EQ(stream->events("end").size(), 1u);
    EXPECT_EQ(*open_, 0);
}

TEST_F(feed_stream, a_server_that_stops_sends_the_reason) {
    const auto stream = follow("", token);
    const auto poll =
        home.start(make_request(verb::get, "/v1/changes?after=now&wait=30s", {}, bearer(token)));
    home.settle();
    home.service().stop_followers();
    home.settle();
    ASSERT_EQ(stream->events("end").size(), 1u);
    EXPECT_EQ(stream->events("end")[0].at("code").as_string(), "shutting-down");
    EXPECT_EQ(*open_, 0);
    EXPECT_TRUE(poll->has_value());
}

TEST_F(feed_stream, errors_are_reported_before_it_begins) {
    const auto rejected = [&](std::string_view query) {
        header_list headers = bearer(token);
        headers.emplace_back("Accept", "text/event-stream");
        const auto response = home.call(make_request(
            verb::get, "/v1/changes/stream" + std::string(query), {}, std::move(headers)));
        return std::to_string(response.status) + " " +
               std::string(json::parse(response.body).at("code").as_string());
    };
    EXPECT_EQ(rejected("?after=x"), "400 validation-failed");
    EXPECT_EQ(rejected("?limit=3"), "400 validation-failed");
    EXPECT_EQ(rejected("?after=0123456789ab.7"), "410 cursor-unknown");
}

// ---- limits ----

class few_followers : public feed_stream {
  protected:
    few_followers()
        : feed_stream({.service = {.feed = {.followers_max = 3, .account_followers_max = 2}}}) {}
};

TEST_F(few_followers, have_a_maximum) {
    const auto one = follow("", token), two = follow("", token);
    EXPECT_EQ(get("/v1/changes", 503).at("code").as_string(), "too-many-followers");
    const auto beside = home.make_account("beside", "TWO");
    const auto other = home.make_account("other", "SIX");
    const auto three = follow("", beside.token);
    const auto poll = [&] {
        return home.call(make_request(verb::get, "/v1/changes", {}, bearer(other.token))).status;
    };
    EXPECT_EQ(poll(), 503u);
    one->leave();
    home.settle();
    EXPECT_EQ(poll(), 200u);
    EXPECT_EQ(get("/v1/changes").at("last").as_int64(), 0);
}

}  // namespace
}  // namespace callsign::testing
