// Keys for tasks of opaque accounts, which the server cannot read.

#include "handlers.hpp"
#include "shared/task_answers.hpp"

#include <callsign/base/text.hpp>

namespace callsign::api {
namespace {

// The UUID identifies a retry. An Idempotency-Key, if sent, must be the same UUID.
void check_key(const request_context& c, const uuid& id, wire::field_errors& found) {
    const auto read = parse_key_field(c);
    if (std::holds_alternative<wire::key_missing>(read)) return;
    const auto* const key = std::get_if<std::string>(&read);
    if (key != nullptr && parse_uuid(*key) == id) return;
    add_error(found, {"uuid", "invalid",
                      "Must be the UUID in the Idempotency-Key header, if that is sent."});
}

assign_key read_wanted(const request_context& c, wire::field_errors& found) {
    v1::CreateKey message;
    if (!read_body(c, message, found)) return {};
    const auto id = parse_uuid(message.uuid());
    if (!id || *id == uuid{}) {
        const char* const code = message.uuid().empty() ? "required" : "malformed";
        add_error(found, {"uuid", code, "Must be the task's UUID."});
    } else {
        check_key(c, *id, found);
    }
    // In any case, as in a creation.
    const std::string prefix = upper(message.prefix());
    if (!prefix.empty()) check_prefix(prefix, "A series", found);
    return {c.account(), id.value_or(uuid{}), prefix, message.project(), c.who.token};
}

}  // namespace

awaitable<http_response> post_key(rest_context& r, request_context& c) {
    wire::field_errors found;
    assign_key command = read_wanted(c, found);
    if (!found.empty()) co_return answer_faults(c, found);
    const auto done = co_await r.engine.submit(std::move(command));
    if (!done) co_return answer_error(c, done.error());
    co_return answer_outcome(c, *done, [&c](const receipted& given) {
        auto response = answer_message(c, 201, wire::to_message(given.receipt));
        if (given.replayed) response.headers.emplace_back("Idempotent-Replayed", "true");
        return response;
    });
}

}  // namespace callsign::api
