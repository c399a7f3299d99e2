// Goal: a remote account loses nothing, duplicates nothing and numbers every task once, whatever
// happens to either server and to the connection between them.
//
// Method: two real servers, connected by a proxy that loses, delays and duplicates requests and
// responses; real Taskwarriors sync with the remote server while REST clients create and edit tasks
// on the local one; both are killed at random. At the end every Taskwarrior has every task once,
// with its key, the numbers are 1..n, and both checks pass. CALLSIGN_SYSTEM_SEED determines the
// moments.

#include "support/recording_proxy.hpp"
#include "support/retrying_client.hpp"
#include "support/setting.hpp"
#include "taskwarrior_fixture.hpp"

#include <atomic>
#include <fstream>
#include <mutex>
#include <random>
#include <set>
#include <thread>

namespace callsign::testing {
namespace {

constexpr const char* secret = "b4a4e6b7b811eda1dc1a2693ded";

// The remote server (far_) and the local one (near_).
class remote_test : public with_taskwarrior<system_test> {
  protected:
    void SetUp() override {}  // most tests need no Taskwarrior

    void begin(bool by_proxy = false) {
        far_ = std::make_unique<server>(server::options{
            programs(), temp_path("far"), {}, {{"CALLSIGN_SYNC_TURNSTILE", "0ms"}}});
        near_ = start({}, near_environment());
        client_id_ = make_client("team");
        std::ofstream(temp_path("secret")) << secret << "\n";
        if (by_proxy) proxy_ = std::make_unique<recording_proxy>(far_->port());
        const json::object account = ask_callsign({"account", "create", "mirror", "--prefix", "SYN",
                                                   "--remote", url(), "--client-id", client_id_,
                                                   "--secret-file", temp_path("secret").string()});
        token_ = text_in(account, "token");
    }

    static environment near_environment() {
        return {{"CALLSIGN_MASTER_KEY", std::string(64, '7')},
                {"CALLSIGN_REMOTE_POLL_INTERVAL", "200ms"},
                {"CALLSIGN_REMOTE_RETRY_MIN", "50ms"},
                {"CALLSIGN_REMOTE_RETRY_MAX", "500ms"},
                {"CALLSIGN_REMOTE_TIMEOUT", "2s"},
                {"CALLSIGN_ENGINE_REQUEST_DEADLINE", "2s"},
                {"CALLSIGN_REAPER_INTERVAL", "1s"}};
    }
    // Creates a client ID without tasks on the remote server.
    std::string make_client(const std::string& name) const {
        const finished made =
            run({(programs() / "callsign").string(), "account", "create", name, "--prefix", "FAR",
                 "--opaque", "--data-dir", temp_path("far").string(), "--json"},
                timeout);
        return text_in(json::parse(made.out).as_object(), "clientId");
    }
    // The options of `callsign` that name the remote server and this client ID.
    std::vector<std::string> move(const std::string& account, const std::string& client) const {
        return {"account", "move",          account,
                "--to",    url(),           "--client-id",
                client,    "--secret-file", temp_path("secret").string(),
                "--yes"};
    }
    void set_out_for_there(const taskwarrior& device, const std::string& client) const {
        device.move_to(far_->port());
        device.configure("sync.server.client_id=" + client);
        device.configure(std::string("sync.encryption_secret=") + secret);
    }
    std::string url() const {
        return "http://127.0.0.1:" + std::to_string(proxy_ ? proxy_->port() : far_->port());
    }
    std::unique_ptr<taskwarrior> make_taskwarrior() const {
        return std::make_unique<taskwarrior>(program, far_->port(), client_id_, secret);
    }

