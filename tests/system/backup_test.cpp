// Goal: a backup of a busy server is a sound store; a restore keeps the replaced data; and no
// number assigned after the backup is assigned again.
//
// Method: the real programs. Clients create tasks during the backup; then the data is lost.

#include "fixture.hpp"
#include "support/retrying_client.hpp"

#include <atomic>
#include <map>
#include <thread>

namespace callsign::testing {
namespace {

class backup_test : public system_test {
  protected:
    std::filesystem::path backup() const { return temp_path("backup"); }

    finished restore(const std::filesystem::path& from, const std::filesystem::path& to) {
        return run({(programs() / "callsign").string(), "restore", from.string(), "--data-dir",
                    to.string(), "--yes", "--json"},
                   timeout);
    }
    static json::object body_of(const http_answer& answer) {
        return json::parse(answer.body).as_object();
    }
};

TEST_F(backup_test, is_sound_whatever_is_written_concurrently) {
    const auto before = start();
    const std::string token = make_account(*before, "board", "SYN");
    std::atomic<bool> enough = false;
    std::map<std::string, std::string> receipts;
    std::thread client([&] {
        retrying_client me(before->port(), token, 1);
        for (int n = 0; !enough; ++n) {
            const std::string key = "k" + std::to_string(n);
            const auto made = me.create(key, R"({"description":"x"})", [] { return false; });
            receipts[key] = made->body;
        }
    });
    ask_callsign({"backup", backup().string()});
    enough = true;
    client.join();
    const auto known_later = receipts.size();
    EXPECT_NE(callsign({"backup", backup().string()}).status, (exit_status{0, 0}));
    EXPECT_NE(restore(backup(), data_dir()).status, (exit_status{0, 0}));  // a server runs

    // Only the backup survives.
    before->child().kill();
    std::filesystem::remove_all(data_dir());
    const finished restored = restore(backup(), data_dir());
    ASSERT_EQ(restored.status, (exit_status{0, 0})) << restored.err;
    EXPECT_EQ(json::parse(restored.out).at("seriesHeld"), 2);
    expect_sound();
    const auto after = start();
    http_client rest(after->port(), token);
    std::size_t known = 0;
    for (const auto& [key, receipt] : receipts) {
        const auto again = rest.post_json("/v1/tasks", R"({"description":"x"})", key);
        ASSERT_TRUE(again);
        if (again->status == 503) {
            EXPECT_NE(again->body.find("series-held"), std::string::npos) << again->body;
            continue;
        }
        EXPECT_EQ(again->body, receipt);  // receipts in the backup return byte for byte
        ++known;
    }
    EXPECT_LE(known, known_later);
    const std::string next = std::to_string(known_later + 1);
    ask_callsign({"series", "resume", "SYN", "--account", "board", "--at", next});
    const auto made = rest.post_json("/v1/tasks", R"({"description":"x"})", "new");
    ASSERT_EQ(made->status, 201u) << made->body;
    EXPECT_EQ(body_of(*made).at("key").as_string(), "SYN-" + next);
    after->child().signal(SIGTERM);
    expect_exit(after->child(), 0);
    expect_sound();
}

TEST_F(backup_test, is_scheduled_and_the_oldest_is_removed) {
    const auto parent = temp_path("backups");
    std::filesystem::create_directory(parent);
    const environment env{{"CALLSIGN_BACKUP_DIRECTORY", parent.string()},
                          {"CALLSIGN_BACKUP_KEEP", "1"}};
    const auto s = start({}, env);
    const auto whole = [&] {
        std::vector<std::filesystem::path> all;
        for (const auto& each : std::filesystem::directory_iterator(parent)) {
            if (std::filesystem::exists(each.path() / "manifest.json")) all.push_back(each.path());
        }
        return all;
    };
    const auto until = std::chrono::steady_clock::now() + timeout;
    while (whole().empty() && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(20ms);
    }
    ASSERT_EQ(whole().size(), 1u);
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    // The next start makes no backup that is not due.
    const auto first = whole();
    s->start();
    ask_callsign({"account", "list"});
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    EXPECT_EQ(whole(), first);
    const finished restored = restore(first.front(), temp_path("elsewhere"));
    EXPECT_EQ(restored.status, (exit_status{0, 0})) << restored.err;
}

}  // namespace
}  // namespace callsign::testing
