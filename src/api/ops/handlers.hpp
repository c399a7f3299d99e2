#pragma once
// Routes for supervisors and monitoring.

#include "shared/request_context.hpp"

#include <callsign/api/service.hpp>

#include <span>

namespace callsign::api {

// Outlives every request.
struct ops_context {
    callsign::engine& engine;
    const service_hooks& hooks;
    std::span<const route> routes;
};

awaitable<http_response> get_api(ops_context& o, request_context& c);
awaitable<http_response> get_openapi_yaml(ops_context& o, request_context& c);
awaitable<http_response> get_openapi_json(ops_context& o, request_context& c);
awaitable<http_response> get_proto(ops_context& o, request_context& c);
awaitable<http_response> get_livez(ops_context& o, request_context& c);
awaitable<http_response> get_readyz(ops_context& o, request_context& c);
awaitable<http_response> get_metrics(ops_context& o, request_context& c);

}  // namespace callsign::api
