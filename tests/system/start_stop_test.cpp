// Goal: the first start and every restart: what the server prints, what it rejects, and how it
// ends. Method: the real program, with an empty directory.

#include "fixture.hpp"
#include "support/retrying_client.hpp"

#include <atomic>
#include <fstream>
#include <map>
#include <sys/stat.h>
#include <thread>

namespace callsign::testing {
namespace {

class start_stop_test : public system_test {
  protected:
    std::filesystem::path write_config(const std::string& text) const {
        // Written to another file and renamed, so that no reader sees a partial file.
        auto file = temp_path("callsign.toml");
        std::ofstream(file.string() + ".new") << text;
        std::filesystem::rename(file.string() + ".new", file);
        return file;
    }

    finished run_callsignd(std::vector<std::string> flags) const {
        flags.insert(flags.begin(), callsignd());
        return run(flags, timeout);
    }

    static json::object reaper_of(const server& s) {
        http_client as_operator(s.port(), s.admin_token());
        const auto answer = as_operator.get("/v1/admin/reaper");
        if (!answer || answer->status != 200) return {};
        return json::parse(answer->body).as_object();
    }

    // Sends requests until `holds`, the effect of a reload; each is a round trip, so this needs no
    // pause.
    template <class Condition>
    static bool eventually(Condition holds) {
        const auto deadline = std::chrono::steady_clock::now() + timeout;
        while (std::chrono::steady_clock::now() < deadline)
            if (holds()) return true;
        return false;
    }
};

TEST_F(start_stop_test, the_lines_it_prints_on_an_empty_directory_work_when_pasted) {
    auto s = start();
    std::string pasted;
    bool goes_on = false;
    for (const std::string& line : s->banner()) {
        const bool begins = line.starts_with("  TOKEN=") || line.starts_with("  curl ");
        if (begins || goes_on) pasted += line + "\n";
        goes_on = (begins || goes_on) && line.ends_with('\\');
    }
    ASSERT_NE(pasted.find("TOKEN=cs_"), std::string::npos) << pasted;
    ASSERT_NE(pasted.find("curl "), std::string::npos) << pasted;
    pasted.insert(pasted.size() - 1, " --silent --fail-with-body --max-time 30");
    const finished done = run({"sh", "-c", pasted}, timeout);
    EXPECT_EQ(done.status, (exit_status{0, 0})) << pasted << done.out << done.err;
}

TEST_F(start_stop_test, the_operator_token_is_readable_by_its_owner_only) {
    auto s = start();
    struct stat found {};
    ASSERT_EQ(::stat((data_dir() / "admin.token").c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777u, 0600u);

    // The token survives a restart.
    const std::string token = s->admin_token();
    s->child().kill();
    s->start();
    EXPECT_EQ(s->admin_token(), token);
    EXPECT_FALSE(reaper_of(*s).empty());
}

TEST_F(start_stop_test, health_and_metrics_need_no_token) {
    auto s = start();
    http_client anyone(s->port());
    for (const char* path : {"/livez", "/readyz", "/metrics"}) {
        const auto answer = anyone.get(path);
        ASSERT_TRUE(answer.has_value()) << path;
        EXPECT_EQ(answer->status, 200u) << path;
    }
}

TEST_F(start_stop_test, a_second_process_on_the_same_directory_is_rejected) {
    auto s = start();
    const finished second =
        run_callsignd({"--data-dir", data_dir().string(), "--listen", "127.0.0.1:0"});
    EXPECT_GT(second.status.code, 0);
    EXPECT_NE(second.err.find(data_dir().filename().string()), std::string::npos) << second.err;
    EXPECT_FALSE(reaper_of(*s).empty()) << "the first process must not be affected";
}

TEST_F(start_stop_test, it_prints_its_version) {
    for (const char* program : {"callsignd", "callsign"}) {
        const finished done = run({(programs() / program).string(), "--version"}, timeout);
        EXPECT_EQ(done.status, (exit_status{0, 0}));
        EXPECT_NE(done.out.find(CALLSIGN_VERSION), std::string::npos) << done.out;
    }
}

TEST_F(start_stop_test, a_good_configuration_can_be_checked_without_starting) {
    const auto file = write_config("[reaper]\nwindow = \"5m\"\n");
    const finished done = run_callsignd(
        {"--check-config", "--config", file.string(), "--data-dir", data_dir().string()});
    EXPECT_EQ(done.status, (exit_status{0, 0})) << done.err;
    EXPECT_FALSE(std::filesystem::exists(data_dir())) << "a check must create nothing";
}

TEST_F(start_stop_test, an_invalid_configuration_is_rejected_with_every_error) {
    const auto file = write_config(
        "[reaper]\n"
        "window = \"soon\"\n"
        "wimdow = \"5m\"\n"
        "[http]\n"
        "connections_max = -1\n"
        "[nonsense]\n"
        "x = 1\n");
    for (const bool check_only : {false, true}) {
        std::vector<std::string> flags{"--config",          file.string(), "--data-dir",
                                       data_dir().string(), "--listen",    "nowhere"};
        if (check_only) flags.push_back("--check-config");
        const finished done = run_callsignd(flags);
        EXPECT_EQ(done.status, (exit_status{2, 0}));
        for (const char* fault :
             {"soon", "wimdow", "connections_max", "nonsense", "--listen", "callsign.toml:2"})
            EXPECT_NE(done.err.find(fault), std::string::npos) << fault << " in: " << done.err;
    }
    EXPECT_FALSE(std::filesystem::exists(data_dir()));
}

TEST_F(start_stop_test, a_missing_configuration_is_an_error) {
    const finished done = run_callsignd({"--config", temp_path("none.toml").string(), "--data-dir",
                                         data_dir().string(), "--listen", "127.0.0.1:0"});
    EXPECT_EQ(done.status, (exit_status{2, 0})) << done.err;
}

TEST_F(start_stop_test, hangup_reloads_and_an_invalid_file_changes_nothing) {
    const auto file = write_config("[reaper]\nwindow = \"5m\"\n");
    auto s = start({"--config", file.string()});
    EXPECT_EQ(reaper_of(*s).at("window"), "5m");

    write_config("[reaper]\nwindow = \"6m\"\n");
    s->child().signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return reaper_of(*s).at("window") == "6m"; }));

