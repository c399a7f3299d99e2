// Simulates servers that share a database for many seeds, on all cores. A failure prints the seed;
// CALLSIGN_NODES_SEED=N repeats it alone, CALLSIGN_NODES_SEEDS=N runs N seeds from
// CALLSIGN_NODES_FIRST on.

#include "sim/nodes_world.hpp"

#include "support/setting.hpp"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <iostream>
#include <mutex>
#include <thread>

namespace callsign::testing {
namespace {

struct nodes_totals {
    std::mutex mutex;
    std::uint64_t ran = 0;
    nodes_world::events all;
    std::vector<std::string> broken;
};

void run_worlds(std::atomic<std::uint64_t>& next, std::uint64_t end, nodes_totals& sum) {
    for (std::uint64_t seed = next++; seed < end; seed = next++) {
        nodes_world w(seed);
        w.run();
        const auto verdict = w.verdict();
        const auto& seen = w.seen();
        const std::scoped_lock lock(sum.mutex);
        for (const std::string& what : verdict) {
            sum.broken.push_back("CALLSIGN_NODES_SEED=" + std::to_string(seed) + ": " + what);
        }
        if (sum.broken.size() > 10) return;
        sum.all.kills += seen.kills;
        sum.all.pauses += seen.pauses;
        sum.all.drains += seen.drains;
        sum.all.cuts += seen.cuts;
        sum.all.failovers += seen.failovers;
        sum.all.takeovers += seen.takeovers;
        sum.all.undecided += seen.undecided;
        sum.all.losses += seen.losses;
        sum.all.receipts += seen.receipts;
        sum.all.looks += seen.looks;
        if (++sum.ran % 10'000 == 0) std::cerr << "nodes sim: " << sum.ran << " worlds\n";
    }
}

TEST(nodes_sim, the_guarantees_hold_for_every_seed) {
    const auto only = setting("CALLSIGN_NODES_SEED");
    const std::uint64_t first = only.value_or(setting("CALLSIGN_NODES_FIRST").value_or(1));
    const std::uint64_t seeds =
        only ? 1 : setting("CALLSIGN_NODES_SEEDS").value_or(CALLSIGN_SIM_SEEDS / 2);
    std::atomic<std::uint64_t> next = first;
    nodes_totals sum;
    std::vector<std::thread> threads;
    for (unsigned n = std::max(1u, std::thread::hardware_concurrency()); n > 0; --n) {
        threads.emplace_back([&] { run_worlds(next, first + seeds, sum); });
    }
    for (std::thread& t : threads) t.join();
    for (const std::string& what : sum.broken) ADD_FAILURE() << what;
    const auto& seen = sum.all;
    std::cout << "nodes sim: " << sum.ran << " worlds from seed " << first << ", " << seen.receipts
              << " receipts, " << seen.looks << " looks at tasks, " << seen.takeovers
              << " takeovers, " << seen.losses << " losses, " << seen.undecided
              << " commits without an answer, " << seen.kills << " kills, " << seen.pauses
              << " pauses, " << seen.drains << " drains, " << seen.cuts << " cuts, "
              << seen.failovers << " failovers\n";
    if (only || HasFailure()) return;
    // Without injected failures the runs would verify nothing.
    EXPECT_GT(seen.takeovers, 0);
    EXPECT_GT(seen.losses, 0);
    EXPECT_GT(seen.undecided, 0);
    EXPECT_GT(seen.kills, 0);
    EXPECT_GT(seen.pauses, 0);
    EXPECT_GT(seen.drains, 0);
    EXPECT_GT(seen.cuts, 0);
    EXPECT_GT(seen.failovers, 0);
    EXPECT_GT(seen.looks, 0);
}

TEST(nodes_sim, the_same_seed_is_the_same_run) {
    for (const std::uint64_t seed : {7u, 8u, 12u}) {
        nodes_world one(seed), two(seed);
        one.run();
        two.run();
        EXPECT_EQ(one.seen().trace, two.seen().trace);
        EXPECT_FALSE(one.seen().trace.empty());
    }
}

}  // namespace
}  // namespace callsign::testing
