#include "handlers.hpp"
#include "openapi.hpp"
#include "shared/problem.hpp"

#include <callsign/wire/media_types.hpp>

namespace callsign::api {
namespace {

http_response text(unsigned status, std::string body) {
    http_response response;
    response.status = status;
    response.content_type = "text/plain; charset=utf-8";
    response.body = std::move(body);
    return response;
}

std::string_view reason_of(store_failure::kind reason) {
    switch (reason) {
    case store_failure::kind::full: return "The disk is full.";
    case store_failure::kind::io_error: return "The disk cannot be written.";
    case store_failure::kind::read_only: return "The disk is read-only.";
    case store_failure::kind::corrupt:
        return "The disk returns data that differs from what was written. Reads of intact data "
               "work; the server checks the disk again.";
    default: return "The store rejects writes.";
    }
}

}  // namespace

// Links to the API's description.
awaitable<http_response> get_api(ops_context&, request_context&) {
    http_response response = text(200, R"({"name":"Callsign","version":")" CALLSIGN_VERSION
                                       R"(","api":"/v1","openapi":"/openapi.yaml"})"
                                       "\n");
    response.content_type = wire::media_type::json;
    co_return response;
}

awaitable<http_response> get_openapi(ops_context& o, request_context&) {
    static const std::string whole = complete_openapi(openapi_source(), o.routes);
    http_response response = text(200, whole);
    response.content_type = wire::media_type::yaml;
    co_return response;
}

// A response is enough to be alive: the store is not queried.
awaitable<http_response> get_livez(ops_context&, request_context&) {
    co_return text(200, "alive\n");
}

awaitable<http_response> get_readyz(ops_context& o, request_context& c) {
    if (!o.engine.accepting()) co_return answer_error(c, errc::shutting_down);
    if (const auto& trouble = o.engine.write_failure()) {
        const auto& kind = o.engine.is_corrupt() ? problems::store_damaged : problems::not_ready;
        co_return answer_problem(c, kind, reason_of(trouble->reason()));
    }
    co_return text(200, "ready\n");
}

awaitable<http_response> get_metrics(ops_context& o, request_context& c) {
    if (!o.hooks.metrics) {
        co_return answer_problem(
            c, problems::no_such_path,
            "Metrics are on the listener of metrics.listen, if it is configured.");
    }
    http_response response = text(200, o.hooks.metrics());
    response.content_type = "text/plain; version=0.0.4";
    co_return response;
}

}  // namespace callsign::api
