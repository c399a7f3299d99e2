// Following changes: a long poll, a stream of events, and who is told to go.

#include "callsign/v1/callsign.pb.h"
#include "support/house.hpp"

#include <callsign/wire/message.hpp>

#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <set>

namespace callsign::testing {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;
using asio::awaitable;
using std::chrono::seconds;

// Takes what is streamed, as a client would that reads at once.
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

    // Of each event of the kind: its data.
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

class feed_api : public ::testing::Test {
  protected:
    explicit feed_api(house_options options = {}) : home(std::move(options)) {
        const auto made = home.make_account("home", "SYN");
        account = made.id;
        token = made.token;
    }

    json::object get(std::string_view target, unsigned status = 200) {
        const auto response = home.call(make_request(verb::get, target, {}, bearer(token)));
        EXPECT_EQ(response.status, status) << response.body;
        return json::parse(response.body).as_object();
    }
    std::string create(std::string key, std::string description) {
        const auto response =
            home.call(post("/v1/tasks", "{\"description\":\"" + description + "\"}", token, key));
        EXPECT_EQ(response.status, 201u) << response.body;
        return std::string(json::parse(response.body).at("key").as_string());
    }
    void edit(const std::string& key, std::string body) {
        auto request =
            make_request(verb::patch, "/v1/tasks/" + key, std::move(body), bearer(token));
        request.set(boost::beast::http::field::content_type, "application/json");
        EXPECT_EQ(home.call(std::move(request)).status, 200u);
    }
    static std::vector<std::string> texts(const json::object& answer) {
        std::vector<std::string> all;
        for (const auto& each : answer.at("changes").as_array()) {
            const auto& task = each.at("task").as_object();
            all.push_back(std::string(task.at("key").as_string()) + " " +
                          (task.contains("description")
                               ? std::string(task.at("description").as_string())
                               : "purged"));
        }
        return all;
    }
    static std::string cursor_of(const json::object& answer) {
        return std::string(answer.at("cursor").as_string());
    }
    using lines = std::vector<std::string>;
    using verb = boost::beast::http::verb;

