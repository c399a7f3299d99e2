// Simulates a remote account for many seeds, on all cores. A failure prints the seed;
// CALLSIGN_REMOTE_SEED=N repeats it alone, CALLSIGN_REMOTE_SEEDS=N runs N seeds from
// CALLSIGN_REMOTE_FIRST on.

#include "sim/remote_world.hpp"

#include "support/setting.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <iostream>
#include <mutex>
#include <thread>

namespace callsign::testing {
namespace {

struct totals {
    std::mutex mutex;
    std::uint64_t ran = 0;
    remote_world::events all;
    std::vector<std::string> broken;
};

void run_some(std::atomic<std::uint64_t>& next, std::uint64_t end, totals& sum) {
    for (std::uint64_t seed = next++; seed < end; seed = next++) {
        remote_world w(seed);
        w.run();
        const auto verdict = w.verdict();
        const auto& seen = w.seen();
        const std::scoped_lock lock(sum.mutex);
        for (const std::string& what : verdict) {
            sum.broken.push_back("CALLSIGN_REMOTE_SEED=" + std::to_string(seed) + ": " + what);
        }
        if (sum.broken.size() > 10) return;
        sum.all.kills += seen.kills;
        sum.all.retries += seen.retries;
        sum.all.receipts += seen.receipts;
        sum.all.failed += seen.failed;
        sum.all.edits += seen.edits;
        sum.all.elsewhere += seen.elsewhere;
        sum.all.late += seen.late;
        sum.all.conflicts += seen.conflicts;
        sum.all.lookups += seen.lookups;
        sum.all.fences += seen.fences;
        sum.all.restarts += seen.restarts;
        if (++sum.ran % 10'000 == 0) std::cerr << "remote sim: " << sum.ran << " worlds\n";
    }
}

TEST(remote_sim, the_guarantees_hold_for_every_seed) {
    const auto only = setting("CALLSIGN_REMOTE_SEED");
    const std::uint64_t first = only.value_or(setting("CALLSIGN_REMOTE_FIRST").value_or(1));
    const std::uint64_t seeds =
        only ? 1 : setting("CALLSIGN_REMOTE_SEEDS").value_or(CALLSIGN_SIM_SEEDS / 4);
    std::atomic<std::uint64_t> next = first;
    totals sum;
    std::vector<std::thread> threads;
    for (unsigned n = std::max(1u, std::thread::hardware_concurrency()); n > 0; --n) {
        threads.emplace_back([&] { run_some(next, first + seeds, sum); });
    }
    for (std::thread& t : threads) t.join();
    for (const std::string& what : sum.broken) ADD_FAILURE() << what;
    const auto& seen = sum.all;
    std::cout << "remote sim: " << sum.ran << " worlds from seed " << first << ", " << seen.receipts
              << " receipts, " << seen.retries << " retries, " << seen.kills << " kills, "
              << seen.failed << " slots failed, " << seen.edits << " edits, " << seen.elsewhere
              << " versions of others, " << seen.conflicts << " conflicts, " << seen.lookups
              << " lookups, " << seen.late << " late copies, " << seen.fences << " fences, "
              << seen.restarts << " snapshots\n";
    if (only || HasFailure()) return;
    // Without injected failures the runs would verify nothing.
    EXPECT_GT(seen.kills, 0);
    EXPECT_GT(seen.failed, 0);
    EXPECT_GT(seen.edits, 0);
    EXPECT_GT(seen.conflicts, 0);
    EXPECT_GT(seen.lookups, 0);
    EXPECT_GT(seen.late, 0);
    EXPECT_GT(seen.fences, 0);
    EXPECT_GT(seen.restarts, 0);
}

TEST(remote_sim, the_same_seed_is_the_same_run) {
    for (const std::uint64_t seed : {7u, 8u, 12u}) {
        remote_world one(seed), two(seed);
        one.run();
        two.run();
        EXPECT_EQ(one.seen().trace, two.seen().trace);
        EXPECT_FALSE(one.seen().trace.empty());
    }
}

}  // namespace
}  // namespace callsign::testing
