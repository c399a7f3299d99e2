// Goal: two servers on a replicated PostgreSQL keep the guarantees through each failure of its
// machines, of etcd and of the servers, one or two at once. Method: as nodes_test, on a cluster
// with Patroni. scripts/nightly nodes runs it, with CALLSIGN_CLUSTER=1: each test takes a minute.

#include "support/patroni_cluster.hpp"
#include "two_nodes.hpp"

#include <cstdlib>

namespace callsign::testing {
namespace {

struct cluster_test : two_nodes {
    // Longer than Patroni's TTL and the lease.
    static constexpr auto pause = 24s;

    void SetUp() override {
        if (std::getenv("CALLSIGN_CLUSTER") == nullptr) {
            GTEST_SKIP() << "scripts/nightly nodes runs it";
        }
        ASSERT_EQ(patroni_cluster::why_not(), "");
        cluster_ = std::make_unique<patroni_cluster>();
        start_nodes({cluster_->url(), cluster_->url()});
    }

    // Waits until the failure has no effect any more.
    void recover(recorded_crew& crew) {
        for (const auto until = std::chrono::steady_clock::now() + 60s;
             std::chrono::steady_clock::now() < until; restart_ended()) {
            if (crew.await_for(1, 200ms)) break;
        }
        ASSERT_TRUE(crew.await(200)) << "no responses after the failure";
        restart_ended();
        cluster_->await_whole();
    }
    // Runs the crew through one failure.
    void expect_recovery(const std::function<void(recorded_crew&)>& fail) {
        expect_guarantees([&](recorded_crew& crew, std::mt19937_64&) {
            fail(crew);
            recover(crew);
        });
    }
    // A failure that lasts for some time cannot be awaited.
    static void last_for(std::chrono::seconds time) { std::this_thread::sleep_for(time); }

    void kill_postgres() { cluster_->kill_postgres(cluster_->primary()); }
    // A machine is lost for a while. Returns whether there were responses without it: if another
    // one is missing, too, it may be that no other has all commits.
    bool lose(recorded_crew& crew, std::size_t machine) {
        cluster_->kill(machine);
        const bool is_replaced = crew.await_for(100, 30s);
        cluster_->start(machine);
        return is_replaced;
    }
    bool lose_primary(recorded_crew& crew) { return lose(crew, cluster_->primary()); }
    bool lose_standby(recorded_crew& crew) { return lose(crew, cluster_->synchronous_standby()); }
    void pause_machine() {
        const std::size_t paused = cluster_->primary();
        cluster_->pause(paused);
        last_for(pause);
        cluster_->resume(paused);
    }
    void lose_quorum() {
        for (const std::size_t n : {0u, 1u}) cluster_->pause_etcd(n);
        last_for(12s);
        for (const std::size_t n : {0u, 1u}) cluster_->resume_etcd(n);
    }
    void kill_owner() { owner().runs->child().kill(); }
    void pause_owner() {
        node& paused = owner();
        paused.runs->child().signal(SIGSTOP);
        last_for(9s);
        paused.runs->child().signal(SIGCONT);
    }
    void stop_owner() { owner().runs->child().signal(SIGTERM); }
    // A wait for the standby that is cancelled reports success.
    void cancel_waits() {
        for (int n = 0; n < 200; ++n) {
            cluster_->query(
                "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name ="
                " 'callsignd' AND wait_event = 'SyncRep'");
        }
    }
    void fail_once(recorded_crew& crew, std::mt19937_64& random) {
        const std::array<std::pair<const char*, std::function<void()>>, 8> failures{{
            {"PostgreSQL is killed", [&] { kill_postgres(); }},
            {"the primary is lost", [&] { lose_primary(crew); }},
            {"the primary changes", [&] { cluster_->switch_over(); }},
            {"the standby is lost", [&] { lose_standby(crew); }},
            {"the owner is killed", [&] { kill_owner(); }},
            {"the owner is paused", [&] { pause_owner(); }},
            {"the owner is stopped", [&] { stop_owner(); }},
            {"waits are cancelled", [&] { cancel_waits(); }},
        }};
        const auto& [name, fail] = failures[random() % failures.size()];
        std::cout << name << std::endl;
        fail();
    }

    std::unique_ptr<patroni_cluster> cluster_;
};

TEST_F(cluster_test, postgres_is_killed) {
    expect_recovery([&](recorded_crew&) { kill_postgres(); });
}

TEST_F(cluster_test, the_primarys_machine_is_lost) {
    expect_recovery([&](recorded_crew& crew) { EXPECT_TRUE(lose_primary(crew)); });
}

TEST_F(cluster_test, the_primarys_machine_is_paused) {
    expect_recovery([&](recorded_crew&) { pause_machine(); });
}

TEST_F(cluster_test, the_primary_changes) {
    expect_guarantees([&](recorded_crew& crew, std::mt19937_64&) {
        for (int n = 0; n < 2; ++n) {
            cluster_->switch_over();
            recover(crew);
        }
    });
}

TEST_F(cluster_test, the_synchronous_standby_is_lost) {
    expect_recovery([&](recorded_crew& crew) { EXPECT_TRUE(lose_standby(crew)); });
}

TEST_F(cluster_test, etcd_loses_a_member_and_its_quorum) {
    expect_recovery([&](recorded_crew& crew) {
        cluster_->kill_etcd(2);
        ASSERT_TRUE(crew.await(200)) << "without a member";
        cluster_->start_etcd(2);
        lose_quorum();
    });
}

TEST_F(cluster_test, waits_for_the_standby_are_cancelled) {
    expect_recovery([&](recorded_crew&) { cancel_waits(); });
}

TEST_F(cluster_test, the_owner_is_killed_paused_and_stopped) {
    expect_guarantees([&](recorded_crew& crew, std::mt19937_64&) {
        kill_owner();
        recover(crew);
        pause_owner();
        recover(crew);
        stop_owner();
        recover(crew);
    });
}

TEST_F(cluster_test, the_owner_and_the_primary_are_lost_at_once) {
    expect_recovery([&](recorded_crew& crew) {
        kill_owner();
        restart_ended();
        EXPECT_TRUE(lose_primary(crew));
    });
}

TEST_F(cluster_test, the_owner_is_paused_while_the_primary_changes) {
    expect_recovery([&](recorded_crew& crew) {
        node& paused = owner();
        paused.runs->child().signal(SIGSTOP);
        cluster_->switch_over();
        ASSERT_TRUE(crew.await(100)) << "after both";
        paused.runs->child().signal(SIGCONT);
    });
}

TEST_F(cluster_test, a_series_of_failures) {
    const char* const count = std::getenv("CALLSIGN_CLUSTER_FAILURES");
    expect_guarantees([&](recorded_crew& crew, std::mt19937_64& random) {
        for (int n = count ? std::atoi(count) : 4; n > 0; --n) {
            fail_once(crew, random);
            restart_ended();
            if (random() % 2 == 0) fail_once(crew, random);
            recover(crew);
        }
    });
}

}  // namespace
}  // namespace callsign::testing
