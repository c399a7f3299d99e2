// Goal: purged content, and all content of removed accounts, is erased: from the data directory of
// a running server after a sweep, and from later backups. A device with older data still syncs.
// Method: the real programs, and a search for unique words in the files' bytes.

#include "taskwarrior_fixture.hpp"

#include <fstream>
#include <iterator>
#include <set>

namespace callsign::testing {
namespace {

namespace fs = std::filesystem;

// Returns the files that contain the word.
std::set<std::string> files_with(const fs::path& dir, const std::string& word) {
    std::set<std::string> found;
    for (const auto& file : fs::recursive_directory_iterator(dir)) {
        if (!file.is_regular_file()) continue;
        std::ifstream in(file.path(), std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(in), {}};
        if (bytes.find(word) != bytes.npos) found.insert(file.path().filename().string());
    }
    return found;
}

// The WAL is truncated shortly after the sweep has logged its result.
std::set<std::string> files_with_in_the_end(const fs::path& dir, const std::string& word) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    auto found = files_with(dir, word);
    while (!found.empty() && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::yield();
        found = files_with(dir, word);
    }
    return found;
}

class removed_text_test : public system_test {
  protected:
    static unsigned send(http_client& rest, const char* method, const std::string& ref,
                         const json::object& body = {}) {
        const auto answer =
            rest.request(method, "/v1/tasks/" + ref,
                         {{"Content-Type", "application/merge-patch+json"}}, json::serialize(body));
        return answer ? answer->status : 0;
    }
    std::int64_t sweep() const {
        return ask_callsign({"reaper", "sweep"}).at("scrubbed").to_number<std::int64_t>();
    }
};

TEST_F(removed_text_test, of_tasks_and_accounts_is_in_no_file_and_no_backup) {
    auto s =
        start({}, {{"CALLSIGN_REAPER_INTERVAL", "1h"}, {"CALLSIGN_REAPER_ACCOUNT_GRACE", "1ms"}});
    http_client rest(s->port(), make_account(*s, "ops", "OPS"));
    for (int n = 1; n <= 60; ++n) {
        const std::string word = n % 3 == 0 ? "kept" : "purple" + std::string(n * 40, '!');
        const json::object task{{"description", word}};
        const auto made =
            rest.post_json("/v1/tasks", json::serialize(task), "k" + std::to_string(n));
        ASSERT_TRUE(made && made->status == 201u);
    }
    for (int n = 1; n <= 60; n += n % 3 == 1 ? 1 : 2) {
        const std::string key = "OPS-" + std::to_string(n);
        EXPECT_EQ(send(rest, "PATCH", key, {{"project", "purple"}, {"description", "purple"}}),
                  200u);
        EXPECT_EQ(send(rest, "DELETE", key + "?purge=true"), 204u);
    }
    EXPECT_FALSE(files_with(data_dir(), "purple").empty());
    EXPECT_EQ(sweep(), 40);
    EXPECT_EQ(files_with_in_the_end(data_dir(), "purple"), std::set<std::string>{});
    EXPECT_FALSE(files_with(data_dir(), "kept").empty());
    ask_callsign({"backup", temp_path("backup").string()});
    EXPECT_EQ(files_with(temp_path("backup"), "purple"), std::set<std::string>{});
    EXPECT_EQ(rest.get("/v1/tasks/OPS-1")->status, 410u);
    EXPECT_EQ(rest.get("/v1/tasks/OPS-3")->status, 200u);

    // Without creations, whose keys delay the removal of a deleted account.
    const std::string table = temp_path("numbers.csv").string();
    std::ofstream rows(table);
    rows << "prefix,number,uuid,title,created_at\n";
    for (int n = 1; n <= 20; ++n) {
        rows << "OLD," << n << ",11111111-2222-4333-8444-" << 100'000'000'000 + n << ",purple"
             << std::string(n * 40, '!') << ",2026-11-20T12:00:00Z\n";
    }
    rows.close();
    for (const char* name : {"gone", "gone-too"}) {
        make_account(*s, name, "OLD");
        ask_callsign({"import", "numbers", table, "--account", name});
        ask_callsign({"account", "delete", name, "--yes"});
    }
    EXPECT_FALSE(files_with(data_dir(), "purple").empty());
    sweep();
    EXPECT_EQ(files_with_in_the_end(data_dir(), "purple"), std::set<std::string>{});
    ask_callsign({"backup", temp_path("later").string()});
    EXPECT_EQ(files_with(temp_path("later"), "purple"), std::set<std::string>{});
    expect_sound();
    s->child().signal(SIGTERM);
    expect_exit(s->child(), 0);
    EXPECT_EQ(files_with(data_dir(), "purple"), std::set<std::string>{});
    expect_sound();
}

using removed_text_managed_test = managed_test;

TEST_F(removed_text_managed_test, leaves_the_chain_and_devices_from_before_still_sync) {
    begin();
    const auto laptop = make_device("laptop"), phone = make_device("phone");
    create("k1", {{"description", "purple by REST"}, {"tags", json::array{"purple"}}});
    expect_done((*laptop)({"add", "purple by a device", "project:purple"}));
    expect_done((*laptop)({"add", "stays"}));
    expect_done(laptop->sync());
    expect_done(phone->sync());  // and syncs no more until the end
    expect_done((*laptop)({"key.is:SYN-2", "annotate", "purple, too"}));
    expect_done(laptop->sync());
    EXPECT_EQ(edit("SYN-1", {{"description", "purple again"}}), 200u);
    expect_done((*phone)({"key.is:SYN-1", "modify", "purple on the phone"}));
    expect_done((*phone)({"key.is:SYN-3", "modify", "priority:H"}));
    expect_done((*phone)({"add", "of the phone"}));

    EXPECT_EQ(erase("SYN-1", true), 204u);
    EXPECT_EQ(erase("SYN-2", true), 204u);
    EXPECT_FALSE(files_with(data_dir(), "purple").empty());
    ask_callsign({"reaper", "sweep"});
    EXPECT_EQ(files_with_in_the_end(data_dir(), "purple"), std::set<std::string>{});

    expect_done(phone->sync());
    expect_done(laptop->sync());
    expect_done(phone->sync());
    const task_table agreed = expect_agreement({laptop.get(), phone.get()});
    std::set<std::string> left;
    for (const auto& [uuid, task] : agreed) left.insert(text_in(task, "description"));
    EXPECT_EQ(left, (std::set<std::string>{"stays", "of the phone"}));
    show("SYN-1", 410);
}

}  // namespace
}  // namespace callsign::testing
