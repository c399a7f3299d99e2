#pragma once
// Routes for supervisors and monitoring.

#include "shared/request_context.hpp"

#include <callsign/api/service.hpp>

namespace callsign::api {

// Outlives every request.
struct ops_context {
    callsign::engine& engine;
    const service_hooks& hooks;
};

awaitable<http_response> show_api(ops_context& o, request_context& c);
awaitable<http_response> show_openapi(ops_context& o, request_context& c);
awaitable<http_response> show_alive(ops_context& o, request_context& c);
awaitable<http_response> show_ready(ops_context& o, request_context& c);
awaitable<http_response> show_metrics(ops_context& o, request_context& c);

}  // namespace callsign::api