    // An invalid file changes nothing; the server logs the error and continues.
    write_config("[reaper]\nwindow = \"7m\"\ninterval = \"never\"\n");
    const auto said_before = s->child().errors().size();
    s->child().signal(SIGHUP);
    EXPECT_TRUE(eventually([&] {
        return s->child().errors().find("interval", said_before) != std::string::npos;
    })) << s->child().errors();
    EXPECT_EQ(reaper_of(*s).at("window"), "6m");

    write_config("[reaper]\nwindow = \"8m\"\n");
    s->child().signal(SIGHUP);
    EXPECT_TRUE(eventually([&] { return reaper_of(*s).at("window") == "8m"; }));
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
}

// The server is stopped while it processes requests. Every acknowledged creation is durable, the
// other outcomes are unknown, and the server exits regularly.
TEST_F(start_stop_test, termination_under_load_completes_requests_in_progress) {
    auto s = start();
    const std::string token = make_account(*s, "busy", "SYN");
    std::atomic<std::uint64_t> answers{0};
    std::vector<std::map<std::string, std::string>> receipts(8);
    const std::string body = R"({"description":"Before the end"})";

    const auto work = [&](unsigned number) {
        http_client client(s->port(), token);
        for (int n = 0;; ++n) {
            const std::string key = std::to_string(number) + "-" + std::to_string(n);
            const auto answer = client.post_json("/v1/tasks", body, key);
            if (!answer || answer->status == 503) return;
            EXPECT_EQ(answer->status, 201u) << answer->body;
            receipts[number][key] = answer->body;
            ++answers;
            answers.notify_all();
        }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < receipts.size(); ++i) threads.emplace_back(work, i);
    for (auto n = answers.load(); n < 200; n = answers.load()) answers.wait(n);
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    for (std::thread& t : threads) t.join();

    s->start();
    http_client client(s->port(), token);
    for (const auto& own : receipts) {
        for (const auto& [key, receipt] : own) {
            const auto again = client.post_json("/v1/tasks", body, key);
            ASSERT_TRUE(again.has_value());
            EXPECT_TRUE(again->replayed());
            EXPECT_EQ(again->body, receipt);
        }
    }
    s->child().signal(SIGINT);
    expect_exit(s->child(), 0);
    expect_sound();
}

// Shutdown proceeds from listener to queue: a request in progress is answered before the queue
// closes.
TEST_F(start_stop_test, a_request_half_sent_at_the_end_gets_its_response) {
    auto s = start();
    const std::string token = make_account(*s, "late", "SYN");
    const std::string body = R"({"description":"Before the end"})";
    const std::string head = "POST /v1/tasks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
                             token +
                             "\r\nContent-Type: application/json\r\nIdempotency-Key: \"k\"\r\n"
                             "Content-Length: " +
                             std::to_string(body.size()) + "\r\n\r\n";
    http_client late(s->port());
    ASSERT_TRUE(late.send(head + body.substr(0, 5)));
    // The server has received it, since it has served another connection after it.
    ASSERT_TRUE(http_client(s->port()).get("/livez").has_value());
    s->child().signal(SIGTERM);
    ASSERT_TRUE(eventually([&] {
        return s->child().errors().find("stopping") != std::string::npos;
    })) << s->child().errors();
    // A server that is stopping accepts no connections.
    ASSERT_TRUE(eventually([&] { return !http_client(s->port()).get("/livez").has_value(); }));
    ASSERT_TRUE(late.send(body.substr(5)));
    const auto answer = late.receive();
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->status, 201u) << answer->body;
    expect_exit(s->child(), 0);

    s->start();
    http_client again(s->port(), token);
    const auto replay = again.post_json("/v1/tasks", body, "k");
    ASSERT_TRUE(replay.has_value());
    EXPECT_TRUE(replay->replayed());
    EXPECT_EQ(replay->body, answer->body);
}

}  // namespace
}  // namespace callsign::testing
