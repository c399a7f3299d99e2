// Goal: an account whose tasks live on another server keeps the promise, and is at rest what that
// server has, whatever is done to it, in whatever order.
//
// Method: the world of sim/remote_world.hpp, with the other server, those who work there and the
// wire between, but rapidcheck draws what happens next, and shrinks it.

#include "sim/remote_world.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace callsign::testing {
namespace {

RC_GTEST_PROP(elsewhere, the_promise_holds_whatever_happens_next, ()) {
    const auto seed = *rc::gen::arbitrary<std::uint16_t>();
    // Clients and time more often than what goes wrong.
    const auto drawn = *rc::gen::container<std::vector<int>>(
        rc::gen::weightedOneOf<int>({{3, rc::gen::just(0)},
                                     {2, rc::gen::just(1)},
                                     {2, rc::gen::just(9)},
                                     {3, rc::gen::inRange(2, remote_world::actions)}}));
    remote_world w(seed);
    for (const int a : drawn) w.act_or_die(static_cast<remote_world::action>(a));
    for (const std::string& broken : w.verdict()) RC_FAIL(broken);
    RC_CLASSIFY(w.seen().receipts > 0, "something was made");
    RC_CLASSIFY(w.seen().conflicts > 0, "somebody was first");
}

}  // namespace
}  // namespace callsign::testing
