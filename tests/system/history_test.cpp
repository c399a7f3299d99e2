// The history that clients of the embedded store see over kills of the server is one that a server
// without failures could have produced.

#include "recorded_crew.hpp"
#include "support/setting.hpp"

namespace callsign::testing {
namespace {

using history_test = system_test;

TEST_F(history_test, of_an_embedded_store_has_an_order_over_kills) {
    const auto seed = system_seed();
    SCOPED_TRACE("CALLSIGN_SYSTEM_SEED=" + std::to_string(seed));
    auto s = start();
    recorded_crew crew({s->port()}, make_account(*s, "crew", "SYN"), seed);
    crew.start(6);
    for (int n = 0; n < 8; ++n) {
        ASSERT_TRUE(crew.await(50));
        s->child().kill();
        s->start();
    }
    ASSERT_TRUE(crew.await(50));
    crew.stop();
    crew.find_tasks(s->port());
    EXPECT_EQ(crew.seen.violations(), std::vector<std::string>{});
    s->child().kill();
    expect_sound();
}

}  // namespace
}  // namespace callsign::testing
