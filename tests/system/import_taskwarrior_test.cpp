// Goal: users can import the tasks of a Taskwarrior into an account and continue with them on any
// device. Method: the real programs, with an export of a real Taskwarrior if there is one.

#include "taskwarrior_fixture.hpp"

#include <fstream>
#include <map>

namespace callsign::testing {
namespace {

using counts = std::vector<std::int64_t>;

class import_test : public system_test {
  protected:
    void write(const std::string& text) const { std::ofstream(file()) << text; }
    std::string file() const { return temp_path("export.json").string(); }

    // Counts: tasks, imported, already present.
    counts import_into(const std::string& account) const {
        const json::object done =
            ask_callsign({"import", "taskwarrior", file(), "--account", account});
        counts all;
        for (const char* name : {"tasks", "imported", "thereAlready"})
            all.push_back(done.contains(name) ? done.at(name).to_number<std::int64_t>() : -1);
        return all;
    }
};

TEST_F(import_test, an_export_is_taken_once_whatever_comes_between) {
    auto s = start();
    const std::string token = make_account(*s, "ops", "OPS");
    std::string text;
    for (int n = 0; n < 1201; ++n) {
        text += R"({"uuid":"11111111-2222-4333-8444-)" + std::to_string(100'000'000'000 + n) +
                R"(","description":"Task )" + std::to_string(n) +
                R"(","entry":"20261120T124800Z","status":"pending"})" + "\n";
    }
    write(text);
    EXPECT_EQ(import_into("ops"), (counts{1201, 1201, 0}));
    s->child().kill();
    s->start();
    EXPECT_EQ(import_into("ops"), (counts{1201, 0, 1201}));
    http_client client(s->port(), token);
    const auto last = client.get("/v1/tasks/OPS-1201");
    ASSERT_TRUE(last.has_value());
    EXPECT_NE(last->body.find("\"Task 1200\""), std::string::npos) << last->body;
    expect_sound();
}

TEST_F(import_test, an_invalid_export_and_an_opaque_account_are_rejected) {
    auto s = start();
    const std::string token = make_account(*s, "ops", "OPS");
    ask_callsign({"account", "create", "desk", "--prefix", "DESK", "--opaque"});
    write(R"([{"uuid":"11111111-2222-4333-8444-555555555555","description":"x"},{"id":7}])");
    const finished faulty = callsign({"import", "taskwarrior", file(), "--account", "ops"});
    EXPECT_EQ(faulty.status, (exit_status{1, 0}));
    EXPECT_NE(faulty.err.find("entry 2: "), std::string::npos) << faulty.err;
    http_client client(s->port(), token);
    const auto none = client.get("/v1/tasks/OPS-1");
    EXPECT_TRUE(none && none->status == 404u);

    write("[]");
    const finished rejected = callsign({"import", "taskwarrior", file(), "--account", "desk"});
    EXPECT_EQ(rejected.status, (exit_status{1, 0}));
    EXPECT_NE(rejected.err.find("account-opaque"), std::string::npos) << rejected.err;
}

TEST_F(import_test, keys_are_all_kept_or_nothing_is_imported) {
    auto s = start();
    const std::string token = make_account(*s, "ops", "TASK");
    std::string text;
    for (int n = 1; n <= 20; ++n) {
        // Later tasks in the file are older: a device that synced later created them.
        text += R"({"uuid":"11111111-2222-4333-8444-)" + std::to_string(100'000'000'000 + n) +
                R"(","description":"Task )" + std::to_string(n) + R"(","key":"SYN-)" +
                std::to_string(n) + R"(","entry":"202610)" + std::to_string(31 - n) +
                R"(T124800Z"})" + "\n";
    }
    text += R"({"uuid":"11111111-2222-4333-8444-555555555555","description":"no key"})";
    write(text);
    const std::vector<std::string> import = {"import",    "taskwarrior", file(),
                                             "--account", "ops",         "--with-keys"};
    const finished rejected = callsign(import);
    EXPECT_EQ(rejected.status, (exit_status{1, 0}));
    EXPECT_NE(rejected.err.find("series SYN does not exist; 20 tasks have a key of it"),
              std::string::npos)
        << rejected.err;
    http_client client(s->port(), token);
    EXPECT_EQ(client.get("/v1/tasks/TASK-1")->status, 404u);

    ask_callsign({"series", "create", "ops", "--prefix", "SYN"});
    ask_callsign(import);
    for (int n = 1; n <= 20; ++n) {
        const auto task = client.get("/v1/tasks/SYN-" + std::to_string(n));
        ASSERT_TRUE(task.has_value());
        EXPECT_NE(task->body.find("\"Task " + std::to_string(n) + "\""), std::string::npos);
    }
    EXPECT_EQ(client.get("/v1/tasks/TASK-1")->status, 200u);
    ask_callsign(import);
    expect_sound();
}

class import_from_taskwarrior_test : public with_taskwarrior<import_test> {
  protected:
    // By UUID, without the key and attributes that differ between replicas.
    static std::map<std::string, std::map<std::string, std::string>> tasks_of(
        const taskwarrior& device) {
        std::map<std::string, std::map<std::string, std::string>> tasks;
        const json::value exported = json::parse(device.exported());
        for (const json::value& one : exported.as_array()) {
            auto& task = tasks[std::string(one.as_object().at("uuid").as_string())];
            for (const auto& [name, value] : one.as_object()) task[name] = json::serialize(value);
            for (const char* name : {"id", "urgency", "key"}) task.erase(name);
        }
        return tasks;
    }

