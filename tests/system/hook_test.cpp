// Goal: tasks of an opaque account get unique keys on all replicas, and no task is lost or delayed
// while there is no server. Method: the real programs, with the hooks written by `callsign hook
// install`, and a server that is killed or stopped at times. Skipped without a real Taskwarrior.

#include "taskwarrior_fixture.hpp"

#include <callsign/base/uuid.hpp>

#include <boost/json/array.hpp>
#include <csignal>
#include <fstream>

namespace callsign::testing {
namespace {

constexpr const char* hook_client = "5a0c6c8e-6d0e-4a8b-9a55-0f1c6f0e7d11";

class hook_test : public with_taskwarrior<system_test> {
  protected:
    // Starts a server with an opaque account.
    void begin() {
        s = start();
        const json::object made = ask_callsign({"account", "create", "vault", "--prefix", "SEC",
                                                "--opaque", "--client-id", hook_client});
        std::ofstream(token_file()) << text_in(made, "token") << "\n";
    }
    std::string token_file() const { return temp_path("token").string(); }

    std::unique_ptr<taskwarrior> make_replica() const {
        return std::make_unique<taskwarrior>(program, s->port(), hook_client,
                                             "a secret of its own");
    }
    static std::filesystem::path data_of(const taskwarrior& replica) {
        std::string dir = replica({"_get", "rc.data.location"}).out;
        return dir.erase(dir.find_last_not_of('\n') + 1);
    }
    finished hook(const taskwarrior& replica, std::vector<std::string> words) const {
        const std::filesystem::path data = data_of(replica);
        words.insert(words.begin(), {(programs() / "callsign").string(), "hook"});
        words.insert(words.end(), {"--data", data.string(), "--json"});
        return run(words, timeout,
                   {{"TASKRC", (data.parent_path() / "taskrc").string()}, {"TASKDATA", ""}});
    }
    // The hook's default timeout here suffices for the slowest build.
    void install(const taskwarrior& replica, const std::string& timeout = "60s") const {
        expect_done(
            hook(replica, {"install", "--url", "http://127.0.0.1:" + std::to_string(s->port()),
                           "--token-file", token_file(), "--timeout", timeout}));
        replica.configure("hooks=on");
    }
    json::object catch_up(const taskwarrior& replica, std::vector<std::string> more = {}) const {
        more.insert(more.begin(), {"catch-up", "--task", program});
        const finished done = hook(replica, more);
        expect_done(done);
        return done.out.empty() ? json::object{} : json::parse(done.out).as_object();
    }
    static int remembered(const taskwarrior& replica) {
        int files = 0;
        for (const auto& each :
             std::filesystem::directory_iterator(data_of(replica) / "callsign-keys")) {
            files += parse_uuid(each.path().filename().string()) ? 1 : 0;
        }
        return files;
    }

    static void add(const taskwarrior& replica, std::vector<std::string> words) {
        words.insert(words.begin(), "add");
        expect_done(replica(words));
    }
    static std::string key_of(const taskwarrior& replica, const std::string& description) {
        for (const auto& [uuid, task] : tasks_of(replica)) {
            if (text_in(task, "description") == description) return text_in(task, "key");
        }
        return "no task";
    }
    // Counts the tasks for each value of an attribute.
    static std::map<std::string, int> times(const task_table& tasks, std::string_view attribute) {
        std::map<std::string, int> all;
        for (const auto& [uuid, task] : tasks) ++all[text_in(task, attribute)];
        return all;
    }

