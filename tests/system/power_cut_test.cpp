// Goal: acknowledged data survives a power cut at any call that changes the disk, on the file
// system that users have; a disk that ignores syncs must lose data, which verifies the method.
// Method: the real program with a preloaded disk (failing_disk/power_cut.cpp) that loses power at a
// random call and keeps any part of the unsynced data. Twins (twins.hpp) create tasks and retry;
// followers use long polls, an event stream and a WebSocket. At the end every receipt is queried
// again, and the feed is read again from its beginning in each way. CALLSIGN_POWER_CUTS sets the
// number of cuts (manual runs: 200), CALLSIGN_SYSTEM_SEED determines keys and calls.

#include "support/feed_client.hpp"
#include "support/setting.hpp"
#include "support/spawn.hpp"
#include "twins.hpp"

#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <fstream>
#include <limits>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>

namespace callsign::testing {
namespace {

namespace asio = boost::asio;

// Not with sanitizers: their runtime must be loaded first.
#ifdef CALLSIGN_POWER_CUT

// The changes that a follower of each kind received.
class feed_crowd {
  public:
    // `last`: the last change to wait for, if known.
    feed_crowd(std::uint16_t port, const std::string& token, std::int64_t last = never)
        : last_(last) {
        for (auto& each : all_) {
            each.book.tell = [&](const json::object& change) {
                each.shown.push_back(json::serialize(change));
            };
            each.client.emplace(feed_account{port, token}, each.book,
                                [&] { return each.book.seq >= last_; });
        }
        spawn(all_[0].client->poll());
        spawn(all_[1].client->stream());
        spawn(all_[2].client->talk());
        running_ = std::thread([this] { io_.run(); });
    }
    ~feed_crowd() {
        if (!running_.joinable()) return;
        io_.stop();
        running_.join();
    }
    feed_crowd(const feed_crowd&) = delete;
    feed_crowd& operator=(const feed_crowd&) = delete;

    void end_after(std::int64_t last) { last_ = last; }

    // Returns each follower's changes, once all have ended.
    std::array<std::vector<std::string>, 3> shown() {
        running_.join();
        std::array<std::vector<std::string>, 3> shown;
        for (std::size_t n = 0; n < all_.size(); ++n) {
            EXPECT_EQ(all_[n].book.fault, "") << n;
            shown[n] = std::move(all_[n].shown);
        }
        return shown;
    }

  private:
    static constexpr auto never = std::numeric_limits<std::int64_t>::max();

    struct follower {
        heard book;
        std::vector<std::string> shown;
        std::optional<feed_client> client;
    };

    void spawn(asio::awaitable<void> work) { testing::spawn(io_.get_executor(), std::move(work)); }

    asio::io_context io_{1};
    std::array<follower, 3> all_;
    std::atomic<std::int64_t> last_;
    std::thread running_;
};

class power_cut_test : public system_test {
  protected:
    environment disk(bool syncs_lie = false) const {
        environment all{{"LD_PRELOAD", CALLSIGN_POWER_CUT},
                        {"CALLSIGN_POWER_CUT_DIR", data_dir().string()},
                        {"CALLSIGN_POWER_CUT", temp_path("cut").string()},
                        // So that database pages are written while the server runs, too.
                        {"CALLSIGN_STORE_MOVED_PAGES_MAX", "64"}};
        if (syncs_lie) all.emplace_back("CALLSIGN_SYNCS_LIE", "1");
        return all;
    }
    // Cuts the power after this number of further calls.
    void arm(std::uint64_t calls, std::uint64_t seed) const {
        std::ofstream(temp_path("cut.new")) << calls << ' ' << seed;
        std::filesystem::rename(temp_path("cut.new"), temp_path("cut"));
    }
    static void await_cut(server& s) {
        ASSERT_EQ(s.child().wait(timeout), (exit_status{-1, SIGKILL})) << s.child().errors();
    }
};

TEST_F(power_cut_test, what_was_acknowledged_survives_a_cut_at_any_call) {
    const auto lives = setting("CALLSIGN_POWER_CUTS").value_or(3);
    const auto seed = system_seed();
    SCOPED_TRACE("CALLSIGN_SYSTEM_SEED=" + std::to_string(seed));
    constexpr unsigned pairs = 2;

    auto s = start({}, disk());
    twins_crew all{s->port(), make_account(*s, "crew", prefixes[0]), {}, {}};
    http_client owner(s->port(), all.token);
    const auto series = owner.post_json("/v1/series", R"({"prefix":"INC"})");
    ASSERT_TRUE(series && series->status == 201);

    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 2 * pairs; ++i)
        threads.emplace_back(&twins_crew::work, &all, seed + i / 2, seed + 1000 + i);
    feed_crowd meanwhile(s->port(), all.token);