    taskwarrior add_device(const server& s, const std::string& name) const {
        const json::object made = ask_callsign({"device", "add", "ops", "--name", name});
        return {program, s.port(), std::string(made.at("clientId").as_string()),
                std::string(made.at("encryptionSecret").as_string())};
    }
};

TEST_F(import_from_taskwarrior_test, every_device_then_has_the_tasks_with_their_keys) {
    const std::string key_file = temp_path("master.key").string();
    ask_callsign({"master-key", "new", key_file});
    auto s = start({}, {{"CALLSIGN_SECRETS_MASTER_KEY_FILE", key_file}});
    ask_callsign({"account", "create", "ops", "--prefix", "OPS"});
    // It has tasks from before the server existed.
    const taskwarrior old = add_device(*s, "old");
    expect_done(old({"add", "First", "entry:yesterday", "+loud", "+home",
                     "project:test_server.garden", "priority:H"}));
    expect_done(old({"add", "Second", "due:2026-12-24T18:00:00", "wait:2026-12-01", "depends:1"}));
    expect_done(old(
        {"rc.uda.estimate.type=numeric", "add", "Third", "estimate:3", "scheduled:2026-12-02"}));
    expect_done(old({"rc.uda.note.type=string", "add", "Fourth \"\xC3\xA9\\ /", "note:a b"}));
    expect_done(old({"add", "Over"}));
    expect_done(old({"add", "Weekly", "recur:weekly", "due:tomorrow", "until:2027-03-01"}));
    expect_done(old({"1", "annotate", "said it"}));
    expect_done(old({"1", "start"}));
    expect_done(old({"/Over/", "done"}));
    old({"list"});  // creates the first recurring instances
    write(old({"rc.uda.estimate.type=numeric", "export"}).out);
    const auto before = tasks_of(old);
    const auto n = static_cast<std::int64_t>(before.size());
    ASSERT_GE(n, 7);

    EXPECT_EQ(import_into("ops"), (counts{n, n, 0}));
    EXPECT_EQ(import_into("ops"), (counts{n, 0, n}));

    const taskwarrior fresh = add_device(*s, "fresh");
    expect_done(fresh.sync());
    EXPECT_EQ(tasks_of(fresh), before);
    const std::string first = fresh({"key.is:OPS-1", "export"}).out;
    EXPECT_NE(first.find("\"First\""), std::string::npos) << first;

    // The old device syncs too, and both converge; another import adds nothing.
    expect_done(old.sync());
    EXPECT_EQ(tasks_of(old), before);
    expect_done(old({"key.is:OPS-1", "modify", "-loud", "+quiet"}));
    expect_done(old.sync());
    expect_done(fresh.sync());
    EXPECT_EQ(tasks_of(fresh), tasks_of(old));
    write(fresh.exported());
    EXPECT_EQ(import_into("ops"), (counts{n, 0, n}));
    expect_sound();
}

// An interrupted sync has left tasks with a creation only.
TEST_F(import_from_taskwarrior_test, the_devices_export_completes_what_a_cut_sync_left) {
    const std::string key_file = temp_path("master.key").string();
    ask_callsign({"master-key", "new", key_file});
    const std::vector<std::pair<std::string, std::string>> env{
        {"CALLSIGN_SECRETS_MASTER_KEY_FILE", key_file}};
    auto s = start({}, env);
    ask_callsign({"account", "create", "ops", "--prefix", "OPS"});
    const taskwarrior device = add_device(*s, "device");
    expect_done(device({"add", "Torn", "+loud", "project:house", "due:2026-12-24T18:00:00"}));
    expect_done(device({"add", "Whole"}));
    const auto before = tasks_of(device);
    std::string torn;
    for (const auto& [id, task] : before) {
        if (task.at("description") == "\"Torn\"") torn = id;
    }
    http_client operator_(s->port(), s->admin_token());
    const auto made = operator_.post_json("/v1/admin/accounts/ops/import",
                                          R"({"tasks":[{"uuid":")" + torn + R"("}]})");
    ASSERT_TRUE(made && made->status == 200u);

    EXPECT_FALSE(ask_callsign({"check"}).contains("incomplete")) << "a sync may be in progress";
    write(device.exported());
    const json::object done = ask_callsign({"import", "taskwarrior", file(), "--account", "ops"});
    EXPECT_EQ(done.at("completed").to_number<int>(), 1);
    EXPECT_EQ(done.at("imported").to_number<int>(), 1);
    const taskwarrior fresh = add_device(*s, "fresh");
    expect_done(fresh.sync());
    EXPECT_EQ(tasks_of(fresh), before);
    expect_done(device.sync());
    EXPECT_EQ(tasks_of(device), before);
    EXPECT_NE(fresh({"key.is:OPS-1", "export"}).out.find("\"Torn\""), std::string::npos);
    EXPECT_FALSE(ask_callsign({"check"}).contains("incomplete"));
    expect_sound();
}

}  // namespace
}  // namespace callsign::testing
