#pragma once
// Secrets that were sealed under a former master key are sealed under the one in force.

#include <callsign/jobs/context.hpp>

#include <boost/asio/awaitable.hpp>
#include <cstdint>

namespace callsign::jobs {

struct resealed {
    std::int64_t current = 0;   // were under it already
    std::int64_t resealed = 0;  // are now
    std::int64_t unopened = 0;  // no key opens them; they are left as they are
};

// All there are, in steps; what is sealed meanwhile is under the key in force anyway. When it has
// ended nothing needs a former key. Requires: a master key. Errors as engine::submit.
boost::asio::awaitable<result<resealed>> reseal_all(context& with);

}  // namespace callsign::jobs
