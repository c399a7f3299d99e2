#include "key_request.hpp"

#include "callsign/v1/callsign.pb.h"

#include <callsign/domain/task.hpp>

#include <boost/json/parse.hpp>

namespace callsign::cli {
namespace {

// Returns a text member of the response; empty if it is no text, or the response no object.
std::string text_in(const std::string& answer, boost::json::string_view name) {
    boost::json::error_code error;
    const boost::json::value read = boost::json::parse(answer, error);
    const auto* const object = error ? nullptr : read.if_object();
    const auto* const found = object ? object->if_contains(name) : nullptr;
    const auto* const text = found ? found->if_string() : nullptr;
    return text ? std::string(text->data(), text->size()) : std::string();
}

// Returns whether the status is about this task: another token, or a retry, would not help.
bool is_rejection(unsigned status) {
    return status >= 400 && status < 500 && status != 401 && status != 403 && status != 408 &&
           status != 429;
}

// Accepts only the usual spelling of a key: another server's response must not get onto tasks.
bool is_key(const std::string& text) {
    const auto ref = parse_task_ref(text);
    return ref && std::holds_alternative<task_key>(*ref) && to_string(*ref) == text;
}

}  // namespace

account_is_managed::account_is_managed()
    : failure("the account is managed: `task sync` delivers its keys; remove the hooks") {}

// Reads only what is needed of the receipt, for compatibility with later servers.
std::string ask_for_key(const std::function<http_answer(const http_call&)>& exchange,
                        const key_server& server, const uuid& task, const std::string& project) {
    v1::CreateKey body;
    body.set_uuid(to_string(task));
    body.set_project(project);
    http_call call{verb::post, "/v1/keys", server.token, wire::encode(wire::format::json, body)};
    call.headers.emplace_back("Idempotency-Key", '"' + body.uuid() + '"');
    const http_answer answer = exchange(call);
    if (answer.status == 200 || answer.status == 201) {
        std::string key = text_in(answer.body, "key");
        if (text_in(answer.body, "uuid") == body.uuid() && is_key(key)) return key;
        throw failure("the response is not a receipt for this task: is the server Callsign?");
    }
    if (text_in(answer.body, "code") == "account-managed") throw account_is_managed();
    if (is_rejection(answer.status)) throw rejection(describe(answer), answer.body);
    throw failure(describe(answer));
}

}  // namespace callsign::cli
