#pragma once
// Re-encrypts secrets that are encrypted with a former master key.

#include <callsign/jobs/context.hpp>

#include <boost/asio/awaitable.hpp>
#include <cstdint>

namespace callsign::jobs {

struct resealed {
    std::int64_t current = 0;   // were encrypted with the current key
    std::int64_t resealed = 0;  // were re-encrypted
    std::int64_t unopened = 0;  // no key decrypts them; left unchanged
};

// Re-encrypts all secrets, in steps; new ones use the current key anyway. Afterwards no former key
// is needed. Requires: a master key. Errors as engine::submit.
boost::asio::awaitable<result<resealed>> reseal_all(context& with);

}  // namespace callsign::jobs
