// Goal: eight Taskwarriors that repeatedly edit the same few tasks and sync concurrently converge
// with each other and with the server, and none gets a conflict: a stock client that does can
// diverge permanently. Method: the real programs, one process each, started together in every
// round. Replicas that share a client ID also sync through proxies: one that loses responses, one
// that closes each connection, and one that shares a few connections among all.

#include "support/recording_proxy.hpp"
#include "support/setting.hpp"
#include "taskwarrior_fixture.hpp"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <thread>

namespace callsign::testing {
namespace {

constexpr int replicas = 8;
// The clients take most of the time, and a few rounds suffice to show races of the server.
const int rounds = static_cast<int>(setting("CALLSIGN_SYNC_ROUNDS").value_or(3));
constexpr int shared_tasks = 3;

constexpr const char* add_version_route = "/v1/client/add-version/{parent}";

std::string shared_uuid(int n) {
    return numbered_uuid(n % shared_tasks);
}
// The task that one replica imports in a round, and that REST creates, if available.
std::string new_uuid(int round) {
    return numbered_uuid(round, 'b');
}

// One attribute per round: a replica that diverges in a round shows it at the end.
std::string mark_name(int round) {
    return "round" + std::to_string(round);
}

json::object task(const std::string& uuid, const std::string& description) {
    return {{"uuid", uuid}, {"description", description}};
}

// One replica's changes in a round: all replicas write the round's attribute of all shared tasks,
// and each makes a further change, of a kind that rotates. Returns false if none of the tasks is
// left.
bool change(const taskwarrior& replica, int who, int round) {
    const std::string mark = std::to_string(who) + "." + std::to_string(round);
    const auto modify = [&](const std::vector<std::string>& what) {
        std::vector<std::string> words;
        for (int n = 0; n < shared_tasks; ++n) words.push_back(shared_uuid(n));
        words.insert(words.end(), {"modify", mark_name(round) + ":" + mark});
        words.insert(words.end(), what.begin(), what.end());
        return replica(words).status == exit_status{0, 0};
    };
    if (round % 5 == 4 && who == round % replicas) {
        const bool deleted = replica({shared_uuid(round), "delete"}).status == exit_status{0, 0};
        return replica({shared_uuid(round), "purge"}).status == exit_status{0, 0} || deleted;
    }
    switch ((who + round) % replicas) {
    case 0:
    case 1: return modify({"Text " + mark, "project:p" + mark});
    case 2: return modify({round % 2 == 0 ? "priority:H" : "priority:"});
    case 3: return modify({round % 2 == 0 ? "+fine" : "-fine", "+by" + std::to_string(who)});
    case 4: return modify({"project:p" + mark});
    case 5: return modify({round % 2 == 0 ? "status:completed" : "status:pending"});
    case 6: return modify({"key:MINE"});
    default: break;
    }
    // Restores purged tasks.
    json::object known = task(shared_uuid(round), "Imported " + mark);
    known[mark_name(round)] = mark;
    const json::array both{known, task(new_uuid(round), "New " + mark)};
    return replica.import(json::serialize(both)).status == exit_status{0, 0};
}

using crowd = std::vector<std::unique_ptr<taskwarrior>>;

// A sync whose response was lost is retried, as users would.
constexpr int tries_max = 30;

struct around_a_round {
    std::function<void(int round)> begins;
    // Called `replicas` times per round, whenever a replica has finished its sync; `nth`: how many
    // have.
    std::function<void(int round, int nth)> goes_on;
    std::function<void()> one_is_done;
    int tries = 1;  // maximum of attempts per sync
};

// In each round all replicas change tasks, and then all sync.
void run_rounds(const crowd& all, int count, const around_a_round& around) {
    std::atomic<int> changes = 0, synced = 0;
    std::barrier together(replicas + 1);
    std::vector<std::thread> threads;
    for (int who = 0; who < replicas; ++who) {
        threads.emplace_back([&, who] {
            const taskwarrior& replica = *all[static_cast<std::size_t>(who)];
            for (int round = 0; round < count; ++round) {
                changes += change(replica, who, round) ? 1 : 0;
                together.arrive_and_wait();
                finished done = replica.sync();
                for (int n = 1; n < around.tries && done.status != exit_status{0, 0}; ++n) {
                    done = replica.sync();
                }
                EXPECT_EQ(done.status, (exit_status{0, 0})) << done.out << done.err;
                around.one_is_done();
                ++synced;
                synced.notify_all();
                together.arrive_and_wait();
            }
        });
    }
    for (int round = 0; round < count; ++round) {
        around.begins(round);
        together.arrive_and_wait();
        for (int nth = 0; nth < replicas; ++nth) {
            around.goes_on(round, nth);
            const int awaited = round * replicas + nth + 1;
            for (int n = synced; n < awaited; n = synced) synced.wait(n);
        }
        together.arrive_and_wait();
    }
    for (std::thread& t : threads) t.join();
    // Otherwise the test would verify nothing.
    EXPECT_GE(changes, replicas * count * 3 / 4);
}

// Configures the attributes of all rounds, and disables confirmations of bulk changes.
void prepare(const taskwarrior& replica) {
    replica.configure("bulk=0");
    for (int round = 0; round < rounds; ++round) {
        replica.configure("uda." + mark_name(round) + ".type=string");
    }
}

json::array first_tasks() {
    json::array all;
    for (int n = 0; n < shared_tasks; ++n) all.push_back(task(shared_uuid(n), "Shared"));
    return all;
}

class many_devices_test : public managed_test {
  protected:
    // Edits the shared tasks, too, while replicas sync.
    void write_over_rest(int round, int nth) const {
        const std::string mark = std::to_string(round) + "." + std::to_string(nth);
        if (nth == 0) create("same-" + mark, task(new_uuid(round), "Created " + mark));
        const unsigned edited = edit(shared_uuid(nth), {{"description", "Over REST " + mark},
                                                        {"priority", "M"},
                                                        {"attributes", {{mark_name(round), "r"}}}});
        EXPECT_TRUE(edited == 200 || edited == 410) << edited;
    }
};

std::string find_haproxy() {
    for (const char* path : {"/usr/sbin/haproxy", "/usr/bin/haproxy", "/usr/local/sbin/haproxy"}) {
        if (std::filesystem::exists(path)) return path;
    }
    return {};
}

// Debian's haproxy between replicas and server, with few server connections shared by all replicas.
class pooling_proxy {
  public:
    pooling_proxy(const std::string& program, const std::filesystem::path& config,
                  std::uint16_t server_port) {
        for (int n = 0; n < 10 && !is_up(); ++n) start(program, config, server_port);
        EXPECT_TRUE(is_up()) << child_->errors();
    }