    house home;
    account_id account;
    std::string token;
};

TEST_F(feed_api, shows_what_came_after_a_cursor) {
    create("a", "one");
    edit("SYN-1", R"({"description":"first", "tags":["x","y"], "attributes":{"estimate":"3"}})");
    const json::object all = get("/v1/changes");
    EXPECT_EQ(texts(all), (lines{"SYN-1 one", "SYN-1 first"}));
    EXPECT_EQ(all.at("last").as_int64(), 2);
    const auto& second = all.at("changes").at(1).as_object();
    EXPECT_EQ(second.at("seq").as_int64(), 2);
    EXPECT_EQ(second.at("by").as_string(), "default");
    EXPECT_EQ(json::serialize(second.at("changed")),
              R"(["attributes.estimate","description","modified","tags"])");
    EXPECT_EQ(second.at("cursor").as_string(), cursor_of(all));
    EXPECT_FALSE(second.at("purged").as_bool());
    // From each cursor there is, and from the last one nothing.
    const std::string first(all.at("changes").at(0).at("cursor").as_string());
    EXPECT_EQ(texts(get("/v1/changes?after=" + first)), lines{"SYN-1 first"});
    const json::object end = get("/v1/changes?after=" + cursor_of(all));
    EXPECT_TRUE(end.at("changes").as_array().empty());
    EXPECT_EQ(cursor_of(end), cursor_of(all));
    EXPECT_EQ(cursor_of(get("/v1/changes?after=now")), cursor_of(all));
    const json::object one = get("/v1/changes?limit=1");
    EXPECT_EQ(texts(one), lines{"SYN-1 one"});
    EXPECT_EQ(cursor_of(one), first);
    EXPECT_EQ(one.at("last").as_int64(), 2);
}

TEST_F(feed_api, an_opaque_account_has_none) {
    const std::string sealed = api::make_token(home.entropy());
    ASSERT_TRUE(home.run(home.engine().submit(create_account{
        "sealed", "SEA", "default", sha256(sealed), make_uuid_v7(time_point{}, 1, 1)})));
    for (const char* path : {"/v1/changes", "/v1/changes/stream"}) {
        const auto no = home.call(make_request(verb::get, path, {}, bearer(sealed)));
        EXPECT_EQ(no.status, 409u) << path;
        EXPECT_NE(no.body.find("account-opaque"), std::string::npos);
    }
    EXPECT_EQ(home.service().follower_count(), 0u);
}

TEST_F(feed_api, an_empty_account_has_a_cursor_too) {
    EXPECT_EQ(cursor_of(get("/v1/changes")), "0");
    EXPECT_EQ(cursor_of(get("/v1/changes?after=now")), "0");
}

TEST_F(feed_api, every_fault_of_the_question_is_listed) {
    const json::object why =
        get("/v1/changes?after=x&limit=0&wait=90s&is=blocked&sort=key&status=done&pageSize=3", 400);
    lines fields;
    for (const auto& error : why.at("errors").as_array()) {
        fields.emplace_back(error.at("field").as_string());
    }
    std::sort(fields.begin(), fields.end());
    EXPECT_EQ(fields, (lines{"after", "is", "limit", "pageSize", "sort", "status", "wait"}));
    for (const char* bad :
         {"1", "-1", "0.1", "NOW", "0123456789ab", "0123456789ab.0", "0123456789ab.01",
          "0123456789ab.1.", "0123456789ab.1.0", "0123456789AB.1", "0123456789ab.1.1.1",
          "0123456789ab.99999999999999999999"}) {
        EXPECT_EQ(get("/v1/changes?after=" + std::string(bad), 400).at("code").as_string(),
                  "validation-failed")
            << bad;
    }
}

TEST_F(feed_api, a_cursor_of_another_history_is_refused_with_one_that_holds) {
    create("a", "one");
    create("b", "two");
    const std::string end = cursor_of(get("/v1/changes"));
    for (const std::string& other :
         {end.substr(0, 12) + ".1", end.substr(0, 12) + ".3", std::string("000000000000.2")}) {
        const json::object why = get("/v1/changes?after=" + other, 410);
        EXPECT_EQ(why.at("code").as_string(), "cursor-unknown");
        EXPECT_EQ(cursor_of(why), end);
    }
}

TEST_F(feed_api, a_cursor_of_what_is_forgotten_is_refused_with_the_oldest) {
    create("a", "one");
    edit("SYN-1", R"({"description":"first"})");
    edit("SYN-1", R"({"description":"1st"})");
    home.advance(std::chrono::hours{24 * 31});
    ASSERT_TRUE(home.run(home.reaper().sweep_once()));
    const json::object why = get("/v1/changes?after=0", 410);
    EXPECT_EQ(why.at("code").as_string(), "cursor-expired");
    EXPECT_EQ(texts(get("/v1/changes?after=" + cursor_of(why))), lines{"SYN-1 1st"});
}

TEST_F(feed_api, a_filter_is_a_lists) {
    create("a", "one");
    create("b", "two");
    edit("SYN-2", R"({"tags":["x"]})");
    edit("SYN-1", R"({"status":"completed"})");
    EXPECT_EQ(texts(get("/v1/changes?tag=x")), lines{"SYN-2 two"});
    EXPECT_EQ(texts(get("/v1/changes?status=completed")), lines{"SYN-1 one"});
    EXPECT_EQ(texts(get("/v1/changes?text=O")),
              (lines{"SYN-1 one", "SYN-2 two", "SYN-2 two", "SYN-1 one"}));
    EXPECT_EQ(get("/v1/changes?prefix=NIX", 400).at("errors").at(0).at("code").as_string(),
              "unknown-prefix");
}

TEST_F(feed_api, a_poll_waits_for_a_change) {
    const auto answer =
        home.start(make_request(verb::get, "/v1/changes?after=now&wait=30s", {}, bearer(token)));
    home.advance(seconds{29});
    EXPECT_FALSE(answer->has_value());
    create("a", "one");
    home.settle();
    ASSERT_TRUE(answer->has_value());
    EXPECT_EQ(texts(json::parse((*answer)->body).as_object()), lines{"SYN-1 one"});
}

TEST_F(feed_api, a_poll_ends_without_one) {
    create("a", "one");
    const auto other =
        home.start(make_request(verb::get, "/v1/changes?after=now&wait=30s", {}, bearer(token)));
    const auto filtered = home.start(
        make_request(verb::get, "/v1/changes?after=now&wait=30s&tag=x", {}, bearer(token)));
    home.advance(seconds{10});
    edit("SYN-1", R"({"description":"first"})");  // another's
    home.advance(seconds{19});
    EXPECT_TRUE(other->has_value());
    EXPECT_FALSE(filtered->has_value());
    home.advance(seconds{2});
    ASSERT_TRUE(filtered->has_value());
    const auto answer = json::parse((*filtered)->body).as_object();
    EXPECT_TRUE(answer.at("changes").as_array().empty());
    EXPECT_EQ(cursor_of(answer), cursor_of(get("/v1/changes?after=now")));
}

TEST_F(feed_api, a_poll_ends_when_its_connection_does) {
    for (const bool before : {false, true}) {
        auto asked = make_request(verb::get, "/v1/changes?after=now&wait=30s", {}, bearer(token));
        const auto end = std::make_shared<net::early_end>();
        asked.ending = end;
        if (before) end->come();
        const auto answer = home.start(std::move(asked));
        home.settle();
        EXPECT_EQ(answer->has_value(), before);
        end->come();
        home.settle();
        ASSERT_TRUE(answer->has_value());
        EXPECT_EQ((*answer)->status, 200u);
        EXPECT_EQ(home.service().follower_count(), 0u);
    }
}

TEST_F(feed_api, other_accounts_wake_nobody) {
    const auto beside = home.make_account("beside", "TWO");
    const auto answer =
        home.start(make_request(verb::get, "/v1/changes?after=now&wait=30s", {}, bearer(token)));
    home.settle();
    EXPECT_EQ(home.call(post("/v1/tasks", R"({"description":"theirs"})", beside.token, "a")).status,
              201u);
    home.advance(seconds{29});
    EXPECT_FALSE(answer->has_value());
    const auto theirs = home.call(make_request(verb::get, "/v1/changes", {}, bearer(beside.token)));
    EXPECT_EQ(texts(json::parse(theirs.body).as_object()), lines{"TWO-1 theirs"});
}

TEST_F(feed_api, changes_that_there_is_no_memory_for_are_not_kept) {
    create("a", std::string(500, 'x'));
    const auto budget = std::make_shared<net::body_budget>(20'000, 10'000);
    for (const bool crowded : {false, true}) {
        net::body_lease others(budget, account);
        if (crowded) others.reserve(9'000);
        for (const char* path : {"/v1/changes", "/v1/changes/stream"}) {
            auto asked = make_request(verb::get, path, {}, bearer(token));
            asked.memory = std::make_shared<net::body_lease>(budget);
            const auto response = home.call(std::move(asked));
            EXPECT_EQ(response.status, crowded ? 503u : 200u) << path;
            EXPECT_EQ(header(response, "Retry-After"), crowded ? "1" : "") << path;
        }
    }
    EXPECT_EQ(budget->held(), 0u);
}

// ---- the stream ----

class feed_stream : public feed_api {
  protected:
    using feed_api::feed_api;

    // Follows from there, in the background.
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

TEST_F(feed_stream, holds_what_it_writes_and_no_more) {
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
    // Who cannot be told any more goes, and comes back when there is room.
    net::body_lease others(budget, account);
    others.reserve(9'000);
    create("b", "two");
    home.settle();
    EXPECT_EQ(*open_, 0);
    ASSERT_EQ(stream->events("end").size(), 1u);
    EXPECT_EQ(stream->events("end")[0].at("code").as_string(), "overloaded");
}

TEST_F(feed_stream, tells_what_was_and_what_comes) {
    create("a", "one");
    const auto stream = follow("", token);
    EXPECT_EQ(seqs(*stream), lines{"1"});
    create("b", "two");
    edit("SYN-1", R"({"description":"first"})");
    home.settle();
    EXPECT_EQ(seqs(*stream), (lines{"1", "2", "3"}));
    // Each event's id is where to go on from.
    const auto second = stream->events("change")[1];
    EXPECT_NE(stream->text.find("id: " + cursor_of(second) + "\nevent: change\n"),
              std::string::npos);
    EXPECT_EQ(seqs(*follow("?after=now", token, cursor_of(second))), lines{"3"});
    EXPECT_EQ(seqs(*follow("?after=" + cursor_of(second), token)), lines{"3"});
    EXPECT_EQ(seqs(*follow("?after=now", token)), lines{});
}

TEST_F(feed_stream, each_of_many_hears_all_of_it) {
    std::vector<std::shared_ptr<read_stream>> all;
    for (int n = 0; n < 20; ++n) all.push_back(follow("?after=now", token));
    lines expected;
    for (int n = 1; n <= 30; ++n) {
        // Some at once, so that followers are busy when the next one comes.
        home.start(post("/v1/tasks", R"({"description":"d"})", token, "k" + std::to_string(n)));
        if (n % 3 == 0) {
            for (int steps = 0; steps < n; ++steps) home.step();
        }
        expected.push_back(std::to_string(n));
    }
    home.advance(seconds{1});
    for (const auto& stream : all) EXPECT_EQ(seqs(*stream), expected);
}

// They stand at the same seq and wake at once.
TEST_F(feed_stream, each_account_hears_its_own) {
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

TEST_F(feed_stream, heartbeats_say_where_the_account_is) {
    create("a", "one");
    const auto stream = follow("?after=now&tag=x", token);
    home.advance(seconds{16});
    ASSERT_EQ(stream->events("heartbeat").size(), 1u);
    EXPECT_EQ(stream->events("heartbeat")[0].at("last").as_int64(), 1);
    edit("SYN-1", R"({"description":"first"})");  // not for this one
    home.advance(seconds{16});
    ASSERT_EQ(stream->events("heartbeat").size(), 2u);
    const auto last = stream->events("heartbeat")[1];
    EXPECT_EQ(last.at("last").as_int64(), 2);
    EXPECT_EQ(cursor_of(last), cursor_of(get("/v1/changes?after=now")));
    EXPECT_TRUE(stream->events("change").empty());
}

// Others' changes wake it, and are none that it hears of.
TEST_F(feed_stream, heartbeats_come_however_busy_the_account_is) {
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

TEST_F(feed_stream, who_leaves_is_forgotten_at_once) {
    const auto stream = follow("", token);
    EXPECT_EQ(*open_, 1);
    stream->leave();
    home.settle();
    EXPECT_EQ(*open_, 0);
}

TEST_F(feed_stream, a_revoked_token_hears_no_more) {
    const std::string reader = home.make_token("home", token_scope::read);
    const auto one = follow("", reader), two = follow("", token);
    const auto found = home.look([&](read_tx& tx) { return tx.find_principal(sha256(reader)); });
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

TEST_F(feed_stream, of_a_disabled_account_nobody_hears_more) {
    const auto stream = follow("", token);
    ASSERT_TRUE(home.run(home.engine().submit(edit_account{account, "renamed"})));
    home.settle();
    EXPECT_TRUE(stream->events("end").empty()) << "its name is nothing to a stream";
    ASSERT_TRUE(home.run(home.engine().submit(edit_account{account, {}, true})));
    home.settle();
    ASSERT_EQ(stream->events("end").size(), 1u);
    EXPECT_EQ(stream->events("end")[0].at("code").as_string(), "account-disabled");
    EXPECT_EQ(*open_, 0);
}

TEST_F(feed_stream, an_expired_token_hears_no_more) {
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

TEST_F(feed_stream, a_server_that_stops_says_so) {
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

TEST_F(feed_stream, what_is_wrong_is_said_before_it_begins) {
    const auto refused = [&](std::string_view query) {
        header_list headers = bearer(token);
        headers.emplace_back("Accept", "text/event-stream");
        const auto response = home.call(make_request(
            verb::get, "/v1/changes/stream" + std::string(query), {}, std::move(headers)));
        return std::to_string(response.status) + " " +
               std::string(json::parse(response.body).at("code").as_string());
    };
    EXPECT_EQ(refused("?after=x"), "400 validation-failed");
    EXPECT_EQ(refused("?limit=3"), "400 validation-failed");
    EXPECT_EQ(refused("?after=0123456789ab.7"), "410 cursor-unknown");
}

// ---- the socket ----

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

TEST_F(feed_socket, says_the_same_in_both_forms) {
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

TEST_F(feed_socket, holds_what_it_sends_and_no_more) {
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

TEST_F(feed_socket, says_why_it_ends) {
    const auto stopped = follow("", "", "");
    home.service().stop_followers();
    home.settle();
    ASSERT_EQ(stopped->messages.size(), 1u);
    EXPECT_EQ(json::parse(stopped->messages[0]).at("end").at("code").as_string(), "shutting-down");
    EXPECT_EQ(stopped->code, 1001);
}

TEST_F(feed_socket, a_revoked_token_is_against_the_rules) {
    const auto socket = follow("", "", "");
    const auto found = home.look([&](read_tx& tx) { return tx.find_principal(sha256(token)); });
    ASSERT_TRUE(home.run(home.engine().submit(revoke_token{found->token, account})));
    home.settle();
    EXPECT_EQ(socket->code, 1008);
    socket->told = {};  // as a session does
    EXPECT_EQ(home.service().follower_count(), 0u);
}

TEST_F(feed_socket, is_refused_with_a_status) {
    EXPECT_EQ(home.call(asking("", "mqtt")).status, 400u);
    EXPECT_EQ(home.call(asking("?after=x", "")).status, 400u);
    EXPECT_EQ(home.call(asking("?after=0123456789ab.7", "")).status, 410u);
    const auto no = home.call(make_request(verb::get, "/v1/changes/socket", {}, bearer(token)));
    EXPECT_EQ(no.status, 426u);
    EXPECT_EQ(header(no, "Upgrade"), "websocket");
}

// ---- how many ----

class few_followers : public feed_stream {
  protected:
    few_followers()
        : feed_stream({.service = {.feed = {.followers_max = 3, .account_followers_max = 2}}}) {}
};

TEST_F(few_followers, there_are_no_more_than_may_be) {
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
