#include "handlers.hpp"
#include "openapi.hpp"
#include "problem.hpp"

namespace callsign::api {
namespace {

http_response text(unsigned status, std::string body) {
    http_response response;
    response.status = status;
    response.content_type = "text/plain; charset=utf-8";
    response.body = std::move(body);
    return response;
}

}  // namespace

// Where to read on.
awaitable<http_response> show_api(ops_context&, request_context&) {
    http_response response = text(200, R"({"name":"Callsign","version":")" CALLSIGN_VERSION
                                       R"(","api":"/v1","openapi":"/openapi.yaml"})"
                                       "\n");
    response.content_type = "application/json";
    co_return response;
}

awaitable<http_response> show_openapi(ops_context&, request_context&) {
    http_response response = text(200, std::string(openapi_text()));
    response.content_type = "application/yaml";  // RFC 9512
    co_return response;
}

// Alive is who can answer; the store is not asked.
awaitable<http_response> show_alive(ops_context&, request_context&) {
    co_return text(200, "alive\n");
}

awaitable<http_response> show_ready(ops_context& o, request_context& c) {
    if (!o.engine.accepting()) co_return answer_error(c, errc::shutting_down);
    if (!o.engine.writable()) co_return answer_error(c, errc::store_damaged);
    co_return text(200, "ready\n");
}

awaitable<http_response> show_metrics(ops_context& o, request_context&) {
    http_response response = text(200, o.hooks.metrics ? o.hooks.metrics() : std::string());
    response.content_type = "text/plain; version=0.0.4";
    co_return response;
}

}  // namespace callsign::api
