#include "descriptions.hpp"
#include "handlers.hpp"
#include "openapi.hpp"
#include "shared/coding.hpp"
#include "shared/problem.hpp"

#include <callsign/base/sha256.hpp>
#include <callsign/wire/gzip.hpp>
#include <callsign/wire/media_types.hpp>

#include <atomic>

namespace callsign::api {
namespace {

constexpr std::string_view plain_text = "text/plain; charset=utf-8";

http_response text(unsigned status, std::string body) {
    http_response response;
    response.status = status;
    response.content_type = plain_text;
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

// A description in the forms that answer_file() takes.
struct description {
    description(std::string_view media_type, std::string given)
        : content_type(media_type), bytes(std::move(given)) {}

    std::string_view content_type;
    std::string bytes;
    std::string gzip = wire::gzipped(bytes);
    std::string hash = to_hex(bytes_of(sha256(bytes))).substr(0, 32);

    coded_file file() const { return {content_type, hash, bytes, gzip}; }
};

struct descriptions {
    explicit descriptions(std::span<const route> routes)
        : yaml(wire::media_type::yaml, complete_openapi(openapi_source(), routes)),
          json(wire::media_type::json, openapi_json(yaml.bytes)),
          proto(plain_text, std::string(proto_source())) {}

    description yaml, json, proto;
};

// They are made once, which takes some 50 ms.
awaitable<http_response> answer_description(ops_context& o, const request_context& c,
                                            description descriptions::*which) {
    static std::atomic_bool are_made = false;
    auto made = co_await o.engine.offload_unless(are_made, payer::anonymous(), [&o] {
        static const descriptions all(o.routes);
        are_made = true;
        return &all;
    });
    if (!made) co_return answer_error(c, made.error());
    co_return answer_file(c, ((*made)->*which).file(), ask_again);
}

}  // namespace

// Links to the API's description.
awaitable<http_response> get_api(ops_context&, request_context&) {
    http_response response =
        text(200, R"({"name":"Callsign","version":")" CALLSIGN_VERSION
                  R"(","api":"/v1","openapi":"/openapi.yaml","proto":"/callsign.proto"})"
                  "\n");
    response.content_type = wire::media_type::json;
    co_return response;
}

awaitable<http_response> get_openapi_yaml(ops_context& o, request_context& c) {
    return answer_description(o, c, &descriptions::yaml);
}
awaitable<http_response> get_openapi_json(ops_context& o, request_context& c) {
    return answer_description(o, c, &descriptions::json);
}
awaitable<http_response> get_proto(ops_context& o, request_context& c) {
    return answer_description(o, c, &descriptions::proto);
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
    if (!o.engine.holds_store()) {
        co_return answer_problem(c, problems::not_ready, "The database does not respond.");
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
