#include "handlers.hpp"
#include "remotes.hpp"
#include "shared/rejections.hpp"

#include <callsign/domain/query.hpp>
#include <callsign/jobs/device_keys.hpp>

namespace callsign::api {
namespace {

void check_remote(const v1::CreateAccount& message, wire::field_errors& found) {
    check_remote_server(message.remote(), found);
    if (message.mode() == to_string(account_mode::opaque)) {
        add_error(found, {"remote", "invalid", "Must not be given for an opaque account."});
    }
}

v1::CreateAccount read_account(const request_context& c, wire::field_errors& found) {
    v1::CreateAccount message;
    if (!read_body(c, message, found)) return message;
    check_name(message.name(), "An account", found);
    check_prefix(message.prefix(), "An account's default series", found);
    const bool opaque = message.mode() == to_string(account_mode::opaque);
    if (!opaque && !message.mode().empty() && message.mode() != to_string(account_mode::managed)) {
        add_error(found, {"mode", "invalid", "Must be managed or opaque."});
    }
    if (!message.client_id().empty() && !opaque) {
        add_error(found, {"clientId", "invalid", "Must not be given unless mode is opaque."});
    } else if (!message.client_id().empty() && !parse_uuid(message.client_id())) {
        add_error(found, {"clientId", "malformed", "Must be a UUID."});
    }
    if (message.has_remote()) check_remote(message, found);
    return message;
}

std::optional<uuid> client_id_for(const v1::CreateAccount& wanted, entropy& source) {
    if (wanted.mode() != to_string(account_mode::opaque)) return std::nullopt;
    if (wanted.client_id().empty()) return draw_uuid(source);
    return parse_uuid(wanted.client_id());
}

awaitable<http_response> add_remote_account(admin_context& a, request_context& c,
                                            v1::CreateAccount wanted) {
    auto& at = *wanted.mutable_remote();
    jobs::remote_server server{at.url(), *parse_uuid(at.client_id()), at.encryption_secret()};
    const seal::wiped its_copy(server.secret);
    const seal::wiped in_message(*at.mutable_encryption_secret());
    std::string token = make_token(a.entropy);
    const seal::wiped afterwards(token);
    create_account command{wanted.name(), wanted.prefix(), "default", sha256(token)};
    actor by = c.by();
    const auto done = co_await jobs::connect_account(a.jobs, a.remote.open, std::move(command),
                                                     server, std::move(by));
    if (!done) co_return answer_error(c, done.error());
    if (const auto why = rejection_in(*done)) co_return answer_rejected(c, *why);
    account shown = std::get<account>(std::get<create_account::answer>(*done));
    co_return co_await answer_account(a, c, 201, std::move(shown), token);
}

// Submits a command of the caller that changes an account, and returns the account.
template <class Command>
awaitable<http_response> change_account(admin_context& a, request_context& c, Command command) {
    actor by = c.by();
    const auto done = co_await a.engine.submit(std::move(command), std::move(by));
    if (!done) co_return answer_error(c, done.error());
    if (const auto why = rejection_in(*done)) co_return answer_rejected(c, *why);
    account shown = std::get<account>(*done);
    co_return co_await answer_account(a, c, 200, std::move(shown), {});
}

}  // namespace

awaitable<http_response> patch_any_account(admin_context& a, request_context& c) {
    wire::field_errors wrong;
    v1::EditAccount wanted;
    if (read_body(c, wanted, wrong)) {
        if (!wanted.name().empty()) check_name(wanted.name(), "An account", wrong);
        if (wanted.name().empty() && !wanted.has_disabled()) {
            add_error(wrong, {"", "invalid", "Must have name or disabled."});
        }
    }
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    edit_account command{c.owner()};
    if (!wanted.name().empty()) command.name = wanted.name();
    if (wanted.has_disabled()) command.disabled = wanted.disabled();
    co_return co_await change_account(a, c, std::move(command));
}

awaitable<http_response> delete_any_account(admin_context& a, request_context& c) {
    delete_account command{c.owner()};
    co_return co_await change_account(a, c, std::move(command));
}

awaitable<http_response> get_accounts(admin_context& a, request_context& c) {
    wire::field_errors wrong;
    list_accounts question{read_page(c, wrong)};
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    const auto found = co_await a.engine.ask(question);
    if (!found) co_return answer_error(c, found.error());
    v1::AccountList message;
    message.set_next_page_token(next_page_token(*found));
    for (const account& each : found->rows) {
        if (each.state == account_state::removing) continue;
        account shown = each;
        v1::Account described = co_await describe_account(a, std::move(shown));
        *message.add_accounts() = std::move(described);
    }
    co_return answer_message(c, 200, message);
}

awaitable<http_response> post_account(admin_context& a, request_context& c) {
    wire::field_errors wrong;
    v1::CreateAccount wanted = read_account(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    if (wanted.has_remote()) co_return co_await add_remote_account(a, c, std::move(wanted));
    std::string secret = make_token(a.entropy);
    const seal::wiped afterwards(secret);
    const auto client_id = client_id_for(wanted, a.entropy);
    create_account command{wanted.name(), wanted.prefix(), "default", sha256(secret), client_id};
    co_return co_await carry_out(a.engine, c, std::move(command), [&](const account& made) {
        v1::Account message = wire::to_message(made);
        message.set_token(secret);
        if (client_id) message.set_client_id(to_string(*client_id));
        return answer_secret(c, 201, message);
    });
}

}  // namespace callsign::api
