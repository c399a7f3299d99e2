#pragma once
// Routes for supervisors and monitoring.

#include "contexts.hpp"
#include "request_context.hpp"

namespace callsign::api {

awaitable<http_response> show_api(ops_context& o, request_context& c);
awaitable<http_response> show_openapi(ops_context& o, request_context& c);
awaitable<http_response> show_alive(ops_context& o, request_context& c);
awaitable<http_response> show_ready(ops_context& o, request_context& c);
awaitable<http_response> show_metrics(ops_context& o, request_context& c);

}  // namespace callsign::api
