// Goal: two servers on one PostgreSQL database keep the guarantees, whatever happens to them, to
// their connections and to the database. Method: clients record what they see while failures are
// injected; the history must be one that a single server could have produced.
// CALLSIGN_SYSTEM_SEED determines keys and moments.

#include "recorded_crew.hpp"
#include "support/postgres.hpp"
#include "support/postgres_proxy.hpp"

#include <array>

namespace callsign::testing {
namespace {

class nodes_test : public system_test {
  protected:
    // One of the servers: its connections to the database pass a proxy.
    struct node {
        explicit node(const postgres_server& database) : proxy(database.socket()) {}

        postgres_proxy proxy;
        std::unique_ptr<server> runs{};
        std::filesystem::path dir{};
    };

    nodes_test() : nodes_{node(database_), node(database_)} {
        for (std::size_t n = 0; n < nodes_.size(); ++n) {
            nodes_[n].dir = temp_path("node" + std::to_string(n));
            start_node(nodes_[n]);
        }
        token_ = make_account(*nodes_[0].runs, "crew", "SYN");
    }

    // The first server serves at once; others stand by.
    void start_node(node& n) {
        if (n.runs) return n.runs->start();
        n.runs = std::make_unique<server>(
            server::options{.program_dir = programs(),
                            .data_dir = n.dir,
                            .flags = {},
                            .environment = {{"CALLSIGN_STORE_URL", n.proxy.url()},
                                            {"CALLSIGN_LOG_REQUESTS", "off"}},
                            .may_stand_by = true});
    }
    static bool serves(const node& n) {
        http_client http(n.runs->port(), {}, 1s);
        const auto ready = http.get("/readyz");
        return ready && ready->status == 200;
    }
    node& owner() {
        for (const auto until = std::chrono::steady_clock::now() + timeout;
             std::chrono::steady_clock::now() < until;) {
            for (node& n : nodes_) {
                if (n.runs->child().running() && serves(n)) return n;
            }
            std::this_thread::sleep_for(20ms);
        }
        throw std::runtime_error("no server serves");
    }
    // As a service manager does.
    void restart_ended() {
        for (node& n : nodes_) {
            if (!n.runs->child().running()) start_node(n);
        }
    }

    // Runs the crew through some failures, and judges its history.
    template <class Failures>
    void expect_guarantees(const Failures& failures) {
        const auto seed = system_seed();
        SCOPED_TRACE("CALLSIGN_SYSTEM_SEED=" + std::to_string(seed));
        std::mt19937_64 random(seed);
        recorded_crew crew({nodes_[0].runs->port(), nodes_[1].runs->port()}, token_, seed);
        crew.start(6);
        ASSERT_TRUE(crew.await(100));
        failures(crew, random);
        ASSERT_TRUE(crew.await(100)) << "no responses after the failures";
        crew.stop();
        restart_ended();
        crew.find_tasks(owner().runs->port());
        EXPECT_EQ(crew.seen.violations(), std::vector<std::string>{});
        const finished checked =
            run({(programs() / "callsign").string(), "check", "--json", "--store", database_.url()},
                timeout);
        EXPECT_EQ(checked.status, (exit_status{0, 0})) << checked.out << checked.err;
        std::cout << crew.seen.creations() << " creations, " << crew.seen.writes() << " writes, "
                  << crew.seen.reads() << " reads\n";
    }

    postgres_server database_;
    std::array<node, 2> nodes_;
    std::string token_;
};

TEST_F(nodes_test, servers_may_be_killed_paused_and_stopped) {
    expect_guarantees([&](recorded_crew& crew, std::mt19937_64&) {
        owner().runs->child().kill();
        restart_ended();
        ASSERT_TRUE(crew.await(100)) << "after a kill";

        // The paused server has requests and believes that it owns the store.
        node& paused = owner();
        paused.runs->child().signal(SIGSTOP);
        node& other = &paused == &nodes_[0] ? nodes_[1] : nodes_[0];
        ASSERT_TRUE(crew.await(100)) << "after a pause";
        EXPECT_TRUE(serves(other));
        paused.runs->child().signal(SIGCONT);
        EXPECT_EQ(paused.runs->child().wait(timeout), (exit_status{70, 0}));
        restart_ended();

        node& stopped = owner();
        stopped.runs->child().signal(SIGTERM);
        EXPECT_EQ(stopped.runs->child().wait(timeout), (exit_status{0, 0}));
        ASSERT_TRUE(crew.await(100)) << "after a stop";
        restart_ended();
    });
}

TEST_F(nodes_test, connections_may_be_lost_at_any_moment) {
    expect_guarantees([&](recorded_crew& crew, std::mt19937_64& random) {
        constexpr std::array fates{trip_fate::cut_before, trip_fate::cut_after,
                                   trip_fate::swallowed, trip_fate::unanswered};
        for (int n = 0; n < 8; ++n) {
            for (node& each : nodes_) each.proxy.lose_next(fates[random() % fates.size()]);
            restart_ended();
            ASSERT_TRUE(crew.await(1 + random() % 100));
        }
        for (int n = 0; n < 3; ++n) {
            database_.query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'callsignd'");
            ASSERT_TRUE(crew.await(1 + random() % 100));
        }
    });
}

TEST_F(nodes_test, the_database_may_be_killed) {
    expect_guarantees([&](recorded_crew& crew, std::mt19937_64&) {
        for (int n = 0; n < 2; ++n) {
            database_.kill();
            database_.start();
            restart_ended();
            ASSERT_TRUE(crew.await(100));
        }
    });
}

}  // namespace
}  // namespace callsign::testing