    std::mt19937_64 random(seed);
    std::uint64_t cut_at_start = 0;
    bool is_armed = false;
    for (std::uint64_t life = 0; life < lives; ++life) {
        if (!is_armed) {
            all.book.await(all.book.acknowledged() + 1 + random() % 100);
            arm(random() % 400, random());
        }
        await_cut(*s);
        if (HasFatalFailure()) break;
        // During recovery, too, unless it makes fewer calls.
        is_armed = random() % 3 == 0;
        if (is_armed) arm(random() % 40, random());
        for (bool is_up = false; !is_up;) {
            try {
                s->start();
                is_up = true;
            } catch (const std::runtime_error& why) {
                ASSERT_TRUE(std::exchange(is_armed, false)) << why.what();
                await_cut(*s);
                ++cut_at_start;
            }
        }
    }
    if (is_armed) {
        await_cut(*s);
        s->start();
    }
    all.done = true;
    for (auto& t : threads) t.join();

    EXPECT_EQ(all.book.faults(), "");
    audit_numbers(all.book);
    audit_replays(*s, all.token, all.book);
    const auto count = static_cast<std::int64_t>(all.book.entries().size());
    meanwhile.end_after(count);
    s->child().kill();  // so that no client waits any longer
    s->start();
    const auto shown = meanwhile.shown();
    for (const auto& again : feed_crowd(s->port(), all.token, count).shown()) {
        EXPECT_EQ(std::ssize(again), count) << "one change per task";
        for (const auto& before : shown) EXPECT_TRUE(before == again);
    }
    s->child().kill();
    expect_sound();
    RecordProperty("creations", std::to_string(all.book.entries().size()));
    RecordProperty("shown", std::to_string(shown[0].size()));
    RecordProperty("cut_at_start", std::to_string(cut_at_start));
}

// The control: a disk that ignores syncs loses acknowledged data, and the test detects it.
TEST_F(power_cut_test, a_disk_whose_syncs_lie_is_found_out) {
    auto s = start({}, disk(true));
    const std::string token = make_account(*s, "crew", "SYN");
    std::map<std::string, std::string> receipts;
    http_client client(s->port(), token);
    for (int n = 0; n < 50; ++n) {
        const std::string key = "key-" + std::to_string(n);
        const auto made = client.post_json("/v1/tasks", R"({"description":"lost"})", key);
        ASSERT_TRUE(made && made->status == 201);
        receipts[key] = made->body;
    }
    arm(0, system_seed());
    client.post_json("/v1/tasks", R"({"description":"the last"})", "last");
    await_cut(*s);
    int lost = 0;
    try {
        s->start();
        for (const auto& [key, receipt] : receipts) {
            const auto again = client.post_json("/v1/tasks", R"({"description":"lost"})", key);
            if (!again || again->body != receipt) ++lost;
        }
    } catch (const std::runtime_error&) {
        lost = 50;  // the server cannot start at all
    }
    EXPECT_GT(lost, 0);
}

#endif

}  // namespace
}  // namespace callsign::testing
