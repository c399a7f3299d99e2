// Goal: if COMMIT fails with an unknown outcome, the server responds so and exits with a status
// that requests a restart; afterwards clients get their receipts by retrying. If the disk is full
// the server responds so, continues to read, can start, and recovers by itself. A failed read
// affects its own request only. Method: the real program with a disk whose syncs fail, whose files
// cannot grow, or that fails a single read.

#include "fixture.hpp"

#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <thread>

namespace callsign::testing {
namespace {

// Not with sanitizers: their runtime must be loaded first.
#ifdef CALLSIGN_FAILING_DISK

using failing_disk_test = system_test;

TEST_F(failing_disk_test, an_unknown_outcome_ends_the_process_and_the_same_key_settles_it) {
    const auto switch_file = temp_path("the-disk-is-failing");
    const environment failing{{"LD_PRELOAD", CALLSIGN_FAILING_DISK},
                              {"CALLSIGN_FAIL_SYNC", switch_file.string()}};
    auto s = start({}, failing);
    const std::string token = make_account(*s, "home2", "DSK");
    const auto create = [&](const std::string& key) {
        http_client client(s->port(), token);
        return client.post_json("/v1/tasks", R"({"description":"on a failing disk"})", key);
    };
    const auto before = create("before");
    ASSERT_TRUE(before && before->status == 201);

    std::ofstream(switch_file) << "now";
    const auto during = create("during");
    if (during) {
        EXPECT_EQ(during->status, 500);
        EXPECT_NE(during->body.find("outcome-unknown"), std::string::npos) << during->body;
    }
    expect_exit(s->child(), 70);

    std::filesystem::remove(switch_file);
    s->start();
    const auto again = create("before");
    ASSERT_TRUE(again);
    EXPECT_EQ(again->body, before->body);
    const auto settled = create("during");
    ASSERT_TRUE(settled);
    EXPECT_EQ(settled->status, 201);
    EXPECT_NE(settled->body.find(R"("key":"DSK-2")"), std::string::npos) << settled->body;
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    expect_sound();
}

// The kernel reports a failed sync once. So a failed background sync must end the process and
// preserve the WAL, with everything acknowledged.
TEST_F(failing_disk_test, one_failed_sync_of_the_database_is_final) {
    const auto switch_file = temp_path("one-sync-fails");
    // The sync fails in the background while the server runs, or when the store is closed.
    for (const bool closes : {false, true}) {
        const std::string name = closes ? "closes" : "serves";
        auto s = start({}, {{"LD_PRELOAD", CALLSIGN_FAILING_DISK},
                            {"CALLSIGN_FAIL_ONE_SYNC", switch_file.string()},
                            {"CALLSIGN_STORE_MOVED_PAGES_MAX", closes ? "10000000" : "16"}});
        const std::string token = make_account(*s, name, closes ? "CLO" : "SER");
        std::map<std::string, std::string> receipts;
        const auto create = [&](const std::string& key) {
            http_client client(s->port(), token);
            return client.post_json("/v1/tasks", R"({"description":"one sync"})", key);
        };
        const auto create_more = [&](int n) {
            const std::string key = name + std::to_string(n);
            const auto made = create(key);
            if (made && made->status == 201) receipts[key] = made->body;
            return made && made->status == 201;
        };
        for (int n = 0; n < 50; ++n) ASSERT_TRUE(create_more(n));
        std::ofstream(switch_file) << "*.sqlite3";
        if (closes) {
            s->child().signal(SIGTERM);
        } else {
            int n = 50;
            while (create_more(n)) ASSERT_LT(++n, 20'000) << "no sync of the database came";
        }
        expect_exit(s->child(), 70);
        EXPECT_FALSE(std::filesystem::exists(switch_file));
        EXPECT_GT(std::filesystem::file_size(data_dir() / "callsign.sqlite3-wal"), 0u);
        s->start();
        for (const auto& [key, receipt] : receipts) {
            const auto again = create(key);
            ASSERT_TRUE(again);
            EXPECT_EQ(again->body, receipt);
        }
        s->child().signal(SIGTERM);
        expect_exit(s->child(), 0);
        expect_sound();
    }
}

// Fails each sync of each file once, as the kernel reports it once. Everything acknowledged
// survives, whatever happens to the process, and an exit is reported.
class failing_disk_one_sync : public failing_disk_test {
  protected:
    using patterns = std::vector<std::string>;

    void SetUp() override {
        s_ = start({}, disk());
        token_ = make_account(*s_, "home2", "ONE");
        create_some();
    }
    environment disk() const {
        return {{"LD_PRELOAD", CALLSIGN_FAILING_DISK},
                {"CALLSIGN_FAIL_ONE_SYNC", armed().string()},
                {"CALLSIGN_STORE_MOVED_PAGES_MAX", "16"}};
    }
    // Fails a sync of a file that matches, after `passing` others.
    void arm(const std::string& pattern, int passing = 0) const {
        std::ofstream(armed()) << pattern << ' ' << passing;
    }
    bool has_struck() const { return !std::filesystem::exists(armed()); }
    std::filesystem::path armed() const { return temp_path("one-sync-fails"); }
    std::filesystem::path log() const { return data_dir() / "callsign.sqlite3-wal"; }

    // Returns false if the creation was not acknowledged.
    bool create() {
        const std::string key = "key-" + std::to_string(++keys_);
        const auto made = ask(key);
        if (!made || made->status != 201) return false;
        receipts_[key] = made->body;
        return true;
    }
    void create_some() {
        for (int n = 0; n < 3; ++n) ASSERT_TRUE(create());
    }
    std::optional<http_answer> ask(const std::string& key) const {
        return http_client(s_->port(), token_)
            .post_json("/v1/tasks", R"({"description":"one sync"})", key);
    }
    void expect_all_there() const {
        for (const auto& [key, receipt] : receipts_) {
            const auto again = ask(key);
            ASSERT_TRUE(again) << key;
            ASSERT_EQ(again->body, receipt) << key;
        }
    }
    void stop() {
        s_->child().signal(SIGTERM);
        expect_exit(s_->child(), 0);
    }
    // The log states the reason for the exit.
    void expect_said(const std::string& words) {
        const std::string log = s_->child().errors();
        const auto at = log.find(words);
        EXPECT_NE(at, log.npos) << log;
        EXPECT_EQ(log.find(words, at + 1), log.npos) << log;
    }
    // Returns false if the server does not start; the log then states why.
    bool starts() {
        try {
            s_->start();
            return true;
        } catch (const std::runtime_error&) {
            expect_exit(s_->child(), 1);
            expect_said("callsignd: ");
            return false;
        }
    }
    // Fails every sync of the start in turn, one per process, and returns how many starts failed.
    // `prepare` runs before each start.
    template <class Prepare>
    int fail_each_at_start(const std::string& pattern, const Prepare& prepare) {
        int failed = 0;
        for (int passing = 0;; ++passing) {
            prepare();
            arm(pattern, passing);
            const bool is_up = starts();
            if (is_up) s_->child().signal(SIGTERM);
            if (is_up && !has_struck()) return stopped_well(failed);
            // SQLite ignores some failed syncs of the directory; the store then repeats them.
            if (is_up && pattern != data_dir()) expect_exit(s_->child(), 70);
            if (is_up && pattern == data_dir()) expect_exit(s_->child(), 0);
            if (!is_up) ++failed;
        }
    }
    int stopped_well(int failed) {
        std::filesystem::remove(armed());
        expect_exit(s_->child(), 0);
        return failed;
    }

    std::unique_ptr<server> s_;
    std::string token_;
    std::map<std::string, std::string> receipts_;
    int keys_ = 0;
};

TEST_F(failing_disk_one_sync, as_it_starts_with_a_wal_ends_it) {
    const auto leave_a_log = [&] {
        if (s_->child().wait(0ms)) s_->start();
        expect_all_there();
        create_some();
        s_->child().kill();
        ASSERT_GT(std::filesystem::file_size(log()), 0u);
    };
    for (const std::string& pattern : patterns{data_dir(), "*.sqlite3", "*-wal"}) {
        EXPECT_GE(fail_each_at_start(pattern, leave_a_log), 2) << pattern;
    }
    s_->start();
    expect_all_there();
    stop();
    expect_sound();
}

TEST_F(failing_disk_one_sync, as_it_starts_with_nothing_ends_it) {
    stop();
    const auto remove_all = [&] {
        if (!s_->child().wait(0ms)) stop();
        std::filesystem::remove_all(data_dir());
    };
    for (const std::string& pattern : patterns{data_dir(), "*.sqlite3", "*/admin.token.new"}) {
        EXPECT_GE(fail_each_at_start(pattern, remove_all), 1) << pattern;
    }
    arm("*-wal");
    remove_all();
    EXPECT_FALSE(starts());
    s_->start();  // with the files left by the failures
    stop();
    expect_sound();
}

TEST_F(failing_disk_one_sync, as_it_stops_is_reported_and_leaves_the_wal) {
    for (const char* pattern : {"*.sqlite3", "*-wal"}) {
        int passing = 0;
        for (;; ++passing) {
            create_some();
            arm(pattern, passing);
            s_->child().signal(SIGTERM);
            const auto ended = s_->child().wait(timeout);
            if (!has_struck()) break;
            EXPECT_EQ(ended, (exit_status{70, 0})) << pattern << passing;
            expect_said("fatal: WAL sync failed; the WAL is kept for the next start");
            EXPECT_GT(std::filesystem::file_size(log()), 0u);
            s_->start();
            expect_all_there();
        }
        EXPECT_GE(passing, 1) << pattern;
        std::filesystem::remove(armed());
        s_->start();
    }
    stop();
    expect_sound();
}

TEST_F(failing_disk_one_sync, of_the_wal_as_it_serves_ends_it) {
    for (int passing = 0; passing < 4; ++passing) {
        arm("*-wal", passing);
        while (create()) ASSERT_LT(keys_, 20'000);
        EXPECT_TRUE(has_struck());
        expect_exit(s_->child(), 70);
        expect_said("fatal: the store must be reopened; exiting");
        EXPECT_GT(std::filesystem::file_size(log()), 0u);
        s_->start();
        expect_all_there();
    }
    stop();
    expect_sound();
}

// Fails before the writer has noticed it.
TEST_F(failing_disk_one_sync, of_the_database_just_before_it_is_stopped_is_reported) {
    arm("*.sqlite3");
    while (!has_struck() && create()) ASSERT_LT(keys_, 20'000);
    s_->child().signal(SIGTERM);
    expect_exit(s_->child(), 70);
    EXPECT_GT(std::filesystem::file_size(log()), 0u);
    s_->start();
    expect_all_there();
    stop();
    expect_sound();
}

TEST_F(failing_disk_one_sync, of_a_backup_leaves_none_and_the_server_well) {
    const auto backup = temp_path("backup");
    const auto parent = backup.parent_path().string();
    for (const std::string& pattern :
         {backup.string() + "/*.sqlite3", backup.string() + "/*.new", backup.string(), parent}) {
        arm(pattern);
        const finished rejected = callsign({"backup", backup.string()});
        EXPECT_TRUE(has_struck()) << pattern;
        EXPECT_EQ(rejected.status, (exit_status{1, 0})) << pattern << rejected.out;
        EXPECT_FALSE(std::filesystem::exists(backup / "manifest.json")) << pattern;
        EXPECT_NE(rejected.err.find("cannot write " + parent), std::string::npos) << rejected.err;
    }
    ask_callsign({"backup", backup.string()});
    expect_all_there();
    stop();
    expect_sound();
}

TEST_F(failing_disk_one_sync, of_a_restore_leaves_what_was_there_or_what_was_restored) {
    const auto backup = temp_path("backup");
    ask_callsign({"backup", backup.string()});
    const auto restore = [&] {
        return run({(programs() / "callsign").string(), "restore", backup.string(), "--data-dir",
                    data_dir().string(), "--yes"},
                   timeout, disk());
    };
    const std::string dir = data_dir().string();
    for (const std::string& pattern :
         {dir, dir + "/before-restore-*", dir + "/*.sqlite3", dir + "/*-wal"}) {
        int passing = 0;
        for (;; ++passing) {
            stop();
            arm(pattern, passing);
            const finished rejected = restore();
            const bool is_over = !has_struck();
            std::filesystem::remove(armed());
            EXPECT_EQ(rejected.status, (exit_status{is_over ? 0 : 1, 0}))
                << pattern << passing << rejected.err;
            if (!is_over) {
                EXPECT_NE(rejected.err.find("callsign: "), std::string::npos) << rejected.err;
            }
            s_->start();
            expect_all_there();
            if (is_over) break;
        }
        EXPECT_GE(passing, 1) << pattern;
    }
    stop();
    expect_sound();
}

TEST_F(failing_disk_one_sync, of_a_master_key_is_reported) {
    const auto file = temp_path("key");
    const auto change = [&](const char* how) {
        return run({(programs() / "callsign").string(), "master-key", how, file.string()}, timeout,
                   disk());
    };
    for (const std::string& pattern : {file.string(), file.parent_path().string()}) {
        arm(pattern);
        EXPECT_EQ(change("new").status, (exit_status{1, 0})) << pattern;
        EXPECT_TRUE(has_struck()) << pattern;
        EXPECT_FALSE(std::filesystem::exists(file)) << pattern;
    }
    EXPECT_EQ(change("new").status, (exit_status{0, 0}));
    for (const std::string& pattern : {file.string() + ".new", file.parent_path().string()}) {
        arm(pattern);
        const finished rejected = change("rotate");
        EXPECT_EQ(rejected.status, (exit_status{1, 0})) << pattern;
        EXPECT_NE(rejected.err.find("cannot write " + file.string()), std::string::npos)
            << rejected.err;
        EXPECT_TRUE(has_struck()) << pattern;
        EXPECT_TRUE(std::filesystem::exists(file)) << pattern;
    }
}

TEST_F(failing_disk_test, a_full_disk_rejects_writes_and_serves_reads) {
    const auto switch_file = temp_path("the-disk-is-full");
    const environment full{{"LD_PRELOAD", CALLSIGN_FAILING_DISK},
                           {"CALLSIGN_DISK_FULL", switch_file.string()}};
    auto s = start({}, full);
    const std::string token = make_account(*s, "home2", "DSK");
    const auto create = [&](int n, std::size_t bytes) {
        http_client client(s->port(), token);
        return client.post_json("/v1/tasks",
                                R"({"description":")" + std::string(bytes, 'd') + R"("})",
                                "key-" + std::to_string(n));
    };
    std::map<int, std::string> receipts;
    const auto expect_all_there = [&] {
        for (const auto& [n, receipt] : receipts) {
            const auto again = create(n, 2000);
            ASSERT_TRUE(again);
            EXPECT_EQ(again->body, receipt);
        }
    };
    const auto expect_rejected_and_read = [&](int n) {
        const auto rejected = create(n, 2000);
        ASSERT_TRUE(rejected);
        EXPECT_EQ(rejected->status, 507) << rejected->body;
        EXPECT_NE(rejected->body.find("storage-full"), std::string::npos) << rejected->body;
        EXPECT_NE(rejected->header("Retry-After"), "");
        http_client client(s->port(), token);
        const auto task = client.get("/v1/tasks/DSK-1");
        ASSERT_TRUE(task);
        EXPECT_EQ(task->status, 200) << task->body;
        const auto slot = client.get("/v1/slots/key-0");
        ASSERT_TRUE(slot);
        EXPECT_EQ(slot->status, 200) << slot->body;
    };

    for (int n = 0; n < 20; ++n) receipts[n] = create(n, 2000)->body;
    std::ofstream(switch_file) << "now";
    // Attempts to write release space in the WAL, until there is none left.
    int n = 20;
    auto last_made = std::chrono::steady_clock::now();
    for (; std::chrono::steady_clock::now() - last_made < std::chrono::seconds{2}; ++n) {
        const auto answer = create(n, 2000);
        ASSERT_TRUE(answer);
        if (answer->status != 201) continue;
        receipts[n] = answer->body;
        last_made = std::chrono::steady_clock::now();
    }
    expect_rejected_and_read(n);

    s->child().signal(SIGKILL);
    s->child().wait(timeout);
    s->start();
    // A start may need the reserved space, and leaves the rest for writes.
    expect_all_there();
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    s->start();
    expect_all_there();

    std::filesystem::remove(switch_file);
    for (;; ++n) {
        const auto answer = create(n, 2000);
        ASSERT_TRUE(answer);
        if (answer->status == 201) break;
        ASSERT_LT(n, 40'000);
    }
    expect_all_there();
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    expect_sound();
}

// A load balancer sends no requests to a server that is not ready, so the server must detect the
// recovery itself.
TEST_F(failing_disk_test, a_server_on_a_full_disk_is_not_ready_until_there_is_room) {
    const auto switch_file = temp_path("the-disk-is-full");
    auto s = start(
        {}, {{"LD_PRELOAD", CALLSIGN_FAILING_DISK}, {"CALLSIGN_DISK_FULL", switch_file.string()}});
    const std::string token = make_account(*s, "home2", "DSK");
    http_client client(s->port(), token);
    const auto ready = [&] {
        const auto answer = client.get("/readyz");
        return answer ? answer->status : 0;
    };
    EXPECT_EQ(ready(), 200u);
    std::ofstream(switch_file) << "now";
    unsigned status = 201;
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    for (int n = 0; status == 201 && std::chrono::steady_clock::now() < deadline; ++n) {
        const auto answer =
            client.post_json("/v1/tasks", R"({"description":")" + std::string(2000, 'd') + R"("})",
                             "key-" + std::to_string(n));
        status = answer ? answer->status : 0;
    }
    EXPECT_EQ(status, 507u);
    const auto rejected = client.get("/readyz");
    ASSERT_TRUE(rejected);
    EXPECT_EQ(rejected->status, 503u);
    EXPECT_NE(rejected->body.find("The disk is full."), std::string::npos) << rejected->body;
    await_line(s->child(), "error writes-rejected reason=disk-full");
    EXPECT_EQ(client.get("/livez")->status, 200u);
    // Long enough for several tests of whether writes succeed; all fail.
    const auto until = std::chrono::steady_clock::now() + 3s;
    while (std::chrono::steady_clock::now() < until) ASSERT_EQ(ready(), 503u);
    EXPECT_NE(client.get("/metrics")->body.find("callsign_ready 0\n"), std::string::npos);
    EXPECT_EQ(s->child().errors().find("writes-resumed"), std::string::npos);

    std::filesystem::remove(switch_file);
    while (ready() != 200u && std::chrono::steady_clock::now() < deadline)
        std::this_thread::yield();
    EXPECT_EQ(ready(), 200u);
    await_line(s->child(), "info writes-resumed");
    EXPECT_NE(client.get("/metrics")->body.find("callsign_ready 1\n"), std::string::npos);
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    expect_sound();
}

TEST_F(failing_disk_test, one_failed_read_is_of_one_request_alone) {
    const auto switch_file = temp_path("one-read-fails");
    auto s = start({}, {{"LD_PRELOAD", CALLSIGN_FAILING_DISK},
                        {"CALLSIGN_FAIL_ONE_READ", switch_file.string()},
                        {"CALLSIGN_STORE_CACHE_BYTES", "1MiB"}});
    const std::string token = make_account(*s, "home2", "DSK");
    // More than the cache can hold, so that reads go to the disk.
    constexpr int tasks = 30;
    const std::string large = R"({"description":")" + std::string(60'000, 'x') + R"("})";
    const auto make = [&](int n) {
        return http_client(s->port(), token)
            .post_json("/v1/tasks", large, "large-" + std::to_string(n));
    };
    for (int n = 0; n < tasks; ++n) ASSERT_EQ(make(n)->status, 201u);
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    s->start();  // all data is in the database, and the WAL is empty
    const auto ask = [&](const char* method) {
        const std::string_view body =
            method == std::string_view("PATCH") ? R"({"project":"p"})" : "";
        const auto answer =
            http_client(s->port(), token)
                .request(method, "/v1/tasks/DSK-1", {{"Content-Type", "application/json"}}, body);
        return answer ? answer->status : 0;
    };
    for (const char* method : {"GET", "PATCH"}) {
        for (int n = 2; n <= tasks; ++n) {
            const auto other =
                http_client(s->port(), token).get("/v1/tasks/DSK-" + std::to_string(n));
            EXPECT_EQ(other->status, 200u);
        }
        std::ofstream(switch_file) << "*.sqlite3";
        EXPECT_EQ(ask(method), 503u) << method;
        std::filesystem::remove(switch_file);
        await_line(s->child(), "error the disk cannot be read");
        EXPECT_EQ(ask(method), 200u) << "the disk is intact";
        EXPECT_EQ(http_client(s->port(), token).get("/readyz")->status, 200u);
    }
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    expect_sound();
}

#endif

}  // namespace
}  // namespace callsign::testing
