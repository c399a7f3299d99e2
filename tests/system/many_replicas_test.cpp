// Goal: eight Taskwarriors that edit the same few tasks and sync at the same moment, again and
// again, end with the same tasks as each other and as the server, and none is ever told of a
// conflict: a stock client that was can stay different for good. Method: the real programs, one
// process each, let go together in every round. Replicas that share a client id do it besides
// through proxies: one that loses answers, one that closes each connection, and one that shares a
// few among all.

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
// Most of the time is the clients' own, and the server's races show in a few.
const int rounds = static_cast<int>(setting("CALLSIGN_SYNC_ROUNDS").value_or(3));
constexpr int shared_tasks = 3;

constexpr const char* add_version_route = "/v1/client/add-version/{parent}";

std::string shared_uuid(int n) {
    return numbered_uuid(n % shared_tasks);
}
// In each round one replica takes it in, and REST creates it where there is REST.
std::string new_uuid(int round) {
    return numbered_uuid(round, 'b');
}

// An attribute for each round: whoever comes out of it with another value still has it at the end.
std::string mark_name(int round) {
    return "round" + std::to_string(round);
}

json::object task(const std::string& uuid, const std::string& description) {
    return {{"uuid", uuid}, {"description", description}};
}

// What one replica does in a round, in one go: all write the round's attribute of all the shared
// tasks, and each does something else of its own to them; the kinds go round. False: Taskwarrior
// had none of them any more.
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
    // What was purged comes again by this.
    json::object known = task(shared_uuid(round), "Imported " + mark);
    known[mark_name(round)] = mark;
    const json::array both{known, task(new_uuid(round), "New " + mark)};
    return replica.import(json::serialize(both)).status == exit_status{0, 0};
}

using crowd = std::vector<std::unique_ptr<taskwarrior>>;

// A sync whose answer was lost is done again, as its owner would.
constexpr int tries_max = 30;

struct around_a_round {
    std::function<void(int round)> begins;
    // Again whenever one of them is done while the others go on: `nth` says how many are.
    std::function<void(int round, int nth)> goes_on;
    std::function<void()> one_is_done;
    int tries = 1;  // of a sync
};

// In each round all change something, and then all sync.
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
    // Else this would be about nothing.
    EXPECT_GE(changes, replicas * count * 3 / 4);
}

// The attributes of all rounds, and no question before many tasks are changed at once.
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
    // While others sync, the shared tasks too.
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

// Debian's haproxy between replicas and the server, with few connections to it for all of them.
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
        const auto deadline = std::chrono::steady_clock::now() + patience;
        while (!is_up() && child_->running() && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::yield();
        }
    }
    // Somebody else may take it before the proxy does; then it ends, and another is tried.
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
    // Each of the further ways takes a part of the time of the first.
    const int few_rounds = std::max(3, rounds / 3);

    // All of one new account, at that port; `tries`: of one sync.
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

TEST_F(many_devices_test, syncing_at_the_same_moment_converge_beside_rest) {
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
                        // In every other round it is not left to chance who is late.
                        if (round % 2 == 1) wire.gather_versions(replicas);
                    },
                .goes_on = [&](int round, int nth) { write_over_rest(round, nth); },
                .one_is_done = [&] { wire.gather_one_fewer(); }});
    const int late = static_cast<int>(checked().at("fork versions").as_int64());
    EXPECT_GE(late, rounds / 2 * (replicas - 2));
    RecordProperty("late_versions", late);
    // What is left is to hear of the others.
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

TEST_F(many_opaque_replicas_test, with_a_fifth_of_the_answers_lost) {
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
        GTEST_SKIP() << "NO HAPROXY: scripts/install-deps --tests installs it. Nothing was tested "
                        "through a proxy that shares connections.";
    }
    begin();
    const pooling_proxy wire(haproxy, temp_path("haproxy.cfg"), s->port());
    converge(wire.port(), few_rounds);
}

}  // namespace
}  // namespace callsign::testing
