#include "answers.hpp"
#include "handlers.hpp"

#include <callsign/domain/query.hpp>
#include <callsign/jobs/device_keys.hpp>

namespace callsign::api {
namespace {

v1::CreateAccount read_account(const request_context& c, wire::faults& found) {
    v1::CreateAccount message;
    if (!read_body(c, message, found)) return message;
    check_name(message.name(), "An account", found);
    check_prefix(message.prefix(), "An account's default series", found);
    const bool opaque = message.mode() == to_string(account_mode::opaque);
    if (!opaque && !message.mode().empty() && message.mode() != to_string(account_mode::managed)) {
        add_fault(found, {"mode", "invalid", "An account is managed or opaque."});
    }
    if (!message.client_id().empty() && !opaque) {
        add_fault(found, {"clientId", "invalid", "Only an opaque account is given a client id."});
    } else if (!message.client_id().empty() && !parse_uuid(message.client_id())) {
        add_fault(found, {"clientId", "malformed", "A client id is a UUID."});
    }
    return message;
}

std::optional<uuid> client_id_for(const v1::CreateAccount& wanted, entropy& source) {
    if (wanted.mode() != to_string(account_mode::opaque)) return std::nullopt;
    if (wanted.client_id().empty()) return jobs::draw_client_id(source);
    return parse_uuid(wanted.client_id());
}

}  // namespace

awaitable<http_response> list_accounts(admin_context& a, request_context& c) {
    wire::faults wrong;
    callsign::list_accounts question{read_page(c, wrong)};
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    const auto found = co_await a.engine.ask(question);
    if (!found) co_return answer_error(c, found.error());
    v1::AccountList message;
    message.set_next_page_token(next_page_token(*found));
    for (const account& each : found->rows) *message.add_accounts() = wire::to_message(each);
    co_return answer_message(c, 200, message);
}

awaitable<http_response> add_account(admin_context& a, request_context& c) {
    wire::faults wrong;
    const v1::CreateAccount wanted = read_account(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    std::string secret = make_token(a.entropy);
    const seal::wiped afterwards(secret);
    const auto client_id = client_id_for(wanted, a.entropy);
    create_account command{wanted.name(), wanted.prefix(), "default", sha256(secret), client_id};
    const auto made = co_await a.engine.submit(std::move(command));
    if (!made) co_return answer_error(c, made.error());
    if (std::holds_alternative<client_id_taken>(*made)) {
        co_return answer_problem(c, problems::client_id_taken, "A client id opens one account.");
    }
    const auto* given = std::get_if<account>(&*made);
    if (given == nullptr) {
        co_return answer_problem(c, problems::name_taken, "Another account has this name.");
    }
    v1::Account message = wire::to_message(*given);
    message.set_token(secret);
    if (client_id) message.set_client_id(to_string(*client_id));
    co_return answer_secret(c, 201, message);
}

}  // namespace callsign::api
