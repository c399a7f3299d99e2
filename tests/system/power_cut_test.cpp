// Goal: what was acknowledged survives a power cut at any call that changes the disk, over the file
// system that users have; and a disk whose syncs lie does lose, so that the test can tell. Method:
// the real program with a preloaded disk (failing_disk/power_cut.cpp) that is cut at a drawn call
// and keeps any part of what was not synced. Twins (twins.hpp) file tasks and retry; a follower
// reads the feed meanwhile. Every receipt is asked for again in the end, and the feed is read again
// from its beginning. CALLSIGN_POWER_CUTS sets how many lives it takes (by hand: 200),
// CALLSIGN_SYSTEM_SEED which keys and calls are drawn.

#include "support/setting.hpp"
#include "twins.hpp"

#include <algorithm>
#include <fstream>
#include <random>
#include <stdexcept>
#include <thread>

namespace callsign::testing {
namespace {

// Not under sanitizers: their runtime wants to be loaded before anything else.
#ifdef CALLSIGN_POWER_CUT

// The changes behind a cursor, as they were shown.
class reader {
  public:
    reader(std::uint16_t port, const std::string& token) : http_(port, token) {}

    // False: nothing was read, for now.
    bool read_page() {
        const auto answer = http_.get("/v1/changes?limit=1000&after=" + cursor_);
        if (!answer || answer->status == 503) return false;
        if (answer->status != 200) {
            fault = answer->body;
            return false;
        }
        const json::object page = json::parse(answer->body).as_object();
        cursor_ = std::string(page.at("cursor").as_string());
        const auto* const changes = page.if_contains("changes");
        if (!changes || changes->as_array().empty()) return false;
        for (const auto& change : changes->as_array()) shown.push_back(json::serialize(change));
        return true;
    }
    void read_until(const std::atomic<bool>& done) {
        while (!done && fault.empty()) {
            if (!read_page()) std::this_thread::sleep_for(5ms);  // between two questions
        }
    }

    std::vector<std::string> shown{};
    std::string fault{};

  private:
    http_client http_;
    std::string cursor_ = "0";
};

class power_cut_test : public system_test {
  protected:
    environment disk(bool syncs_lie = false) const {
        environment all{{"LD_PRELOAD", CALLSIGN_POWER_CUT},
                        {"CALLSIGN_POWER_CUT_DIR", data_dir().string()},
                        {"CALLSIGN_POWER_CUT", temp_path("cut").string()},
                        // So that pages of the database are written while it serves, too.
                        {"CALLSIGN_STORE_MOVED_PAGES_MAX", "64"}};
        if (syncs_lie) all.emplace_back("CALLSIGN_SYNCS_LIE", "1");
        return all;
    }
    // The power goes after so many calls more.
    void arm(std::uint64_t calls, std::uint64_t seed) const {
        std::ofstream(temp_path("cut.new")) << calls << ' ' << seed;
        std::filesystem::rename(temp_path("cut.new"), temp_path("cut"));
    }
    static void await_cut(server& s) {
        ASSERT_EQ(s.child().wait(patience), (exit_status{-1, SIGKILL})) << s.child().errors();
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
    reader meanwhile(s->port(), all.token);
    std::atomic<bool> is_over{false};
    threads.emplace_back([&] { meanwhile.read_until(is_over); });

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
        // While it recovers, too, unless that takes fewer calls.
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
    std::for_each(threads.begin(), threads.end() - 1, [](std::thread& t) { t.join(); });
    is_over = true;
    threads.back().join();

    EXPECT_EQ(all.book.faults(), "");
    audit_numbers(all.book);
    audit_replays(*s, all.token, all.book);
    EXPECT_EQ(meanwhile.fault, "");
    reader again(s->port(), all.token);
    while (again.read_page()) {
    }
    ASSERT_GE(again.shown.size(), meanwhile.shown.size());
    EXPECT_EQ(again.shown.size(), all.book.entries().size()) << "each is one change";
    for (std::size_t i = 0; i < meanwhile.shown.size(); ++i) {
        ASSERT_EQ(again.shown[i], meanwhile.shown[i]);
    }
    s->child().kill();
    expect_sound();
    RecordProperty("creations", std::to_string(all.book.entries().size()));
    RecordProperty("shown", std::to_string(meanwhile.shown.size()));
    RecordProperty("cut_at_start", std::to_string(cut_at_start));
}

// The control: without syncs the same disk loses what was acknowledged, and that is seen.
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
        lost = 50;  // there is nothing it could start with
    }
    EXPECT_GT(lost, 0);
}

#endif

}  // namespace
}  // namespace callsign::testing
