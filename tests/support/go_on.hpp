#pragma once
// A segment that is sent to the rules in steps.

#include <callsign/domain/commands/chain.hpp>

#include <cstddef>

namespace callsign::testing {

// As the server goes on when one command has taken a part (jobs/segments.cpp).
inline void go_on(callsign::add_version& c, const callsign::add_version::added& done) {
    c.operations.erase(c.operations.begin(),
                       c.operations.begin() + static_cast<std::ptrdiff_t>(done.taken));
    c.continues = c.continues || done.version != c.parent;
    c.parent = done.version;
}

}  // namespace callsign::testing
