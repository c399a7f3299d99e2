// Goal: a follower receives each change exactly once, however many clients write and read
// concurrently, and whatever happens to the server. Polling by a version assigned before its
// transaction commits would lose the slower of two concurrent writes; here a change gets its seq in
// its own transaction.
//
// Method: many concurrent writers and followers (long polls, event streams, WebSockets) of several
// accounts, while the server is killed at random and restarted. Each follower verifies that its
// account's seqs are contiguous. CALLSIGN_SYSTEM_SEED determines the moments.

#include "fixture.hpp"
#include "support/feed_client.hpp"
#include "support/setting.hpp"

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/serialize.hpp>
#include <deque>
#include <random>
#include <thread>

namespace callsign::testing {
namespace {

namespace asio = boost::asio;
using asio::awaitable;

constexpr int accounts = 4;
// With a sanitizer, which is ten times slower, the presets set a tenth of this.
const int crowd_size = static_cast<int>(setting("CALLSIGN_FEED_CROWD").value_or(300));
const int writers = crowd_size * 2 / 5;
const int followers = crowd_size - writers;
constexpr int creations_each = 10;
constexpr int kills = 8;

// Creates its tasks and changes each once, and retries until the outcome is known.
class writer {
  public:
    writer(feed_account account, int number) : account_(std::move(account)), number_(number) {}

    awaitable<void> work() {
        const auto executor = co_await asio::this_coro::executor;
        net::http_client http(executor, {.port = std::to_string(account_.port)});
        for (int n = 0; n < creations_each; ++n) {
            const std::string key = std::to_string(number_) + "-" + std::to_string(n);
            net::http_call creation{"POST", "/v1/tasks", headers(), R"({"description":"d"})"};
            creation.headers.emplace_back("Idempotency-Key", "\"" + key + "\"");
            const std::string made = co_await ask(http, creation, 201);
            const std::string ref(json::parse(made).at("key").as_string());
            net::http_call change{"PATCH", "/v1/tasks/" + ref, headers(),
                                  R"({"description":"changed by )" + key + "\"}"};
            co_await ask(http, change, 200);
        }
        ++done;
        done.notify_all();
    }

    static inline std::atomic<int> done = 0;

  private:
    net::http_field_list headers() const {
        return {{"Authorization", "Bearer " + account_.token},
                {"Content-Type", "application/json"}};
    }

    static awaitable<std::string> ask(net::http_client& http, net::http_call call,
                                      unsigned expected) {
        for (;;) {
            auto answer = co_await http.exchange(call);
            if (answer && answer->status == expected) co_return answer->body;
            if (answer && answer->status != 503 && answer->status != 409) {
                ADD_FAILURE() << answer->status << " " << answer->body;
            }
            asio::steady_timer pause(co_await asio::this_coro::executor, 20ms);
            co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
        }
    }

