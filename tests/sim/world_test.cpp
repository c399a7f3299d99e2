// Thousands of seeds, each a world of its own. A failure prints the seed; CALLSIGN_SIM_SEED=N
// replays it alone, CALLSIGN_SIM_SEEDS=N runs as many (the default is what fits beside the other
// tests; a million is a matter of starting it by hand).

#include "sim/world.hpp"

#include <cstdlib>
#include <gtest/gtest.h>

namespace callsign::testing {
namespace {

std::optional<std::uint64_t> number_from(const char* name) {
    const char* text = std::getenv(name);
    if (!text) return std::nullopt;
    return std::strtoull(text, nullptr, 10);
}

void expect_kept(world& w, std::uint64_t seed) {
    for (const auto& broken : w.verdict()) {
        ADD_FAILURE() << "CALLSIGN_SIM_SEED=" << seed << ": " << broken;
    }
}

TEST(sim, the_promise_holds_for_every_seed) {
    const auto only = number_from("CALLSIGN_SIM_SEED");
    const std::uint64_t first = only.value_or(1);
    const std::uint64_t seeds =
        only ? 1 : number_from("CALLSIGN_SIM_SEEDS").value_or(CALLSIGN_SIM_SEEDS);
    world::events all;
    for (std::uint64_t seed = first; seed < first + seeds && !::testing::Test::HasFailure();
         ++seed) {
        world w(seed);
        w.run();
        expect_kept(w, seed);
        all.kills += w.seen().kills;
        all.retries += w.seen().retries;
        all.failed += w.seen().failed;
        all.receipts += w.seen().receipts;
        if (seed % 10'000 == 0) std::cerr << "sim: seed " << seed << "\n";
    }
    std::cout << "sim: " << seeds << " worlds, " << all.receipts << " receipts, " << all.retries
              << " retries, " << all.kills << " kills, " << all.failed << " slots failed in time\n";
    if (only) return;
    // A world in which nothing goes wrong proves nothing.
    EXPECT_GT(all.kills, 0);
    EXPECT_GT(all.retries, 0);
    EXPECT_GT(all.failed, 0);
}

TEST(sim, the_same_seed_is_the_same_run) {
    for (const std::uint64_t seed : {7u, 8u, 9u}) {
        world one(seed), two(seed);
        one.run();
        two.run();
        EXPECT_EQ(one.seen().trace, two.seen().trace);
        EXPECT_FALSE(one.seen().trace.empty());
    }
}

}  // namespace
}  // namespace callsign::testing
