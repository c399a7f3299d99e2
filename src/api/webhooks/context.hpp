#pragma once
// What the handlers of webhooks are given to answer with. They outlive every request.

#include "../feed/context.hpp"

#include <callsign/api/webhook_options.hpp>
#include <callsign/net/outgoing.hpp>
#include <callsign/seal/key_ring.hpp>

namespace callsign::api {

struct webhook_context {
    callsign::engine& engine;
    callsign::clock& clock;
    callsign::entropy& entropy;
    const seal::key_ring* master;  // none: no secret can be kept
    const webhook_options& options;
    net::outgoing* const& calls;  // none: nothing is posted yet
};

}  // namespace callsign::api
