#include "head.hpp"

#include "auth.hpp"
#include "router.hpp"
#include "routes.hpp"
#include "shared/negotiation.hpp"
#include "shared/problem.hpp"
#include "sync/sync_call.hpp"

namespace callsign::api {
namespace {

using boost::beast::http::field;

http_response reject_path(const request_context& c) {
    return answer_problem(c, problems::no_such_path, "GET /openapi.yaml describes all paths.");
}

http_response reject_method(const request_context& c) {
    std::string allowed = allowed_methods(all_routes(), c.request.path());
    auto response =
        answer_problem(c, problems::method_not_allowed, "Allowed methods: " + allowed + ".");
    response.headers.emplace_back("Allow", std::move(allowed));
    return response;
}

// The reference server treats a wrong method as a wrong path.
http_response reject_sync_path(const request_context&) {
    http_response response = answer_text(404, "");
    response.facts.reason = problems::no_such_path.code;
    return response;
}

http_response reject_sync_head(const request_context& c) {
    return *c.head.sync_rejected;
}

http_response reject_answer_form(const request_context& c) {
    return answer_problem(c, problems::not_acceptable,
                          "Responses are application/json or application/x-protobuf.");
}

http_response reject_body_coding(const request_context& c) {
    auto response = answer_problem(c, problems::unsupported_media_type,
                                   "Send the body without a Content-Encoding.");
    response.headers.emplace_back("Accept-Encoding", "identity");  // RFC 9110 section 15.5.16
    return response;
}

http_response reject_body_form(const request_context& c) {
    auto response = answer_problem(c, problems::unsupported_media_type,
                                   "Send application/json or application/x-protobuf.");
    if (c.request.method() == verb::patch) {
        response.headers.emplace_back(
            "Accept-Patch",
            "application/merge-patch+json, application/json, application/x-protobuf");
    }
    return response;
}

void read_sync(const net::http_header& header, const sync_options& sync, std::string_view path_id,
               request_head& head) {
    auto read = read_sync_head(sync, *head.route, path_id, header);
    if (const auto* said = std::get_if<sync_head>(&read)) {
        head.sync = *said;
    } else {
        head.sync_rejected = std::get<http_response>(std::move(read));
        head.reject = reject_sync_head;
    }
}

}  // namespace

std::shared_ptr<const request_head> read_head(const net::http_header& header,
                                              const sync_options& sync) {
    const std::string_view target(header.target().data(), header.target().size());
    const std::string_view path = target.substr(0, target.find('?'));
    const std::string_view content_type = header_of(header, field::content_type);
    const bool is_patch = header.method() == verb::patch;
    const auto body_form = is_patch ? form_of_patch(content_type) : form_of_body(content_type);
    const auto read = std::make_shared<request_head>();
    request_head& head = *read;
    head.body_form = body_form.value_or(wire::format::json);
    const auto answer_form = form_of_answer(list_of(header, field::accept), head.body_form);
    head.answer_form = answer_form.value_or(wire::format::json);

    const auto found = find_route(all_routes(), header.method(), path);
    head.route = found.route;
    for (std::size_t i = 0; i < captures_max; ++i) {
        const std::string_view piece = found.captured[i];
        if (head.route && !piece.empty()) {
            head.captured[i] = {static_cast<std::size_t>(piece.data() - path.data()), piece.size()};
        }
    }
    // The reference server has no HEAD for clients.
    const bool is_head = header.method() == verb::head;
    if (head.route && head.route->needs == access::device && is_head) head.route = nullptr;
    if (!head.route) {
        head.reject = is_sync_path(path) ? reject_sync_path
                      : found.path_known ? reject_method
                                         : reject_path;
    } else if (head.route->needs == access::device) {
        read_sync(header, sync, found.captured[0], head);
    } else if (!head.route->is_open()) {  // open routes have formats of their own
        if (const auto token = bearer_token(header)) head.token = sha256(*token);
        const bool takes_message = head.route->takes == body::message;
        if (takes_message && !body_form) head.reject = reject_body_form;
        if (takes_message && is_coded(header)) head.reject = reject_body_coding;
        if (!answer_form && !head.route->has_own_form) head.reject = reject_answer_form;
    }
    return read;
}

}  // namespace callsign::api
