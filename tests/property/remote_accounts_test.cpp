// Goal: a remote account keeps the guarantees, and at rest its mirror equals the remote server's
// tasks, after any sequence of events.
//
// Method: the world of sim/remote_world.hpp, with the remote server, its other clients and the
// connection between the servers. rapidcheck generates the events, and shrinks them.

#include "sim/remote_world.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace callsign::testing {
namespace {

RC_GTEST_PROP(remote_account, the_guarantees_hold_whatever_happens_next, ()) {
    const auto seed = *rc::gen::arbitrary<std::uint16_t>();
    // Clients' actions and the passing of time are more frequent than failures.
    const auto drawn = *rc::gen::container<std::vector<int>>(
        rc::gen::weightedOneOf<int>({{3, rc::gen::just(0)},
                                     {2, rc::gen::just(1)},
                                     {2, rc::gen::just(9)},
                                     {3, rc::gen::inRange(2, remote_world::actions)}}));
    remote_world w(seed);
    for (const int a : drawn) w.act_or_die(static_cast<remote_world::action>(a));
    for (const std::string& broken : w.verdict()) RC_FAIL(broken);
    RC_CLASSIFY(w.seen().receipts > 0, "a task was created");
    RC_CLASSIFY(w.seen().conflicts > 0, "there was a conflict");
}

}  // namespace
}  // namespace callsign::testing
