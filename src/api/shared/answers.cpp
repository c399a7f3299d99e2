#include "answers.hpp"

#include <callsign/wire/cursor.hpp>

namespace callsign::api {

http_response answer_message(const request_context& c, unsigned status,
                             const google::protobuf::Message& message,
                             const wire::field_choice* only) {
    http_response response;
    response.status = status;
    response.content_type = wire::media_type_of(c.head.answer_form);
    response.body = wire::encode(c.head.answer_form, message, only);
    return response;
}

http_response answer_secret(const request_context& c, unsigned status,
                            const google::protobuf::Message& message) {
    http_response response = answer_message(c, status, message);
    response.has_secret = true;
    response.headers.emplace_back("Cache-Control", "no-store");
    return response;
}

bool read_body(const request_context& c, google::protobuf::Message& message,
               wire::field_errors& found, std::size_t faults_max) {
    if (wire::decode(c.head.body_form, c.request.body(), message, found, faults_max)) return true;
    for (const wire::field_error& fault : found) {
        if (fault.field.empty()) return false;
    }
    return true;
}

void check_name(const std::string& name, std::string_view whose, wire::field_errors& found) {
    if (name.empty()) {
        add_error(found, {"name", "required", std::string(whose) + " must have a name."});
    } else if (!is_valid_name(name)) {
        add_error(found, {"name", "malformed",
                          "Must be up to 63 letters, digits, dots, hyphens and underscores, "
                          "beginning with a letter or digit."});
    }
}

void check_prefix(const std::string& prefix, std::string_view whose, wire::field_errors& found) {
    if (prefix.empty()) {
        add_error(found, {"prefix", "required", std::string(whose) + " must have a prefix."});
    } else if (!is_valid_prefix(prefix)) {
        add_error(found, {"prefix", "malformed",
                          "Must be a capital letter and up to 9 more of A-Z, 0-9 and _."});
    }
}

void check_number_before(std::int64_t number, std::string field, wire::field_errors& found) {
    if (number >= 0 && number <= number_max) return;
    add_error(found, {std::move(field), "invalid", "Must be 0 to 999999999999."});
}

std::optional<rejected> rejection_of(const read_changes::answer& read) {
    if (const auto* const expired = std::get_if<read_changes::expired>(&read)) {
        return rejected{problems::cursor_expired,
                        "List the tasks, then follow from this problem's cursor.",
                        {},
                        false,
                        wire::cursor_text({expired->oldest}, expired->mark)};
    }
    if (const auto* const diverged = std::get_if<read_changes::diverged>(&read)) {
        return rejected{
            problems::cursor_unknown,
            "The server was restored from a backup, or the cursor is of another server. "
            "List the tasks, then follow from this problem's cursor.",
            {},
            false,
            wire::cursor_text({diverged->last}, diverged->mark)};
    }
    if (std::holds_alternative<unknown_series>(read)) return unknown_prefix();
    return std::nullopt;
}

rejected unresolved(ref_fault why) {
    if (why == ref_fault::unknown_prefix) {
        return {problems::unknown_prefix, "GET /v1/series lists the series."};
    }
    if (why == ref_fault::task_not_found) {
        return {problems::task_not_found, "The account has no task with this UUID or key."};
    }
    CALLSIGN_ASSERT(why == ref_fault::task_deleted);
    return {problems::task_deleted, "The key of a deleted task is not assigned again."};
}

rejected no_account() {
    return {problems::account_not_found, "GET /v1/admin/accounts lists the accounts."};
}

http_response answer_no_account(const request_context& c) {
    return answer_rejected(c, no_account());
}

rejected unknown_prefix() {
    return rejected_for(wire::field_errors{{"prefix", std::string(problems::unknown_prefix.code),
                                            "GET /v1/series lists the series."}});
}

page_request read_page(const request_context& c, wire::field_errors& found) {
    const wire::parameters asked(c.request.query(), {"pageSize", "pageToken"}, found);
    return read_page(asked, found);
}

}  // namespace callsign::api
