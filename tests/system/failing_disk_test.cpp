// Goal: when COMMIT fails and nobody knows whether it took, the server answers so, ends with a code
// that asks for a restart, and after it clients get their receipts by asking again. When the disk
// is full it says so, goes on reading, starts, and recovers by itself. Method: the real program
// with a disk whose syncs begin to fail, or whose files grow no more.

#include "fixture.hpp"

#include <fstream>

namespace callsign::testing {
namespace {

// Not under sanitizers: their runtime wants to be loaded before anything else.
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

// The kernel reports a failed sync once. One of the background must not be forgotten: the process
// ends, the log stays, and with it all that was acknowledged.
TEST_F(failing_disk_test, one_failed_sync_of_the_database_is_final) {
    const auto switch_file = temp_path("one-sync-fails");
    // In the background while it serves, or as the store is closed.
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
        std::ofstream(switch_file) << "now";
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

TEST_F(failing_disk_test, a_full_disk_refuses_writes_and_goes_on_reading) {
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
    const auto expect_refused_and_read = [&](int n) {
        const auto refused = create(n, 2000);
        ASSERT_TRUE(refused);
        EXPECT_EQ(refused->status, 507) << refused->body;
        EXPECT_NE(refused->body.find("storage-full"), std::string::npos) << refused->body;
        EXPECT_NE(refused->header("Retry-After"), "");
        http_client client(s->port(), token);
        const auto task = client.get("/v1/tasks/DSK-1");
        ASSERT_TRUE(task);
        EXPECT_EQ(task->status, 200) << task->body;
    };

    for (int n = 0; n < 20; ++n) receipts[n] = create(n, 2000)->body;
    std::ofstream(switch_file) << "now";
    // The log makes room once more each time it is tried, until there is none.
    int n = 20;
    auto last_made = std::chrono::steady_clock::now();
    for (; std::chrono::steady_clock::now() - last_made < std::chrono::seconds{2}; ++n) {
        const auto answer = create(n, 2000);
        ASSERT_TRUE(answer);
        if (answer->status != 201) continue;
        receipts[n] = answer->body;
        last_made = std::chrono::steady_clock::now();
    }
    expect_refused_and_read(n);

    s->child().signal(SIGKILL);
    s->child().wait(patience);
    s->start();
    // A start may need the room that is kept for it, and what it leaves is for writes.
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

// Whoever sends requests to ready servers alone sends none any more: it has to find out by itself.
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
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (int n = 0; status == 201 && std::chrono::steady_clock::now() < deadline; ++n) {
        const auto answer =
            client.post_json("/v1/tasks", R"({"description":")" + std::string(2000, 'd') + R"("})",
                             "key-" + std::to_string(n));
        status = answer ? answer->status : 0;
    }
    EXPECT_EQ(status, 507u);
    const auto refused = client.get("/readyz");
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 503u);
    EXPECT_NE(refused->body.find("The disk is full."), std::string::npos) << refused->body;
    await_line(s->child(), "error write-refused reason=disk-full");
    EXPECT_EQ(client.get("/livez")->status, 200u);
    // Long enough for proofs, all of which fail.
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

#endif

}  // namespace
}  // namespace callsign::testing
