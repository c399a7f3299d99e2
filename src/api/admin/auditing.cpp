// The audit log.

#include "handlers.hpp"
#include "shared/answers.hpp"

#include <callsign/domain/query.hpp>

namespace callsign::api {
namespace {

v1::AuditEntry entry_message(const admin_action& a) {
    v1::AuditEntry message;
    message.set_entry_id(std::to_string(a.id.value));
    wire::set_timestamp(*message.mutable_at(), a.at);
    message.set_action(a.what);
    message.set_by(a.by.name);
    if (a.by.token) message.set_token_id(std::to_string(a.by.token->value));
    message.set_by_account(a.by.account.has_value());
    message.set_client(a.by.address);
    if (a.account) message.set_account_id(std::to_string(a.account->value));
    message.set_account(a.account_name);
    message.set_subject(a.subject);
    return message;
}

}  // namespace

awaitable<http_response> get_audit(admin_context& a, request_context& c) {
    wire::field_errors wrong;
    const wire::parameters asked(c.request.query(), {"account", "pageSize", "pageToken"}, wrong);
    list_actions question{read_page(asked, wrong)};
    if (const auto name = asked.get("account"); !name.empty()) {
        question.account = std::string(name);
    }
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    const auto found = co_await a.engine.ask(std::move(question));
    if (!found) co_return answer_error(c, found.error());
    if (!*found) co_return answer_no_account(c);
    v1::AuditLog message;
    message.set_next_page_token(next_page_token(**found));
    for (const admin_action& each : (*found)->rows) *message.add_entries() = entry_message(each);
    co_return answer_message(c, 200, message);
}

}  // namespace callsign::api