    feed_account account_;
    int number_;
};

using feed_test = system_test;

TEST_F(feed_test, a_crowd_sees_each_change_once_and_in_order_across_kills) {
    const auto seed = system_seed();
    SCOPED_TRACE("CALLSIGN_SYSTEM_SEED=" + std::to_string(seed));
    std::mt19937_64 random(seed);
    auto s = start({}, {{"CALLSIGN_HTTP_CONNECTIONS_PER_ADDRESS_MAX", "2000"},
                        {"CALLSIGN_FEED_HEARTBEAT", "1s"}});
    std::vector<feed_account> all;
    for (int n = 0; n < accounts; ++n) {
        all.push_back(
            {s->port(), make_account(*s, "a" + std::to_string(n), "A" + std::to_string(n))});
    }

    asio::io_context io{1};
    std::atomic<std::int64_t> last_seqs[accounts];
    for (auto& last : last_seqs) last = -1;  // not known yet
    std::deque<writer> writing;
    std::deque<feed_client> following;
    std::vector<heard> books(static_cast<std::size_t>(followers));
    std::atomic<int> ended = 0;
    writer::done = 0;
    for (int n = 0; n < writers; ++n) {
        asio::co_spawn(io, writing.emplace_back(all[n % accounts], n).work(), asio::detached);
    }
    for (int n = 0; n < followers; ++n) {
        const auto enough = [&last = last_seqs[n % accounts], &book = books[n]] {
            return last >= 0 && book.seq >= last;
        };
        auto& client = following.emplace_back(all[n % accounts], books[n], enough);
        asio::co_spawn(io,
                       n % 3 == 0   ? client.poll()
                       : n % 3 == 1 ? client.stream()
                                    : client.talk(),
                       [&, n](const std::exception_ptr& e) {
                           if (e) books[n].reject("an exception");
                           ++ended;
                           ended.notify_all();
                       });
    }
    std::thread running([&] { io.run(); });
    const auto await = [](const std::atomic<int>& count, int wanted) {
        for (int n = count; n < wanted; n = count) count.wait(n);
    };
    for (int n = 0; n < kills; ++n) {
        const int more = writer::done + 1 + static_cast<int>(random() % (writers / kills));
        await(writer::done, std::min(more, writers));
        s->child().kill();
        s->start();
    }
    await(writer::done, writers);
    for (int n = 0; n < accounts; ++n) {
        http_client owner(s->port(), all[n].token);
        const auto answer = owner.get("/v1/changes?after=now");
        ASSERT_TRUE(answer && answer->status == 200);
        last_seqs[n] = json::parse(answer->body).at("last").as_int64();
        EXPECT_GE(last_seqs[n], 2 * creations_each * writers / accounts);
    }
    await(ended, followers);
    running.join();
    std::int64_t connections = 0;
    for (int n = 0; n < followers && !HasFailure(); ++n) {
        EXPECT_EQ(books[n].fault, "") << "follower " << n;
        EXPECT_EQ(books[n].seq, last_seqs[n % accounts]) << "follower " << n;
        EXPECT_EQ(books[n].changes, last_seqs[n % accounts]) << "follower " << n;
        connections += books[n].connections;
    }
    EXPECT_GT(connections, followers);
    s->child().kill();
    expect_sound();
}

TEST_F(feed_test, a_server_that_stops_notifies_its_followers) {
    auto s = start();
    const std::string token = make_account(*s, "board", "SYN");
    http_client client(s->port(), token);
    ASSERT_TRUE(client.send("GET /v1/changes/stream HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " +
                            token + "\r\n\r\n"));
    http_client asking(s->port());
    for (bool follows = false; !follows;) {
        follows =
            asking.get("/metrics")->body.find("\ncallsign_followers 1\n") != std::string::npos;
    }
    s->child().signal(SIGTERM);
    // The chunked response ends regularly.
    const auto whole = client.receive();
    ASSERT_TRUE(whole);
    EXPECT_NE(whole->body.find("event: end\ndata: {"), std::string::npos);
    EXPECT_NE(whole->body.find("\"code\":\"shutting-down\""), std::string::npos);
    expect_exit(s->child(), 0);
}

// Two different histories have the same seqs; their cursors are not interchangeable.
TEST_F(feed_test, a_restored_store_is_noticed) {
    auto s = start();
    const std::string token = make_account(*s, "board", "SYN");
    const auto create = [&](const std::string& key) {
        http_client client(s->port(), token);
        const auto made = client.post_json("/v1/tasks", R"({"description":"d"})", key);
        ASSERT_TRUE(made && made->status == 201);
    };
    create("one");
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    std::filesystem::copy(data_dir(), temp_path("backup"),
                          std::filesystem::copy_options::recursive);
    s->start();
    create("two");
    const auto cursor = [&] {
        http_client client(s->port(), token);
        return std::string(json::parse(client.get("/v1/changes")->body).at("cursor").as_string());
    };
    const std::string lost = cursor();
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    std::filesystem::remove_all(data_dir());
    std::filesystem::rename(temp_path("backup"), data_dir());
    s->start();
    http_client client(s->port(), token);
    EXPECT_EQ(client.get("/v1/changes?after=" + lost)->status, 410u);
    create("three");
    const auto answer = client.get("/v1/changes?after=" + lost);
    EXPECT_EQ(answer->status, 410u);
    EXPECT_EQ(json::parse(answer->body).at("code").as_string(), "cursor-unknown");
    EXPECT_EQ(json::parse(answer->body).at("cursor").as_string(), cursor());
}

}  // namespace
}  // namespace callsign::testing
