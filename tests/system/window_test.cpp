// Goal: a real server derives the reaper's window from real retries: the window follows them,
// survives a kill, and a reload can fix it and restore "auto".

#include "fixture.hpp"

#include <chrono>
#include <fstream>
#include <thread>

namespace callsign::testing {
namespace {

class window_test : public system_test {
  protected:
    std::string write_config(const std::string& window, const std::string& window_max) const {
        const auto file = temp_path("callsign.toml");
        std::ofstream(file) << "[reaper]\ninterval = \"100ms\"\nsamples_min = 20\n"
                            << "window_min = \"50ms\"\nwindow_max = \"" << window_max << "\"\n"
                            << "window = \"" << window << "\"\n";
        return file.string();
    }

    static json::object reaper_of(const server& s) {
        http_client as_operator(s.port(), s.admin_token());
        const auto answer = as_operator.get("/v1/admin/reaper");
        return answer && answer->status == 200 ? json::parse(answer->body).as_object()
                                               : json::object{};
    }
    static std::string window_of(const server& s) {
        const json::object all = reaper_of(s);
        return all.contains("window") ? std::string(all.at("window").as_string()) : "";
    }
    static std::string of_window(const server& s, const char* name) {
        const json::object all = reaper_of(s);
        if (!all.contains("windows")) return {};
        return std::string(all.at("windows").as_array().at(0).at(name).as_string());
    }

    // Sends creations whose responses are lost; their clients retry after `after`.
    static void retry(const server& s, const std::string& token, milliseconds after) {
        http_client client(s.port(), token);
        for (int pass = 0; pass < 2; ++pass) {
            for (int n = 0; n < 25; ++n) {
                const auto answer = client.post_json("/v1/tasks", R"({"description":"x"})",
                                                     "k" + std::to_string(n));
                ASSERT_TRUE(answer && answer->status == 201);
            }
            if (pass == 0) std::this_thread::sleep_for(after);
        }
    }

    template <class Condition>
    static bool eventually(Condition holds) {
        const auto deadline = std::chrono::steady_clock::now() + timeout;
        while (std::chrono::steady_clock::now() < deadline) {
            if (holds()) return true;
            std::this_thread::sleep_for(20ms);
        }
        return false;
    }
    // Waits for a complete sweep from now on.
    static void await_sweep(const server& s) {
        const auto swept = [&] { return reaper_of(s).at("sweeps").to_number<int>(); };
        const int before = swept();
        EXPECT_TRUE(eventually([&] { return swept() >= before + 2; }));
    }
};

TEST_F(window_test, follows_retries_and_survives_a_kill_and_reloads) {
    auto s = start({"--config", write_config("auto", "100ms")});
    const std::string token = make_account(*s, "window", "WIN");
    EXPECT_EQ(reaper_of(*s).at("windowSetting"), "auto");
    EXPECT_EQ(window_of(*s), "100ms");
    EXPECT_EQ(of_window(*s, "reason"), "few-samples");

    // Longer than window_max.
    retry(*s, token, 1500ms);
    EXPECT_TRUE(eventually([&] { return of_window(*s, "reason") == "at-ceiling"; }));
    EXPECT_EQ(window_of(*s), "100ms");

    // The window lengthens at once, up to its maximum.
    write_config("auto", "1h");
    s->child().signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return of_window(*s, "reason") == "derived"; }));
    const std::string derived = window_of(*s);
    EXPECT_NE(derived, "100ms");
    EXPECT_TRUE(eventually(
        [&] { return s->child().errors().find("window changed") != std::string::npos; }));
    const auto metrics = http_client(s->port()).get("/metrics");
    ASSERT_TRUE(metrics);
    EXPECT_EQ(metrics->body.find("callsign_reaper_window_seconds{accounts=\"local\"} 0.1\n"),
              std::string::npos);
    EXPECT_NE(metrics->body.find("callsign_reaper_window_changes_total{accounts=\"local\"} 1\n"),
              std::string::npos);

    await_sweep(*s);
    s->child().kill();
    s->start();
    EXPECT_TRUE(eventually([&] { return window_of(*s) == derived; }));
    EXPECT_EQ(of_window(*s, "wanted"), derived);

    write_config("5m", "1h");
    s->child().signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return window_of(*s) == "5m"; }));
    EXPECT_EQ(of_window(*s, "reason"), "fixed");
    write_config("auto", "1h");
    s->child().signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return window_of(*s) == derived; }));
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    expect_sound();
}

}  // namespace
}  // namespace callsign::testing