    std::uint16_t port() const noexcept { return port_; }

  private:
    void start(const std::string& program, const std::filesystem::path& config,
               std::uint16_t server_port) {
        port_ = free_port();
        std::ofstream(config) << "defaults\n  mode http\n  timeout connect 5s\n"
                                 "  timeout client 60s\n  timeout server 60s\n"
                                 "  http-reuse always\n"
                                 "frontend replicas\n  bind 127.0.0.1:"
                              << port_
                              << "\n  default_backend callsign\n"
                                 "backend callsign\n  server one 127.0.0.1:"
                              << server_port << " pool-max-conn 2\n";
        child_ = std::make_unique<process>(
            std::vector<std::string>{program, "-db", "-f", config.string()});
        const auto deadline = std::chrono::steady_clock::now() + timeout;
        while (!is_up() && child_->running() && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::yield();
        }
    }
    // Another process may take the port before the proxy does; the proxy then exits, and another
    // port is tried.
    static std::uint16_t free_port() {
        boost::asio::io_context io;
        const boost::asio::ip::tcp::acceptor any(
            io, {boost::asio::ip::address_v4::loopback(), std::uint16_t{0}});
        return any.local_endpoint().port();
    }
    bool is_up() const {
        if (port_ == 0) return false;
        http_client anyone(port_);
        const auto answer = anyone.get("/livez");
        return answer && answer->status == 200;
    }

    std::uint16_t port_ = 0;
    std::unique_ptr<process> child_;
};

class many_opaque_replicas_test : public managed_test {
  protected:
    // The other variants run for a part of the first one's time.
    const int few_rounds = std::max(3, rounds / 3);

