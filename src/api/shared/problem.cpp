#include "problem.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/wire/media_types.hpp>

#include <algorithm>
#include <array>

namespace callsign::api {
namespace {

v1::Problem problem_message(const rejected& why, std::string_view request_id) {
    v1::Problem message;
    message.set_type("urn:callsign:problem:" + std::string(why.kind.code));
    message.set_title(std::string(why.kind.title));
    message.set_status(why.kind.status);
    message.set_detail(why.detail);
    message.set_code(std::string(why.kind.code));
    message.set_request_id(std::string(request_id));
    message.set_cursor(why.cursor);
    message.set_retryable(why.kind.retryable == problem::retry::yes);
    for (const wire::field_error& fault : why.errors) {
        v1::FieldProblem& error = *message.add_errors();
        error.set_field(fault.field);
        error.set_code(fault.code);
        error.set_detail(fault.detail);
    }
    return message;
}

http_response problem_answer(wire::format form, const rejected& why, std::string_view request_id) {
    http_response response;
    response.status = why.kind.status;
    response.content_type =
        form == wire::format::json ? wire::media_type::problem : wire::media_type_of(form);
    response.body = wire::encode(form, problem_message(why, request_id));
    response.is_upstream_error = why.kind.code == problems::remote_unavailable.code ||
                                 why.kind.code == problems::remote_halted.code;
    response.facts.reason = why.kind.code;
    if (why.ask_again) set_retry_after(response, std::chrono::seconds{1});
    return response;
}

constexpr const char* retry_later = "No changes were made. Retry after the Retry-After delay.";

rejected meaning_of(errc error) {
    switch (error) {
    case errc::overloaded: return {problems::overloaded, retry_later, {}, true};
    case errc::shutting_down: return {problems::shutting_down, retry_later, {}, true};
    case errc::deadline_exceeded: return {problems::deadline_exceeded, retry_later, {}, true};
    case errc::store_rejected:
        return {problems::store_rejected,
                "No changes were made. The store cannot be written.",
                {},
                true};
    case errc::storage_full:
        return {problems::storage_full,
                "No changes were made. Reads work; retry once there is free space.",
                {},
                true};
    case errc::store_damaged:
        return {problems::store_damaged,
                "No changes were made. The server log names the location; callsign check lists all "
                "damage.",
                {},
                false};
    case errc::record_damaged:
        return {problems::record_damaged,
                "No changes were made. The server log names the record; other requests are not "
                "affected.",
                {},
                false};
    case errc::outcome_unknown:
        return {problems::outcome_unknown,
                "The change may have been made. Retry with the same idempotency key.",
                {},
                true};
    case errc::remote_unavailable:
        return {problems::remote_unavailable,
                "No changes were made. Retry later; callsign account show has the error.",
                {},
                true};
    case errc::account_gone:
        return {problems::account_not_found,
                "No changes were made. The account was deleted.",
                {},
                false};
    case errc::store_unavailable:
        return {problems::store_unavailable,
                "Nothing was read. Retry after the Retry-After delay.",
                {},
                true};
    }
    return {problems::internal_error,
            "The server log has the details under the request ID.",
            {},
            false};
}

}  // namespace

http_response answer_problem(const request_context& c, const problem& kind,
                             std::string_view detail) {
    return answer_rejected(c, {kind, std::string(detail)});
}

rejected rejected_for(wire::field_errors found) {
    const std::string count = std::to_string(found.size());
    const std::string detail = found.size() == 1 ? std::string("One error.")
                               : found.size() < wire::faults_max
                                   ? count + " errors, all listed."
                                   : "The first " + count + " errors are listed.";
    return {problems::validation_failed, detail, std::move(found)};
}

rejected rejected_for(const boost::system::error_code& error) {
    // Numbers of other categories have no meaning here; no enumerator is 0.
    const int value = error.category() == callsign_category() ? error.value() : 0;
    return meaning_of(static_cast<errc>(value));
}

v1::Problem to_message(const rejected& why) {
    return problem_message(why, {});
}

http_response answer_rejected(const request_context& c, const rejected& why) {
    return problem_answer(c.head.answer_form, why, c.request.id);
}

http_response logged_as(http_response response, std::string_view event, std::string_view reason) {
    response.facts.rejected = event;
    response.facts.reason = reason;
    return response;
}

void set_retry_after(http_response& response, std::chrono::seconds pause) {
    response.headers.emplace_back("Retry-After", std::to_string(pause.count()));
}

http_response answer_busy(const request_context& c, std::string_view why) {
    return answer_rejected(c, {problems::overloaded, std::string(why), {}, true});
}

http_response answer_faults(const request_context& c, wire::field_errors found) {
    return answer_rejected(c, rejected_for(std::move(found)));
}

http_response answer_error(const request_context& c, const boost::system::error_code& error) {
    return answer_rejected(c, rejected_for(error));
}

// Finds the problem of a rejection by net or a standby, which have status and code only.
http_response rejection(const net::rejected_request& rejected) {
    static constexpr std::array of_net{
        problems::malformed_request, problems::https_required,       problems::no_such_path,
        problems::request_timeout,   problems::body_too_large,       problems::expectation_failed,
        problems::upgrade_required,  problems::header_too_large,     problems::internal_error,
        problems::overloaded,        problems::too_many_connections, problems::not_ready};
    const auto kind = std::find_if(of_net.begin(), of_net.end(), [&](const problem& each) {
        return each.status == rejected.status && each.code == rejected.code;
    });
    CALLSIGN_ASSERT(kind != of_net.end());
    return problem_answer(wire::format::json, {*kind, std::string(rejected.detail)},
                          rejected.request_id);
}

}  // namespace callsign::api
