#pragma once
// Context of the webhooks' handlers. Outlives every request.

#include "../feed/context.hpp"

#include <callsign/api/webhook_options.hpp>
#include <callsign/net/outgoing.hpp>
#include <callsign/seal/key_ring.hpp>

namespace callsign::api {

struct webhook_context {
    callsign::engine& engine;
    callsign::clock& clock;
    callsign::entropy& entropy;
    const seal::key_ring* master;  // null: secrets cannot be stored
    const webhook_options& options;
    net::outgoing* const& calls;  // null: deliveries have not started
};

}  // namespace callsign::api