    // All replicas of a new account sync through `port`; `tries`: maximum of attempts per sync.
    void converge(std::uint16_t port, int count, int tries = 1) {
        const json::object made =
            ask_callsign({"account", "create", "desk", "--prefix", "DESK", "--opaque"});
        const auto make_replica = [&] {
            return std::make_unique<taskwarrior>(program, port, text_in(made, "clientId"),
                                                 "a secret of their own");
        };
        const auto sync_at_last = [&](const taskwarrior& replica) {
            finished done = replica.sync();
            for (int n = 1; n < tries && done.status != exit_status{0, 0}; ++n) {
                done = replica.sync();
            }
            expect_done(done);
        };
        crowd all;
        for (int n = 0; n < replicas; ++n) all.push_back(make_replica());
        expect_done(all[0]->import(json::serialize(first_tasks())));
        for (const auto& replica : all) {
            prepare(*replica);
            sync_at_last(*replica);
        }
        run_rounds(all, count, {[](int) {}, [](int, int) {}, [] {}, tries});
        for (const auto& replica : all) sync_at_last(*replica);
        const auto newcomer = make_replica();
        sync_at_last(*newcomer);
        const task_table agreed = tasks_of(*newcomer);
        EXPECT_GE(agreed.size(), static_cast<std::size_t>(count));
        for (const auto& replica : all) EXPECT_EQ(differences(tasks_of(*replica), agreed), "");
        EXPECT_EQ(answered(add_version_route, "4xx"), 0);
        EXPECT_EQ(answered(add_version_route, "5xx"), 0);
        expect_sound();
    }
};

TEST_F(many_devices_test, syncing_at_the_same_moment_converge_with_rest) {
    begin();
    recording_proxy wire(s->port());
    crowd all;
    for (int n = 0; n < replicas; ++n) {
        all.push_back(make_device("device-" + std::to_string(n)));
        all.back()->move_to(wire.port());
    }
    expect_done(all[0]->import(json::serialize(first_tasks())));
    for (const auto& device : all) {
        prepare(*device);
        expect_done(device->sync());
    }
    run_rounds(all, rounds,
               {.begins =
                    [&](int round) {
                        // In every other round the versions are gathered, so that all but one are
                        // stale.
                        if (round % 2 == 1) wire.gather_versions(replicas);
                    },
                .goes_on = [&](int round, int nth) { write_over_rest(round, nth); },
                .one_is_done = [&] { wire.gather_one_fewer(); }});
    const int late = static_cast<int>(checked().at("fork versions").as_int64());
    EXPECT_GE(late, rounds / 2 * (replicas - 2));
    RecordProperty("late_versions", late);
    // The devices still have to pull the others' changes.
    std::vector<const taskwarrior*> devices;
    const std::int64_t before = versions();
    for (const auto& device : all) {
        expect_done(device->sync());
        devices.push_back(device.get());
    }
    EXPECT_EQ(versions(), before);
    const task_table agreed = expect_agreement(devices);
    EXPECT_GE(agreed.size(), static_cast<std::size_t>(rounds));
    for (const auto& [uuid, known] : agreed) {
        EXPECT_TRUE(text_in(known, "key").starts_with("SYN-")) << json::serialize(known);
    }
    EXPECT_EQ(wire.count("POST", "/v1/client/", 409), 0);
    EXPECT_EQ(answered(add_version_route, "4xx"), 0);
    EXPECT_EQ(answered(add_version_route, "5xx"), 0);
    EXPECT_GE(answered(add_version_route, "2xx"), rounds);
}

TEST_F(many_opaque_replicas_test, syncing_at_the_same_moment_converge) {
    begin();
    converge(s->port(), rounds);
}

TEST_F(many_opaque_replicas_test, with_a_fifth_of_the_responses_lost) {
    begin();
    recording_proxy wire(s->port());
    wire.lose_answers(5);
    converge(wire.port(), few_rounds, tries_max);
}

TEST_F(many_opaque_replicas_test, with_a_connection_for_each_request) {
    begin();
    recording_proxy wire(s->port());
    wire.close_after_each();
    converge(wire.port(), few_rounds);
}

TEST_F(many_opaque_replicas_test, through_a_proxy_that_shares_connections) {
    const std::string haproxy = find_haproxy();
    if (haproxy.empty()) {
        GTEST_SKIP() << "NO HAPROXY: scripts/install-deps --tests installs it. No test was run "
                        "through a proxy that shares connections.";
    }
    begin();
    const pooling_proxy wire(haproxy, temp_path("haproxy.cfg"), s->port());
    converge(wire.port(), few_rounds);
}

}  // namespace
}  // namespace callsign::testing
