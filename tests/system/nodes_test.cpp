// Goal: two servers on one PostgreSQL database keep the guarantees, whatever happens to them, to
// their connections and to the database. Method: clients record what they see while failures are
// injected; the history must be one that a single server could have produced.
// CALLSIGN_SYSTEM_SEED determines keys and moments.

#include "support/postgres.hpp"
#include "support/postgres_proxy.hpp"
#include "two_nodes.hpp"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>

namespace callsign::testing {
namespace {

using ::testing::HasSubstr;

class nodes_test : public two_nodes {
  protected:
    nodes_test() { start_nodes({proxies_[0].url(), proxies_[1].url()}); }

    postgres_server database_;
    // Between each server and the database.
    std::array<postgres_proxy, 2> proxies_{postgres_proxy(database_.socket()),
                                           postgres_proxy(database_.socket())};
};

TEST_F(nodes_test, a_standby_says_what_it_is) {
    http_client owner(nodes_[0].runs->port(), {}, timeout);
    http_client standby(nodes_[1].runs->port(), {}, timeout);
    const auto has = [](http_client& http, const char* line) {
        const auto answer = http.get("/metrics");
        return answer && answer->status == 200 && answer->body.find(line) != std::string::npos;
    };
    EXPECT_EQ(standby.get("/livez")->status, 200u);
    EXPECT_EQ(standby.get("/readyz")->status, 503u);
    EXPECT_EQ(standby.get("/v1/tasks")->status, 503u);
    EXPECT_TRUE(has(standby, "\ncallsign_standby 1\n"));
    EXPECT_TRUE(has(standby, "\ncallsign_ready 0\n"));
    EXPECT_TRUE(has(owner, "\ncallsign_standby 0\n"));
    EXPECT_TRUE(has(owner, "\ncallsign_ready 1\n"));
    EXPECT_FALSE(has(owner, "{purpose=\"commit\"} 0\n"));
    EXPECT_FALSE(has(owner, "\ncallsign_postgres_taken_over_timestamp_seconds 0\n"));
}

TEST_F(nodes_test, doctor_examines_database_and_log) {
    const auto doctor = [&](const node& at) {
        return run(
            {(programs() / "callsign").string(), "doctor", "--data-dir", at.dir.string()}, timeout,
            {{"CALLSIGN_STORE_URL", database_.url()}, {"CALLSIGN_SERVER_LISTEN", "127.0.0.1:0"}});
    };
    const finished of_owner = doctor(nodes_[0]);
    EXPECT_EQ(of_owner.status, (exit_status{1, 0})) << of_owner.out << of_owner.err;
    for (const char* line :
         {"runs with fsync or full_page_writes off", "no Patroni responds on port 8008",
          "; takeovers in the last ", "schema 1, supported: 1", "server responds",
          "no slot is pending", "no series is held", "every task has a description"}) {
        EXPECT_THAT(of_owner.out, HasSubstr(line));
    }
    EXPECT_THAT(doctor(nodes_[1]).out, HasSubstr("server stands by"));
    database_.kill();
    EXPECT_THAT(doctor(nodes_[0]).out,
                HasSubstr("error    postgresql        the database does not respond"));
    database_.start();
}

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

// The wall clock of one server is an hour ahead: the other one follows with a clock that is behind
// the store.
TEST_F(nodes_test, a_wall_clock_may_be_off_by_an_hour) {
    nodes_[1].runs.reset();
    nodes_[1].more = {{"LD_PRELOAD", CALLSIGN_WRONG_CLOCK}, {"CALLSIGN_CLOCK_OFF", "3600"}};
    start_node(nodes_[1]);
    expect_guarantees([&](recorded_crew& crew, std::mt19937_64&) {
        for (int n = 0; n < 3; ++n) {
            node& stopped = owner();
            EXPECT_EQ(&stopped, &nodes_[n % 2]);
            stopped.runs->child().signal(SIGTERM);
            EXPECT_EQ(stopped.runs->child().wait(timeout), (exit_status{0, 0}));
            ASSERT_TRUE(crew.await(100)) << "after a change of the clock";
            restart_ended();
        }
    });
    EXPECT_EQ(database_.query("SELECT max(at) - min(at) > 3500000 FROM callsign.batches"), "t");
}

// Writes fail with SQLSTATE 53100 until there is space again.
TEST_F(nodes_test, the_databases_disk_may_be_full) {
    const auto dir = database_.socket().parent_path();
    const auto is_full = dir / "full";
    std::filesystem::copy_file(CALLSIGN_FAILING_DISK, dir / "failing_disk.so");
    database_.kill();
    database_.start({{"LD_PRELOAD", dir / "failing_disk.so"}, {"CALLSIGN_DISK_FULL", is_full}});
    restart_ended();
    expect_guarantees([&](recorded_crew& crew, std::mt19937_64&) {
        http_client http(owner().runs->port(), token_, timeout);
        std::ofstream(is_full) << "now";
        for (const auto until = std::chrono::steady_clock::now() + timeout;
             serves(nodes_[0]) || serves(nodes_[1]);) {
            ASSERT_LT(std::chrono::steady_clock::now(), until) << "the disk is not full";
        }
        EXPECT_EQ(http.post_json("/v1/tasks", R"({"description":"no space"})", "full")->status,
                  507u);
        std::filesystem::remove(is_full);
        ASSERT_TRUE(crew.await(100)) << "with space again";
        restart_ended();
    });
}

TEST_F(nodes_test, connections_may_be_lost_at_any_moment) {
    expect_guarantees([&](recorded_crew& crew, std::mt19937_64& random) {
        constexpr std::array fates{trip_fate::cut_before, trip_fate::cut_after,
                                   trip_fate::swallowed, trip_fate::unanswered};
        for (int n = 0; n < 8; ++n) {
            for (postgres_proxy& each : proxies_) each.lose_next(fates[random() % fates.size()]);
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
