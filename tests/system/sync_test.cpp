// Goal: opaque accounts work as a whole: the real program with raw requests of TaskChampion's
// protocol and with the real Taskwarrior, across crashes and restarts, and with data imported from
// the reference server.

#include "fixture.hpp"
#include "support/reference_file.hpp"
#include "support/sync_words.hpp"
#include "taskwarrior_fixture.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <atomic>
#include <ctime>
#include <thread>

namespace callsign::testing {
namespace {

constexpr const char* client_id = "0666d464-418a-4a08-ad53-6f15c78270cd";

class sync_test : public system_test {
  protected:
    std::unique_ptr<server> start_open(std::vector<std::string> flags = {}) const {
        return start(std::move(flags), {{"CALLSIGN_SYNC_OPEN_REGISTRATION", "true"}});
    }
    static http_headers headers(const std::string& type = {}) {
        http_headers all{{"X-Client-Id", client_id}};
        if (!type.empty()) all.emplace_back("Content-Type", type);
        return all;
    }
    static std::optional<http_answer> add(http_client& c, const std::string& parent,
                                          std::string_view body) {
        return c.request("POST", "/v1/client/add-version/" + parent, headers(segment_type), body);
    }
    static std::optional<http_answer> child(http_client& c, const std::string& parent) {
        return c.request("GET", "/v1/client/get-child-version/" + parent, headers());
    }
    // Returns the bodies of the chain, in order; verifies each version's parent.
    static std::vector<std::string> chain_after(http_client& c, std::string at) {
        std::vector<std::string> bodies;
        for (;;) {
            const auto next = child(c, at);
            if (!next || next->status != 200) return bodies;
            EXPECT_EQ(next->header("X-Parent-Version-Id"), at);
            at = next->header("X-Version-Id");
            bodies.push_back(next->body);
        }
    }
};

TEST_F(sync_test, what_was_acknowledged_survives_a_kill) {
    auto s = start_open();
    http_client c(s->port());
    std::vector<std::string> sent;
    std::string last = nil_id;
    for (int n = 0; n < 20; ++n) {
        sent.push_back("segment " + std::to_string(n));
        const auto added = add(c, last, sent.back());
        ASSERT_TRUE(added);
        ASSERT_EQ(added->status, 200u);
        last = added->header("X-Version-Id");
    }
    const auto kept =
        c.request("POST", "/v1/client/add-snapshot/" + last, headers(snapshot_type), "a snapshot");
    ASSERT_EQ(kept->status, 200u);
    s->child().kill();
    s->start();
    http_client again(s->port());
    EXPECT_EQ(chain_after(again, nil_id), sent);
    EXPECT_EQ(again.request("GET", "/v1/client/snapshot", headers())->body, "a snapshot");
    EXPECT_EQ(add(again, nil_id, "late")->status, 409u);
    EXPECT_EQ(add(again, last, "next")->status, 200u);
    expect_sound();
}

TEST_F(sync_test, versions_and_snapshots_may_be_100_mib_and_no_more) {
    auto s = start_open();
    constexpr std::size_t most = 100u << 20;
    std::string body(most, 'x');
    http_client c(s->port());
    const auto added = add(c, nil_id, body);
    ASSERT_TRUE(added);
    ASSERT_EQ(added->status, 200u) << added->body;
    const std::string id = added->header("X-Version-Id");
    EXPECT_EQ(child(c, nil_id)->body.size(), most);
    const auto kept =
        c.request("POST", "/v1/client/add-snapshot/" + id, headers(snapshot_type), body);
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->status, 200u) << kept->body;
    const auto snapshot = c.request("GET", "/v1/client/snapshot", headers());
    ASSERT_TRUE(snapshot);
    EXPECT_EQ(snapshot->body, body);

