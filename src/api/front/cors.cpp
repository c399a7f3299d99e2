#include "cors.hpp"

#include "router.hpp"
#include "routes.hpp"

#include <algorithm>

namespace callsign::api {
namespace {

using boost::beast::http::field;

// Request and response fields that the Fetch standard does not allow by default.
constexpr const char* request_fields =
    "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID";
constexpr const char* answer_fields =
    "ETag, Idempotent-Replayed, Location, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id";

// Lifetime of a preflight result: the lowest maximum among browsers.
constexpr const char* preflight_seconds = "600";

}  // namespace

std::string_view cors::admitted(const net::http_header& request) const {
    const std::string_view origin = header_of(request, field::origin);
    if (origin.empty()) return {};
    const bool may = std::any_of(origins_.begin(), origins_.end(), [&](const std::string& each) {
        return each == "*" || each == origin;
    });
    return may ? origin : std::string_view{};
}

std::optional<http_response> cors::preflight(const net::http_header& request) const {
    if (request.method() != verb::options || admitted(request).empty()) return std::nullopt;
    if (header_of(request, field::access_control_request_method).empty()) return std::nullopt;
    const std::string_view target(request.target().data(), request.target().size());
    const auto methods = allowed_methods(all_routes(), target.substr(0, target.find('?')));
    if (methods.empty()) return std::nullopt;
    http_response answer;
    answer.status = 204;
    answer.headers = {{"Access-Control-Allow-Methods", methods},
                      {"Access-Control-Allow-Headers", request_fields},
                      {"Access-Control-Max-Age", preflight_seconds}};
    return answer;
}

void cors::admit(const net::http_header& request, http_response& answer) const {
    if (origins_.empty()) return;
    // Caches must not serve one origin's response to another.
    answer.headers.emplace_back("Vary", "Origin");
    const std::string_view origin = admitted(request);
    if (origin.empty()) return;
    answer.headers.emplace_back("Access-Control-Allow-Origin", origin);
    answer.headers.emplace_back("Access-Control-Expose-Headers", answer_fields);
}

}  // namespace callsign::api
