#pragma once
// Webhooks of an account: created, shown, edited, removed.

#include "shared/request_context.hpp"

#include <callsign/jobs/webhook_deliverer.hpp>
#include <callsign/jobs/webhook_options.hpp>
#include <callsign/net/outgoing.hpp>
#include <callsign/seal/key_ring.hpp>

namespace callsign::api {

// Outlives every request.
struct webhook_context {
    callsign::engine& engine;
    callsign::clock& clock;
    callsign::entropy& entropy;
    const seal::key_ring* master;  // null: secrets cannot be stored
    const jobs::webhook_options& options;
    net::outgoing* const& calls;  // null: deliveries have not started
    jobs::webhook_deliverer& deliverer;
};

awaitable<http_response> get_webhooks(webhook_context& w, request_context& c);
awaitable<http_response> post_webhook(webhook_context& w, request_context& c);
awaitable<http_response> get_webhook(webhook_context& w, request_context& c);
awaitable<http_response> patch_webhook(webhook_context& w, request_context& c);
awaitable<http_response> rotate_webhook_secret(webhook_context& w, request_context& c);
awaitable<http_response> test_webhook(webhook_context& w, request_context& c);
awaitable<http_response> delete_webhook(webhook_context& w, request_context& c);
awaitable<http_response> get_deliveries(webhook_context& w, request_context& c);

}  // namespace callsign::api
