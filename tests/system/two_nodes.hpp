#pragma once
// Two servers on one PostgreSQL database, and a crew of clients whose history is judged.

#include "recorded_crew.hpp"
#include "support/setting.hpp"

#include <array>
#include <functional>

namespace callsign::testing {

class two_nodes : public system_test {
  protected:
    struct node {
        std::string url{};
        std::unique_ptr<server> runs{};
        std::filesystem::path dir{};
        environment more{};
    };
    using failures = std::function<void(recorded_crew& crew, std::mt19937_64& random)>;

    // Starts them; the first one serves, the other stands by. `urls`: of the database.
    void start_nodes(const std::array<std::string, 2>& urls) {
        for (std::size_t n = 0; n < nodes_.size(); ++n) {
            nodes_[n].url = urls[n];
            nodes_[n].dir = temp_path("node" + std::to_string(n));
            start_node(nodes_[n]);
        }
        token_ = make_account(*nodes_[0].runs, "crew", "SYN");
    }
    void start_node(node& n) const {
        if (n.runs) return n.runs->start();
        environment all{{"CALLSIGN_STORE_URL", n.url}, {"CALLSIGN_LOG_REQUESTS", "off"}};
        all.insert(all.end(), n.more.begin(), n.more.end());
        n.runs = std::make_unique<server>(server::options{.program_dir = programs(),
                                                          .data_dir = n.dir,
                                                          .flags = {},
                                                          .environment = std::move(all),
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
    void expect_guarantees(const failures& fail) {
        const auto seed = system_seed();
        SCOPED_TRACE("CALLSIGN_SYSTEM_SEED=" + std::to_string(seed));
        std::mt19937_64 random(seed);
        recorded_crew crew({nodes_[0].runs->port(), nodes_[1].runs->port()}, token_, seed);
        crew.start(6);
        ASSERT_TRUE(crew.await(100));
        fail(crew, random);
        ASSERT_TRUE(crew.await(100)) << "no responses after the failures";
        crew.stop();
        restart_ended();
        crew.find_tasks(owner().runs->port());
        EXPECT_EQ(crew.seen.violations(), std::vector<std::string>{});
        const finished checked =
            run({(programs() / "callsign").string(), "check", "--json", "--store", nodes_[0].url},
                timeout);
        EXPECT_EQ(checked.status, (exit_status{0, 0})) << checked.out << checked.err;
        std::cout << crew.seen.creations() << " creations, " << crew.seen.writes() << " writes, "
                  << crew.seen.reads()
                  << " reads; longest time without a response: " << crew.longest_silence().count()
                  << " ms\n";
    }

    std::array<node, 2> nodes_;
    std::string token_;
};

}  // namespace callsign::testing