    json::object state() const {
        const json::object shown = ask_callsign({"account", "show", "mirror"});
        return shown.at("remote").as_object();
    }
    // Waits until the account's state satisfies the condition.
    void await_state(const std::function<bool(const json::object&)>& is_so,
                     const std::string& what) const {
        const auto until = std::chrono::steady_clock::now() + timeout;
        json::object now;
        while (std::chrono::steady_clock::now() < until) {
            now = state();
            if (is_so(now)) return;
            std::this_thread::sleep_for(50ms);
        }
        ADD_FAILURE() << "never " << what << ": " << json::serialize(now);
    }
    static bool is_settled(const json::object& r) {
        return text_in(r, "state") == "up_to_date" && r.at("creationsWaiting") == 0 &&
               r.at("keysWaiting") == 0;
    }
    void await_settled() const { await_state(is_settled, "settled"); }

    std::optional<http_answer> create(const std::string& key,
                                      const std::string& description) const {
        http_client rest(near_->port(), token_);
        return rest.post_json("/v1/tasks",
                              json::serialize(json::object{{"description", description}}), key);
    }

    finished check(const std::string& directory) const {
        return run({(programs() / "callsign").string(), "check", "--data-dir",
                    temp_path(directory).string(), "--json"},
                   timeout);
    }
    void expect_both_sound() {
        near_->child().signal(SIGTERM);
        expect_exit(near_->child(), 0);
        far_->child().signal(SIGTERM);
        expect_exit(far_->child(), 0);
        expect_sound();
        EXPECT_EQ(check("far").status, (exit_status{0, 0}));
    }

    std::optional<http_answer> describe(const std::string& task, const std::string& text) const {
        http_client rest(near_->port(), token_);
        return rest.request("PATCH", "/v1/tasks/" + task, {{"Content-Type", "application/json"}},
                            json::serialize(json::object{{"description", text}}));
    }

