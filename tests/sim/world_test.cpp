// Simulates thousands of seeds on all cores. A failure prints the seed; CALLSIGN_SIM_SEED=N repeats
// it alone, CALLSIGN_SIM_SEEDS=N runs N seeds from CALLSIGN_SIM_FIRST on (the default fits beside
// the other tests; a million is for manual runs).

#include "sim/world.hpp"

#include "support/setting.hpp"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>

namespace callsign::testing {
namespace {

// The worlds of a range of seeds, distributed over threads as they become free.
class worlds {
  public:
    worlds(std::uint64_t first, std::uint64_t count) : next_(first), end_(first + count) {}

    void run_all() {
        std::vector<std::thread> threads;
        for (unsigned n = std::max(1u, std::thread::hardware_concurrency()); n > 0; --n) {
            threads.emplace_back([this] { run_until_broken(); });
        }
        for (std::thread& t : threads) t.join();
    }

    std::uint64_t ran() const { return ran_; }
    const world::events& seen() const { return seen_; }
    // Violations, each with its seed; empty: the guarantees hold in all worlds.
    const std::vector<std::string>& broken() const { return broken_; }

  private:
    void run_until_broken() {
        for (;;) {
            const std::uint64_t seed = next_++;
            if (seed >= end_ || is_broken_) return;
            world w(seed);
            w.run();
            note(seed, w.verdict(), w.seen());
        }
    }

    void note(std::uint64_t seed, const std::vector<std::string>& verdict,
              const world::events& seen) {
        const std::scoped_lock lock(mutex_);
        for (const std::string& what : verdict) {
            broken_.push_back("CALLSIGN_SIM_SEED=" + std::to_string(seed) + ": " + what);
        }
        is_broken_ = !broken_.empty();
        seen_.kills += seen.kills;
        seen_.retries += seen.retries;
        seen_.failed += seen.failed;
        seen_.receipts += seen.receipts;
        seen_.edits += seen.edits;
        seen_.heard += seen.heard;
        seen_.expiries += seen.expiries;
        if (++ran_ % 10'000 == 0) std::cerr << "sim: " << ran_ << " worlds\n";
    }

    std::atomic<std::uint64_t> next_;
    const std::uint64_t end_;
    std::atomic<bool> is_broken_ = false;

    std::mutex mutex_;
    std::uint64_t ran_ = 0;
    world::events seen_;
    std::vector<std::string> broken_;
};

TEST(sim, the_guarantees_hold_for_every_seed) {
    const auto only = setting("CALLSIGN_SIM_SEED");
    const std::uint64_t first = only.value_or(setting("CALLSIGN_SIM_FIRST").value_or(1));
    const std::uint64_t seeds =
        only ? 1 : setting("CALLSIGN_SIM_SEEDS").value_or(CALLSIGN_SIM_SEEDS);
    worlds all(first, seeds);
    all.run_all();
    for (const std::string& what : all.broken()) ADD_FAILURE() << what;
    const world::events& seen = all.seen();
    std::cout << "sim: " << all.ran() << " worlds from seed " << first << ", " << seen.receipts
              << " receipts, " << seen.retries << " retries, " << seen.kills << " kills, "
              << seen.failed << " slots failed in time, " << seen.edits << " edits, " << seen.heard
              << " changes heard, " << seen.expiries << " cursors expired\n";
    if (only) return;
    EXPECT_TRUE(HasFailure() || all.ran() == seeds);
    // Without injected failures the runs would verify nothing.
    EXPECT_GT(seen.kills, 0);
    EXPECT_GT(seen.retries, 0);
    EXPECT_GT(seen.failed, 0);
    EXPECT_GT(seen.edits, 0);
    EXPECT_GT(seen.heard, 0);
    EXPECT_GT(seen.expiries, 0);
}

TEST(sim, the_same_seed_is_the_same_run) {
    for (const std::uint64_t seed : {7u, 8u, 12u}) {
        world one(seed), two(seed);
        one.run();
        two.run();
        EXPECT_EQ(one.seen().trace, two.seen().trace);
        EXPECT_FALSE(one.seen().trace.empty());
    }
}

}  // namespace
}  // namespace callsign::testing