    std::unique_ptr<server> s;
};

TEST_F(hook_test, tasks_of_an_opaque_account_have_keys_with_and_without_a_server) {
    begin();
    ask_callsign({"series", "create", "vault", "--prefix", "DOOR", "--project", "house"});
    const auto laptop = make_replica();
    const auto phone = make_replica();
    install(*laptop);
    install(*phone);
    std::map<std::string, int> descriptions;
    const auto added = [&](const taskwarrior& replica, const std::string& description,
                           std::vector<std::string> more = {}) {
        more.insert(more.begin(), description);
        add(replica, more);
        descriptions[description] = 1;
    };

    // An attribute that Taskwarrior does not know, and characters that need escapes.
    const json::object odd{{"uuid", "5a000000-0000-4000-8000-000000000001"},
                           {"description", "One \"quoted\" back\\slash / \xC3\xBCnder }{"},
                           {"entry", "20261101T080000Z"},
                           {"status", "pending"},
                           {"tags", {"a", "b"}},
                           {"room", "12 \\n \xE6\x95\xB0"}};
    expect_done(laptop->import(json::serialize(json::array{odd})));
    json::object with_key = odd;
    with_key["key"] = "SEC-1";
    json::object imported = tasks_of(*laptop).at("5a000000-0000-4000-8000-000000000001");
    imported.erase("modified");
    EXPECT_EQ(imported, with_key) << json::serialize(imported);
    descriptions[text_in(odd, "description")] = 1;

    added(*phone, "Two");
    added(*phone, "At the door", {"project:house"});
    EXPECT_EQ(key_of(*phone, "At the door"), "DOOR-1");
    expect_done(laptop->sync());
    expect_done(phone->sync());
    EXPECT_EQ(key_of(*phone, text_in(odd, "description")), "SEC-1");

    s->child().kill();
    for (const char* const each : {"Three", "Four", "Five"}) added(*laptop, each);
    added(*phone, "Six");
    added(*phone, "In the hall", {"project:house"});
    // A duplicate would inherit the key.
    expect_done((*phone)({"description:Two", "duplicate", "description:Seven"}));
    descriptions["Seven"] = 1;
    EXPECT_EQ(key_of(*phone, "Seven"), "");
    expect_done((*phone)({"key.is:SEC-2", "modify", "key:SEC-99", "+mine"}));
    EXPECT_EQ(key_of(*phone, "Two"), "SEC-2");
    EXPECT_EQ(remembered(*laptop), 3);
    EXPECT_EQ(remembered(*phone), 3);
    EXPECT_EQ(hook(*laptop, {"catch-up", "--task", program}).status, (exit_status{1, 0}));
    EXPECT_EQ(remembered(*laptop), 3);
    expect_done((*laptop)({"description:Five", "delete"}));

    s->start();
    EXPECT_EQ(json::serialize(catch_up(*phone)), R"({"set":3,"gone":0,"waiting":0})");
    EXPECT_EQ(json::serialize(catch_up(*laptop)), R"({"set":2,"gone":1,"waiting":0})");
    EXPECT_EQ(remembered(*laptop), 0);
    added(*laptop, "Eight");
    expect_done(phone->sync());
    expect_done(laptop->sync());
    expect_done(phone->sync());

    const task_table tasks = tasks_of(*laptop);
    EXPECT_EQ(differences(tasks, tasks_of(*phone)), "");
    EXPECT_EQ(times(tasks, "description"), descriptions);
    std::map<std::string, int> keys{{"", 1}, {"DOOR-1", 1}, {"DOOR-2", 1}};  // "": the deleted one
    for (int n = 1; n <= 7; ++n) keys["SEC-" + std::to_string(n)] = 1;
    EXPECT_EQ(times(tasks, "key"), keys);
    expect_sound();
}

// The server accepts connections and never responds.
TEST_F(hook_test, a_silent_server_delays_no_command) {
    begin();
    const auto laptop = make_replica();
    install(*laptop, "500ms");
    s->child().signal(SIGSTOP);
    for (const char* const each : {"One", "Two", "Three"}) add(*laptop, {each});
    EXPECT_EQ(remembered(*laptop), 3);
    s->child().signal(SIGCONT);
    EXPECT_EQ(json::serialize(catch_up(*laptop)), R"({"set":3,"gone":0,"waiting":0})");
    install(*laptop);
    add(*laptop, {"Four"});
    EXPECT_EQ(key_of(*laptop, "Four"), "SEC-4");
    expect_sound();
}

// Tasks created before the installation of the hooks, or by replicas without hooks.
TEST_F(hook_test, all_others_get_their_keys_when_asked_for) {
    begin();
    const auto laptop = make_replica();
    const auto phone = make_replica();
    add(*phone, {"Old", "entry:2026-01-01"});
    add(*phone, {"Older", "entry:2025-01-01"});
    expect_done(phone->sync());
    expect_done(laptop->sync());
    install(*laptop);
    // Recurring instances are tasks of their own, with copied attributes.
    add(*laptop, {"Again", "due:yesterday", "until:today+2d", "recur:daily"});
    expect_done((*laptop)({"list"}));
    EXPECT_EQ(json::serialize(catch_up(*laptop, {"--all"})), R"({"set":2,"gone":0,"waiting":0})");
    const auto keys = times(tasks_of(*laptop), "key");
    EXPECT_FALSE(keys.contains(""));
    for (const auto& [key, count] : keys) EXPECT_EQ(count, 1) << key;
    EXPECT_GE(keys.size(), 4u);
    // In the order of creation.
    const std::string last = "SEC-" + std::to_string(keys.size());
    EXPECT_EQ(key_of(*laptop, "Old"), last);
    expect_done(laptop->sync());
    expect_done(phone->sync());
    EXPECT_EQ(key_of(*phone, "Old"), last);
    expect_sound();
}

}  // namespace
}  // namespace callsign::testing