    std::unique_ptr<server> far_, near_;
    std::unique_ptr<recording_proxy> proxy_;
    std::string client_id_, token_;
};

class remote_with_taskwarrior : public remote_test {
  protected:
    void SetUp() override { with_taskwarrior<system_test>::SetUp(); }
};

TEST_F(remote_test, a_task_is_created_on_both_servers_and_a_retry_gets_its_receipt) {
    begin();
    const auto made = create("one", "made here");
    ASSERT_TRUE(made);
    ASSERT_EQ(made->status, 201u) << made->body;
    EXPECT_EQ(text_in(json::parse(made->body).as_object(), "key"), "SYN-1");
    const auto again = create("one", "made here");
    EXPECT_EQ(again->body, made->body);
    EXPECT_EQ(again->header("Idempotent-Replayed"), "true");
    await_settled();
    EXPECT_TRUE(state().contains("version"));
    expect_both_sound();
}

TEST_F(remote_test, a_wrong_secret_or_an_unreachable_server_creates_no_account) {
    begin();
    ASSERT_EQ(create("one", "so that there is something to open")->status, 201u);
    std::ofstream(temp_path("wrong")) << "another secret\n";
    const finished wrong =
        callsign({"account", "create", "other", "--prefix", "O", "--remote", url(), "--client-id",
                  client_id_, "--secret-file", temp_path("wrong").string()});
    EXPECT_NE(wrong.status, (exit_status{0, 0}));
    EXPECT_NE(wrong.err.find("cannot be decrypted"), std::string::npos) << wrong.err;
    far_->child().kill();
    const finished gone =
        callsign({"account", "create", "other", "--prefix", "O", "--remote", url(), "--client-id",
                  client_id_, "--secret-file", temp_path("secret").string()});
    EXPECT_NE(gone.status, (exit_status{0, 0}));
    EXPECT_EQ(ask_callsign({"account", "list"}).at("accounts").as_array().size(), 2u);
}

TEST_F(remote_test, http_to_another_host_requires_insecure) {
    begin();
    const finished plain =
        callsign({"account", "create", "other", "--prefix", "O", "--remote", "http://192.0.2.1/",
                  "--client-id", client_id_, "--secret-file", temp_path("secret").string()});
    EXPECT_NE(plain.status, (exit_status{0, 0}));
    EXPECT_NE(plain.err.find("https"), std::string::npos) << plain.err;
}

// While the remote server is unreachable, creations neither fail nor get lost.
TEST_F(remote_test, creations_begun_without_the_remote_server_are_completed_later) {
    begin();
    ASSERT_EQ(create("one", "before")->status, 201u);
    far_->child().kill();
    const auto waiting = create("two", "meanwhile");
    ASSERT_TRUE(waiting);
    EXPECT_EQ(waiting->status, 409u) << waiting->body;
    EXPECT_NE(waiting->body.find("request-in-progress"), std::string::npos);
    EXPECT_FALSE(waiting->header("Retry-After").empty());
    const auto rejected = describe("SYN-1", "x");
    ASSERT_TRUE(rejected);
    EXPECT_EQ(rejected->status, 503u) << rejected->body;
    await_state([](const json::object& r) { return !text_in(r, "lastError").empty(); }, "at fault");
    ask_callsign({"reaper", "sweep"});
    const json::object slots = ask_callsign({"slots", "list", "--state", "in_flight"});
    EXPECT_EQ(slots.at("slots").as_array().size(), 1u);
    const json::object reaper = ask_callsign({"reaper", "status"});
    const auto& flying = reaper.at("inFlight").as_array();
    ASSERT_EQ(flying.size(), 1u);
    EXPECT_EQ(text_in(flying[0].as_object(), "account"), "mirror");
    EXPECT_EQ(flying[0].at("creations"), 1);
    // The local server is killed too: its outbox is durable.
    near_->child().kill();
    near_->start();
    far_->start();
    await_settled();
    const auto made = create("two", "meanwhile");
    ASSERT_EQ(made->status, 201u) << made->body;
    EXPECT_EQ(text_in(json::parse(made->body).as_object(), "key"), "SYN-2");
    expect_both_sound();
}

TEST_F(remote_test, a_restored_remote_server_is_noticed_and_nothing_more_is_sent) {
    begin();
    ASSERT_EQ(create("one", "kept")->status, 201u);
    await_settled();
    far_->child().signal(SIGTERM);
    expect_exit(far_->child(), 0);
    const auto backup = temp_path("backup");
    std::filesystem::copy(temp_path("far"), backup, std::filesystem::copy_options::recursive);
    far_->start();
    ASSERT_EQ(create("two", "lost there")->status, 201u);
    await_settled();
    far_->child().signal(SIGTERM);
    expect_exit(far_->child(), 0);
    std::filesystem::remove_all(temp_path("far"));
    std::filesystem::copy(backup, temp_path("far"), std::filesystem::copy_options::recursive);
    far_->start();
    await_state([](const json::object& r) { return text_in(r, "halted") == "history-lost"; },
                "halted");
    const auto rejected = create("three", "later");
    EXPECT_EQ(rejected->status, 503u) << rejected->body;
    EXPECT_NE(rejected->body.find("remote-halted"), std::string::npos);
    // The operator decides.
    EXPECT_NE(callsign({"account", "remote", "mirror"}).status, (exit_status{0, 0}));
    ask_callsign({"account", "remote", "mirror", "--accept-loss", "--yes"});
    await_settled();
    http_client rest(near_->port(), token_);
    EXPECT_EQ(rest.get("/v1/tasks/SYN-1")->status, 200u);
    EXPECT_EQ(rest.get("/v1/tasks/SYN-2")->status, 410u);  // its number is never used again
    const auto next = create("three", "later");
    ASSERT_EQ(next->status, 201u) << next->body;
    EXPECT_EQ(text_in(json::parse(next->body).as_object(), "key"), "SYN-3");
    expect_both_sound();
}

TEST_F(remote_test, an_account_lost_on_the_remote_server_is_noticed) {
    begin();
    for (const char* key : {"one", "two"}) ASSERT_EQ(create(key, key)->status, 201u);
    await_settled();
    far_->child().kill();
    std::filesystem::remove_all(temp_path("far"));
    near_->child().signal(SIGTERM);  // at the next start the remote chain is queried
    expect_exit(near_->child(), 0);
    far_->start();
    near_->start();
    await_state(
        [](const json::object& r) {
            return text_in(r, "halted") == "history-lost" || !text_in(r, "lastError").empty();
        },
        "noticed");
    EXPECT_NE(create("three", "not now")->status, 201u);
}

TEST_F(remote_test, moves_to_the_local_server_with_its_keys) {
    begin();
    ASSERT_EQ(create("one", "mine")->status, 201u);
    EXPECT_NE(callsign({"device", "add", "mirror", "--name", "laptop"}).status,
              (exit_status{0, 0}));
    ask_callsign({"account", "move", "mirror", "--here", "--yes"});
    EXPECT_FALSE(ask_callsign({"account", "show", "mirror"}).contains("remote"));
    ask_callsign({"device", "add", "mirror", "--name", "laptop"});
    far_->child().kill();
    const auto next = create("two", "made here alone");
    ASSERT_EQ(next->status, 201u) << next->body;
    EXPECT_EQ(text_in(json::parse(next->body).as_object(), "key"), "SYN-2");
    near_->child().signal(SIGTERM);
    expect_exit(near_->child(), 0);
    expect_sound();
}

// The move needs the remote server, which may have further tasks.
TEST_F(remote_test, does_not_move_while_the_remote_server_is_unreachable) {
    begin();
    far_->child().kill();
    const finished rejected = callsign({"account", "move", "mirror", "--here", "--yes"});
    EXPECT_NE(rejected.status, (exit_status{0, 0}));
    EXPECT_TRUE(ask_callsign({"account", "show", "mirror"}).contains("remote"));
}

// The move is interrupted by a kill and repeated: every task is there once, and none is lost.
TEST_F(remote_with_taskwarrior, an_account_moves_to_a_remote_server_with_its_keys) {
    begin();
    const std::string client_id = make_client("new");
    const std::string mine =
        text_in(ask_callsign({"account", "create", "here", "--prefix", "HERE"}), "token");
    http_client rest(near_->port(), mine);
    constexpr int tasks = 1'200;
    for (int n = 1; n <= tasks; ++n) {
        const json::object task{{"description", "task " + std::to_string(n)}};
        const auto made = rest.post_json("/v1/tasks", json::serialize(task), std::to_string(n));
        ASSERT_TRUE(made && made->status == 201);
    }
    const std::vector<std::string> there = move("here", client_id);
    // Unsent changes of a device would be lost.
    const json::object device = ask_callsign({"device", "add", "here", "--name", "phone"});
    const taskwarrior phone(program, text_in(device, "taskrc"));
    expect_done(phone.sync());
    const finished rejected = callsign(there);
    EXPECT_NE(rejected.status, (exit_status{0, 0}));
    EXPECT_NE(rejected.err.find("revoke"), std::string::npos) << rejected.err;
    ask_callsign({"device", "revoke", "here", "phone", "--yes"});

    std::thread command([&] { callsign(there); });
    const auto until = std::chrono::steady_clock::now() + timeout;
    const auto shown = [&] { return ask_callsign({"account", "show", "here"}); };
    while (!shown().contains("remote") && std::chrono::steady_clock::now() < until) {
    }
    near_->child().kill();
    command.join();
    near_->start();
    const finished again = callsign(there);
    EXPECT_EQ(again.status, (exit_status{0, 0})) << again.err;
    EXPECT_EQ(json::parse(again.out).at("remote").at("moving"), false) << again.out;

    taskwarrior laptop(program, far_->port(), client_id, secret);
    expect_done(laptop.sync());
    const auto sent = tasks_of(laptop);
    ASSERT_EQ(sent.size(), std::size_t{tasks});
    std::set<std::string> keys;
    for (const auto& [id, task] : sent) keys.insert(text_in(task, "key"));
    EXPECT_EQ(keys.size(), std::size_t{tasks});
    EXPECT_TRUE(keys.contains("HERE-1") && keys.contains("HERE-1200"));
    expect_done(laptop({"add", "made there"}));
    expect_done(laptop.sync());
    http_client found(near_->port(), mine);
    while (std::chrono::steady_clock::now() < until) {
        if (found.get("/v1/tasks/HERE-1201")->status == 200) break;
    }
    EXPECT_EQ(found.get("/v1/tasks/HERE-1201")->status, 200u);
    // A Taskwarrior that synced with the local server must be reset to sync with the remote one.
    set_out_for_there(phone, client_id);
    const finished unknown = phone.sync();
    EXPECT_NE(unknown.out.find("410") + unknown.err.find("410"), 2 * std::string::npos);
    EXPECT_NE(unknown.status, (exit_status{0, 0}));
    phone.begin_anew();
    expect_done(phone.sync());
    expect_done(laptop.sync());
    EXPECT_EQ(differences(tasks_of(laptop), tasks_of(phone)), "");
    // The destination must be empty.
    ask_callsign({"account", "create", "second", "--prefix", "S"});
    EXPECT_NE(callsign(move("second", client_id)).err.find("must be new on the remote server"),
              std::string::npos);
    expect_both_sound();
}

// All devices sync, then switch to a new client ID on the remote server, then the account moves: no
// device is reset.
TEST_F(remote_with_taskwarrior, an_account_follows_its_devices_to_a_remote_server) {
    begin();
    const std::string client_id = make_client("new");
    const std::string mine =
        text_in(ask_callsign({"account", "create", "here", "--prefix", "HERE"}), "token");
    std::vector<std::unique_ptr<taskwarrior>> devices;
    for (const char* name : {"laptop", "phone"}) {
        const json::object device = ask_callsign({"device", "add", "here", "--name", name});
        devices.push_back(std::make_unique<taskwarrior>(program, text_in(device, "taskrc")));
        // Later tasks have earlier entry times: a new account would assign other numbers.
        for (const char* day : {"2026-03-03", "2026-02-02", "2026-01-01"}) {
            expect_done((*devices.back())({"add", name, day, std::string("entry:") + day}));
            expect_done(devices.back()->sync());
        }
    }
    for (int n = 0; n < 2; ++n) {
        for (const auto& device : devices) expect_done(device->sync());
    }
    const auto before = tasks_of(*devices[0]);
    EXPECT_EQ(differences(before, tasks_of(*devices[1])), "");
    for (const char* name : {"laptop", "phone"}) {
        ask_callsign({"device", "revoke", "here", name, "--yes"});
    }
    for (const auto& device : devices) set_out_for_there(*device, client_id);
    expect_done((*devices[1])({"add", "made there"}));
    for (const int n : {1, 0}) expect_done(devices[static_cast<std::size_t>(n)]->sync());

    const finished moved = callsign(move("here", client_id));
    EXPECT_EQ(moved.status, (exit_status{0, 0})) << moved.err;
    http_client rest(near_->port(), mine);
    const auto until = std::chrono::steady_clock::now() + timeout;
    while (rest.get("/v1/tasks/HERE-7")->status != 200) {
        ASSERT_LT(std::chrono::steady_clock::now(), until);
    }
    ASSERT_EQ(rest.post_json("/v1/tasks", R"({"description":"over REST"})", "k")->status, 201u);
    taskwarrior newcomer(program, far_->port(), client_id, secret);
    const auto all_have = [&] {
        for (const auto& device : devices) expect_done(device->sync());
        expect_done(newcomer.sync());
        const auto tasks = tasks_of(newcomer);
        return tasks.size() == 8 &&
               std::ranges::all_of(tasks, [](const auto& t) { return t.second.contains("key"); });
    };
    while (!all_have()) ASSERT_LT(std::chrono::steady_clock::now(), until);
    const auto after = tasks_of(newcomer);
    for (const auto& device : devices) EXPECT_EQ(differences(tasks_of(*device), after), "");
    for (const auto& [id, task] : before) {
        EXPECT_EQ(text_in(after.at(id), "key"), text_in(task, "key"));
    }
    expect_both_sound();
}

// Callsign is another replica of the remote server. If its version comes before that of a
// Taskwarrior that has already pulled, the Taskwarrior gets 409 and sends again within the same
// sync.
TEST_F(remote_with_taskwarrior, a_local_write_is_a_conflict_for_a_remote_taskwarrior) {
    begin();
    recording_proxy between(far_->port());
    const taskwarrior laptop(program, between.port(), client_id_, secret);
    expect_done(laptop({"add", "from the laptop"}));
    auto written = between.at_next_version(recording_proxy::moment::arrived, [&] {
        EXPECT_EQ(create("k", "over REST")->status, 201u);
        await_settled();
    });
    expect_done(laptop.sync());
    written.get();
    EXPECT_EQ(between.count("POST", "/v1/client/add-version", 409), 1);
    await_state([](const json::object& r) { return r.contains("version"); }, "pulled");
    const auto until = std::chrono::steady_clock::now() + timeout;
    http_client rest(near_->port(), token_);
    while (rest.get("/v1/tasks/SYN-2")->status != 200) {
        ASSERT_LT(std::chrono::steady_clock::now(), until);
    }
    await_settled();
    expect_done(laptop.sync());
    const auto tasks = tasks_of(laptop);
    ASSERT_EQ(tasks.size(), 2u);
    for (const auto& [id, task] : tasks) EXPECT_TRUE(task.contains("key")) << json::serialize(task);
    expect_both_sound();
}

TEST_F(remote_with_taskwarrior, its_tasks_have_keys_and_edits_go_both_ways) {
    begin();
    const auto laptop = make_taskwarrior();
    expect_done((*laptop)({"add", "from the laptop"}));
    expect_done(laptop->sync());
    await_state(
        [](const json::object& r) { return r.at("keysWaiting") == 0 && r.contains("version"); },
        "numbered");
    await_settled();
    http_client rest(near_->port(), token_);
    const auto edited = describe("SYN-1", "edited here");
    ASSERT_EQ(edited->status, 200u) << edited->body;
    expect_done(laptop->sync());
    const auto tasks = tasks_of(*laptop);
    ASSERT_EQ(tasks.size(), 1u);
    EXPECT_EQ(text_in(tasks.begin()->second, "description"), "edited here");
    EXPECT_EQ(text_in(tasks.begin()->second, "key"), "SYN-1");
    expect_done((*laptop)({"key:SYN-1", "done"}));
    expect_done(laptop->sync());
    const auto until = std::chrono::steady_clock::now() + timeout;
    std::string status;
    while (status != "completed" && std::chrono::steady_clock::now() < until) {
        status = text_in(json::parse(rest.get("/v1/tasks/SYN-1")->body).as_object(), "status");
    }
    EXPECT_EQ(status, "completed");
    expect_both_sound();
}

TEST_F(remote_with_taskwarrior, every_task_once_with_its_key_whatever_is_killed_and_lost) {
    const std::uint64_t drawn = system_seed();
    SCOPED_TRACE("CALLSIGN_SYSTEM_SEED=" + std::to_string(drawn));
    std::mt19937_64 random(drawn);
    begin(true);
    proxy_->disturb(drawn, 30);
    std::vector<std::unique_ptr<taskwarrior>> replicas;
    for (int n = 0; n < 2; ++n) replicas.push_back(make_taskwarrior());

    std::atomic<int> at_work = 4;
    std::mutex mutex;
    std::map<std::string, std::string> receipts;  // by idempotency key
    std::vector<std::string> faults;
    const auto note = [&](const std::string& fault) {
        const std::lock_guard lock(mutex);
        faults.push_back(fault);
    };
    constexpr int creations = 12, adds = 6;
    std::vector<std::thread> clients;
    for (int c = 0; c < 3; ++c) {
        clients.emplace_back([&, c] {
            for (int n = 0; n < creations; ++n) {
                const std::string key = std::to_string(c) + "-" + std::to_string(n);
                const auto until = std::chrono::steady_clock::now() + timeout;
                for (bool known = false; !known;) {
                    if (std::chrono::steady_clock::now() > until) {
                        note(key + " has no definite answer");
                        break;
                    }
                    const auto answer = create(key, "rest " + key);
                    if (answer && answer->status == 201) {
                        const std::lock_guard lock(mutex);
                        receipts[key] = answer->body;
                        known = true;
                    } else if (answer && answer->status == 409 &&
                               answer->body.find("slot-failed") != std::string::npos) {
                        note(key + " was failed: " + answer->body);
                        known = true;
                    } else {
                        std::this_thread::sleep_for(50ms);
                    }
                }
            }
            --at_work;
        });
    }
    clients.emplace_back([&] {
        // A replica's sync fails while its server is down; the replica keeps its changes.
        for (int n = 0; n < adds; ++n) {
            for (std::size_t r = 0; r < replicas.size(); ++r) {
                expect_done((*replicas[r])(
                    {"add", "replica " + std::to_string(r) + " " + std::to_string(n)}));
                replicas[r]->sync();
            }
        }
        --at_work;
    });
    // On this thread: a child process ends with the thread that started it.
    while (at_work > 0) {
        std::this_thread::sleep_for(
            milliseconds{std::uniform_int_distribution<>(200, 900)(random)});
        server& victim = std::uniform_int_distribution<>(0, 1)(random) ? *near_ : *far_;
        victim.child().kill();
        victim.start();
    }
    for (std::thread& t : clients) t.join();
    proxy_->disturb(0, 0);
    for (const std::string& fault : faults) ADD_FAILURE() << fault;

    const std::size_t expected = 3 * creations + 2 * adds;
    for (int round = 0; round < 3; ++round) {
        for (const auto& replica : replicas) expect_done(replica->sync());
        await_settled();
    }
    // A poll that began before the last sync may have found nothing.
    await_state(
        [&](const json::object& r) {
            for (const auto& replica : replicas) expect_done(replica->sync());
            return is_settled(r) && tasks_of(*replicas[0]).size() >= expected &&
                   std::ranges::all_of(tasks_of(*replicas[0]),
                                       [](const auto& t) { return t.second.contains("key"); });
        },
        "everywhere");
    for (const auto& replica : replicas) expect_done(replica->sync());
    const auto first = tasks_of(*replicas[0]), second = tasks_of(*replicas[1]);
    EXPECT_EQ(differences(first, second), "");
    EXPECT_EQ(first.size(), expected);
    std::set<std::string> keys, descriptions;
    for (const auto& [uuid, task] : first) {
        EXPECT_TRUE(keys.insert(text_in(task, "key")).second) << text_in(task, "key");
        EXPECT_TRUE(descriptions.insert(text_in(task, "description")).second)
            << text_in(task, "description");
    }
    for (std::size_t n = 1; n <= expected; ++n) {
        EXPECT_TRUE(keys.contains("SYN-" + std::to_string(n))) << n;
    }
    for (const auto& [key, body] : receipts) {
        const json::object receipt = json::parse(body).as_object();
        const auto found = first.find(text_in(receipt, "uuid"));
        ASSERT_NE(found, first.end()) << key;
        EXPECT_EQ(text_in(found->second, "key"), text_in(receipt, "key"));
        EXPECT_EQ(create(key, "rest " + key)->body, body);
    }
    expect_both_sound();
}

}  // namespace
}  // namespace callsign::testing