    // The announced length suffices to reject it.
    const auto rejection_of = [&](const std::string& path, const std::string& type) {
        http_client rude(s->port());
        rude.send("POST /v1/client/" + path + id + " HTTP/1.1\r\nHost: x\r\nX-Client-Id: " +
                  client_id + "\r\nContent-Type: " + type +
                  "\r\nContent-Length: " + std::to_string(most + 1) + "\r\n\r\n");
        return rude.receive();
    };
    const auto version = rejection_of("add-version/", segment_type);
    ASSERT_TRUE(version);
    EXPECT_EQ(version->status, 400u);
    EXPECT_EQ(version->body, "overflow");
    EXPECT_EQ(version->header("Content-Type"), "text/plain; charset=utf-8");
    EXPECT_EQ(rejection_of("add-snapshot/", snapshot_type)->body,
              "Snapshot over maximum allowed size");
    EXPECT_EQ(rejection_of("add-version/", "wrong/type")->body, "Bad content-type");
    expect_sound();
}

TEST_F(sync_test, a_body_may_come_in_chunks_and_requests_behind_each_other) {
    auto s = start_open();
    http_client c(s->port());
    const std::string head = std::string("POST /v1/client/add-version/") + nil_id +
                             " HTTP/1.1\r\nHost: x\r\nX-Client-Id: " + client_id +
                             "\r\nContent-Type: " + segment_type + "\r\n";
    const std::string question = std::string("GET /v1/client/get-child-version/") + nil_id +
                                 " HTTP/1.1\r\nHost: x\r\nX-Client-Id: " + client_id + "\r\n\r\n";
    c.send(head + "Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n2\r\nef\r\n0\r\n\r\n" + question +
           question);
    EXPECT_EQ(c.receive()->status, 200u);
    EXPECT_EQ(c.receive()->body, "abcdef");
    EXPECT_EQ(c.receive()->body, "abcdef");
}

// Each replica queries before it sends, so the turnstile admits one at a time.
TEST_F(sync_test, replicas_that_ask_first_meet_no_conflict) {
    auto s = start_open();
    constexpr int replicas = 6, rounds = 25;
    std::atomic<int> conflicts = 0, accepted = 0;
    std::vector<std::thread> threads;
    for (int r = 0; r < replicas; ++r) {
        threads.emplace_back([&] {
            std::string base = nil_id;
            for (int round = 0; round < rounds;) {
                http_client c(s->port());
                auto next = child(c, base);
                while (next && next->status == 200) {
                    base = next->header("X-Version-Id");
                    next = child(c, base);
                }
                const auto added = add(c, base, "x");
                if (!added) continue;
                if (added->status == 409) ++conflicts;
                if (added->status != 200) continue;
                base = added->header("X-Version-Id");
                ++accepted;
                ++round;
                child(c, base);
            }
        });
    }
    for (auto& t : threads) t.join();
    http_client c(s->port());
    EXPECT_EQ(chain_after(c, nil_id).size(), static_cast<std::size_t>(accepted));
    EXPECT_EQ(accepted, replicas * rounds);
    // A thread that is delayed for longer than a turn may still get a conflict.
    EXPECT_LE(conflicts, replicas * rounds / 20);
    expect_sound();
}

// ---- import from the reference server ----

std::string version_id(int n) {
    const std::string digits = std::to_string(1000 + n);
    return "b0517957-f912-4d49-8330-f612e730" + digits;
}

TEST_F(sync_test, the_reference_servers_file_is_imported) {
    const std::string other = "1666d464-418a-4a08-ad53-6f15c78270cd";
    const std::string empty = "2666d464-418a-4a08-ad53-6f15c78270cd";
    const auto path = temp_path("taskchampion-sync-server.sqlite3");
    reference_file file(path);
    file.add_client(client_id);
    file.add_client(other);
    file.add_client(empty);
    std::vector<std::string> bodies;
    for (int n = 1; n <= 12; ++n) {
        bodies.push_back(std::string("\0\xFF", 2) + std::to_string(n));
        file.add_version(client_id, n == 1 ? nil_id : version_id(n - 1), version_id(n),
                         bodies.back());
    }
    file.add_version(other, version_id(500), version_id(501), "of the other");
    file.set_snapshot(client_id, version_id(9), 150, std::time(nullptr), "snapshot bytes");

    // Registration is closed; imported clients are accepted nevertheless.
    auto s = start({}, {{"CALLSIGN_MASTER_KEY", std::string(64, '7')}});
    const std::vector<std::string> import = {"import", "taskchampion-sync-server", path.string()};
    const json::object first = ask_callsign(import);
    EXPECT_EQ(json::serialize(first),
              R"({"clients":3,"versions":13,"versionsThereAlready":0,"snapshots":1,)"
              R"("managed":0,"rejected":0,"broken":0})");
    const json::object second = ask_callsign(import);
    EXPECT_EQ(json::serialize(second),
              R"({"clients":3,"versions":0,"versionsThereAlready":13,"snapshots":0,)"
              R"("managed":0,"rejected":0,"broken":0})");

    // The old server received further versions, which another import adds.
    file.add_version(client_id, version_id(12), version_id(13), "later");
    bodies.push_back("later");
    EXPECT_EQ(ask_callsign(import).at("versions"), 1);

    http_client c(s->port());
    EXPECT_EQ(chain_after(c, nil_id), bodies);
    const auto snapshot = c.request("GET", "/v1/client/snapshot", headers());
    EXPECT_EQ(snapshot->body, "snapshot bytes");
    EXPECT_EQ(snapshot->header("X-Version-Id"), version_id(9));
    const auto theirs = c.request("GET", "/v1/client/get-child-version/" + version_id(500),
                                  {{"X-Client-Id", other}});
    EXPECT_EQ(theirs->body, "of the other");
    const auto nobodys = c.request("GET", std::string("/v1/client/get-child-version/") + nil_id,
                                   {{"X-Client-Id", empty}});
    EXPECT_EQ(nobodys->body, "no such version");

    const auto next = add(c, version_id(13), "goes on here");
    EXPECT_EQ(next->status, 200u);
    EXPECT_EQ(next->header("X-Snapshot-Request"), "urgency=high");  // of 150 versions
    // Both servers have added versions of their own: nothing is overwritten, and the import reports
    // it. All other clients are imported, except those of managed accounts.
    ask_callsign({"account", "create", "ops", "--prefix", "OPS"});
    const json::object device = ask_callsign({"device", "add", "ops", "--name", "laptop"});
    const std::string managed(device.at("clientId").as_string());
    file.add_client(managed);
    file.add_version(managed, nil_id, version_id(601), "of a managed one");
    file.add_version(client_id, version_id(13), version_id(14), "elsewhere");
    file.add_version(other, version_id(501), version_id(502), "and more of the other");
    file.add_version(empty, nil_id, version_id(701), "not empty any more");
    // The first client in the file: its latest version belongs to another client.
    const std::string broken = "0066d464-418a-4a08-ad53-6f15c78270cd";
    file.add_client(broken);
    file.set_latest(broken, version_id(701));
    // The second client: its snapshot dates from the year 0.
    const std::string timeless = "0166d464-418a-4a08-ad53-6f15c78270cd";
    file.add_client(timeless);
    file.add_version(timeless, nil_id, version_id(801), "of a timeless one");
    file.set_snapshot(timeless, version_id(801), 0, -62'167'219'200, "snapshot bytes");
    const finished rejected = callsign(import);
    EXPECT_EQ(rejected.status, (exit_status{1, 0}));
    EXPECT_EQ(json::serialize(json::parse(rejected.out)),
              R"({"clients":6,"versions":2,"versionsThereAlready":14,"snapshots":0,)"
              R"("managed":1,"rejected":1,"broken":2})");
    EXPECT_NE(rejected.err.find(timeless + ": "), std::string::npos) << rejected.err;
    EXPECT_NE(rejected.err.find("snapshot_timestamp must be of the years 1 to 9999"),
              std::string::npos);
    EXPECT_NE(rejected.err.find(broken + ": "), std::string::npos) << rejected.err;
    EXPECT_NE(rejected.err.find("the latest version of a client is missing"), std::string::npos);
    EXPECT_NE(rejected.err.find("history-differs"), std::string::npos) << rejected.err;
    EXPECT_NE(rejected.err.find("account ops: skipped, since its account is managed here"),
              std::string::npos)
        << rejected.err;
    const auto more = c.request("GET", "/v1/client/get-child-version/" + version_id(501),
                                {{"X-Client-Id", other}});
    EXPECT_EQ(more->body, "and more of the other");
    expect_sound();
}

// Each kind of invalid client in a file, each followed by a valid one.
TEST_F(sync_test, clients_are_imported_whatever_is_left_of_others) {
    const auto path = temp_path("taskchampion-sync-server.sqlite3");
    reference_file file(path);
    int n = 0;
    const auto client = [&] {
        std::string id = "b0517957-f912-4d49-8330-f612e731" + std::to_string(1000 + n++);
        file.add_client(id);
        return id;
    };
    const auto snapshot = [&](const std::string& of, int version) {
        file.set_snapshot(of, version_id(version), 0, std::time(nullptr), "snapshot bytes");
    };
    std::vector<std::string> whole;
    const auto add_whole = [&] {
        whole.push_back(client());
        file.add_version(whole.back(), nil_id, version_id(900 + n), "whole");
    };
    const std::string pruned = client();
    file.set_latest(pruned, version_id(101));
    snapshot(pruned, 101);
    add_whole();
    const std::string without_latest = client();
    snapshot(without_latest, 201);
    add_whole();
    const std::string with_a_hole = client();
    file.set_latest(with_a_hole, version_id(309));
    snapshot(with_a_hole, 301);
    add_whole();
    const std::string behind_a_hole = client();
    file.add_version(behind_a_hole, version_id(404), version_id(405), "behind a hole");
    snapshot(behind_a_hole, 401);
    add_whole();
    const std::string without_end = client();
    file.add_version(without_end, nil_id, version_id(501), "without an end");
    file.set_latest(without_end, nil_id);
    add_whole();
    const std::string of_nothing = client();
    file.add_version(of_nothing, nil_id, version_id(601), "");
    add_whole();

    auto s = start();
    const finished done = callsign({"import", "taskchampion-sync-server", path.string()});
    EXPECT_EQ(done.status, (exit_status{1, 0}));
    EXPECT_EQ(json::serialize(json::parse(done.out)),
              R"({"clients":12,"versions":7,"versionsThereAlready":0,"snapshots":2,)"
              R"("managed":0,"rejected":1,"broken":3})")
        << done.err;
    EXPECT_NE(done.err.find(with_a_hole + ": "), std::string::npos) << done.err;
    EXPECT_NE(done.err.find(without_end + ": "), std::string::npos) << done.err;
    EXPECT_NE(done.err.find("client 7 of 12"), std::string::npos) << done.err;
    EXPECT_NE(done.err.find("client 11 of 12"), std::string::npos) << done.err;

    http_client c(s->port());
    const auto child = [&](const std::string& of, const std::string& parent) {
        return c.request("GET", "/v1/client/get-child-version/" + parent, {{"X-Client-Id", of}});
    };
    for (const std::string& each : whole) EXPECT_EQ(child(each, nil_id)->body, "whole");
    EXPECT_EQ(child(behind_a_hole, version_id(404))->body, "behind a hole");
    for (const auto& [id, version] : {std::pair{pruned, 101}, std::pair{without_latest, 201}}) {
        const auto known = c.request("GET", "/v1/client/snapshot", {{"X-Client-Id", id}});
        EXPECT_EQ(known->body, "snapshot bytes");
        EXPECT_EQ(known->header("X-Version-Id"), version_id(version));
        EXPECT_EQ(child(id, version_id(version))->status, 404u) << "up to date";
        EXPECT_EQ(child(id, nil_id)->status, 410u);
        const auto next = c.request(
            "POST", "/v1/client/add-version/" + version_id(version),
            {{"X-Client-Id", id}, {"Content-Type", "application/vnd.taskchampion.history-segment"}},
            "goes on");
        EXPECT_EQ(next->status, 200u) << next->body;
        EXPECT_EQ(child(id, version_id(version))->body, "goes on");
    }
    expect_sound();
}

TEST_F(sync_test, an_imported_client_is_given_a_name_and_a_prefix) {
    const std::string other = "1666d464-418a-4a08-ad53-6f15c78270cd";
    const auto path = temp_path("taskchampion-sync-server.sqlite3");
    reference_file file(path);
    file.add_client(client_id);
    file.add_client(other);
    file.add_version(client_id, nil_id, version_id(1), "of the one");
    file.add_version(other, nil_id, version_id(2), "of the other");
    auto s = start();
    ask_callsign({"account", "create", "taken", "--prefix", "TKN"});
    const auto import = [&](const std::string& client, const std::string& account,
                            const std::string& prefix) {
        return std::vector<std::string>{"import",      "taskchampion-sync-server",
                                        path.string(), "--client-id",
                                        client,        "--account",
                                        account,       "--prefix",
                                        prefix};
    };
    // Rejected before anything is written.
    EXPECT_EQ(callsign(import(client_id, "taken", "DSK")).status, (exit_status{1, 0}));
    EXPECT_EQ(callsign(import(nil_id, "desk", "DSK")).status, (exit_status{1, 0}));
    EXPECT_EQ(ask_callsign({"account", "list"}).at("accounts").as_array().size(), 2u);

    EXPECT_EQ(ask_callsign(import(client_id, "desk", "DSK")).at("versions"), 1);
    const json::object desk = ask_callsign({"account", "show", "desk"});
    EXPECT_EQ(desk.at("prefix"), "DSK");
    EXPECT_EQ(desk.at("mode"), "opaque");
    http_client c(s->port());
    EXPECT_EQ(chain_after(c, nil_id), std::vector<std::string>{"of the one"});
    const auto theirs = c.request("GET", std::string("/v1/client/get-child-version/") + nil_id,
                                  {{"X-Client-Id", other}});
    EXPECT_EQ(theirs->status, 404u) << "it was not imported";
    // Repeated, it changes nothing; another client needs another name.
    EXPECT_EQ(ask_callsign(import(client_id, "desk", "DSK")).at("versionsThereAlready"), 1);
    EXPECT_EQ(ask_callsign(import(other, "den", "DEN")).at("versions"), 1);
    EXPECT_EQ(ask_callsign({"account", "list"}).at("accounts").as_array().size(), 4u);
    expect_sound();
}

TEST_F(sync_test, other_files_are_rejected_in_one_sentence) {
    auto s = start();
    const auto import = [&](const std::filesystem::path& file) {
        return callsign({"import", "taskchampion-sync-server", file.string()});
    };
    const finished nothing = import(temp_path("nothing"));
    EXPECT_EQ(nothing.status, (exit_status{1, 0}));
    EXPECT_NE(nothing.err.find("no such file"), std::string::npos) << nothing.err;
    std::ofstream(temp_path("text")) << std::string(5000, 'x');
    std::ofstream(temp_path("line")) << "a line\n";
    for (const char* name : {"text", "line"}) {
        const std::string said = import(temp_path(name)).err;
        EXPECT_NE(said.find("it is no SQLite database"), std::string::npos) << said;
    }
    SQLite::Database(temp_path("other").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
        .exec("CREATE TABLE x (y)");
    EXPECT_NE(import(temp_path("other")).err.find("not a file of taskchampion-sync-server"),
              std::string::npos);
}

// ---- the real Taskwarrior ----

class taskwarrior_test : public with_taskwarrior<sync_test> {};

TEST_F(taskwarrior_test, two_devices_of_one_opaque_account_converge) {
    auto s = start();
    const json::object made =
        ask_callsign({"account", "create", "desk", "--prefix", "DESK", "--opaque"});
    const std::string id(made.at("clientId").as_string());
    const taskwarrior laptop(program, s->port(), id, "a secret of their own");
    const taskwarrior phone(program, s->port(), id, "a secret of their own");

    expect_done(laptop({"add", "Say", "its", "number", "project:home", "+loud"}));
    expect_done(laptop({"add", "Another"}));
    expect_done(laptop.sync());  // the first sync of the account adds a snapshot
    expect_done(phone.sync());   // starts from that snapshot
    ASSERT_EQ(tasks_of(laptop).size(), 2u);
    EXPECT_EQ(differences(tasks_of(laptop), tasks_of(phone)), "");

    // Both devices make changes, also to the same task, before either syncs.
    expect_done(phone({"1", "modify", "priority:H"}));
    expect_done(phone({"add", "From the phone"}));
    expect_done(laptop({"1", "modify", "due:2026-12-24"}));
    expect_done(laptop({"2", "done"}));
    expect_done(phone.sync());
    expect_done(laptop.sync());
    expect_done(phone.sync());
    EXPECT_EQ(tasks_of(laptop).size(), 3u);
    EXPECT_EQ(differences(tasks_of(laptop), tasks_of(phone)), "");

    s->child().kill();
    s->start();
    expect_done(laptop({"add", "After the crash"}));
    expect_done(laptop.sync());
    expect_done(phone.sync());
    EXPECT_EQ(differences(tasks_of(laptop), tasks_of(phone)), "");
    expect_sound();

    // The server's files contain no task text.
    for (const auto& file : std::filesystem::directory_iterator(data_dir())) {
        if (!file.is_regular_file()) continue;
        std::ifstream in(file.path(), std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(in), {}};
        EXPECT_EQ(bytes.find("From the phone"), std::string::npos) << file.path();
    }
}

}  // namespace
}  // namespace callsign::testing
