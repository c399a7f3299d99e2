// Tokens of accounts and of operators.

#include "handlers.hpp"
#include "shared/rejections.hpp"

#include <callsign/api/service.hpp>
#include <callsign/base/text.hpp>
#include <callsign/domain/query.hpp>

namespace callsign::api {
namespace {

create_token read_token(const rest_context& r, const request_context& c, token_scope otherwise,
                        wire::field_errors& found) {
    create_token command;
    v1::CreateToken message;
    if (!read_body(c, message, found)) return command;
    command.name = message.name().empty() ? "default" : message.name();
    check_name(command.name, "A token", found);
    const auto scope =
        message.scope().empty() ? std::optional(otherwise) : parse_token_scope(message.scope());
    if (!scope) add_error(found, {"scope", "invalid", "Must be read, write or admin."});
    command.scope = scope.value_or(otherwise);
    if (message.has_expires_at()) {
        command.expires_at = wire::to_time_point(message.expires_at());
        if (*command.expires_at <= r.clock.now()) {
            add_error(found, {"expiresAt", "invalid", "Must be in the future."});
        }
    }
    return command;
}

http_response answer_token(const request_context& c, const token& made, const std::string& secret) {
    v1::Token message = wire::to_message(made);
    message.set_token(secret);
    return answer_secret(c, 201, message);
}

// Creates a token, whose secret is in this response and in those to its retries, nowhere else.
// `owner`: none for operator tokens.
awaitable<http_response> create(rest_context& r, request_context& c,
                                std::optional<account_ref> owner) {
    const auto answer_again = [&c](const replayed<token>& again) {
        std::string secret = opened_secret(c, *c.once, again.sealed);
        const seal::wiped its(secret);
        return as_replayed(answer_token(c, again.first, secret));
    };
    if (c.once) {
        find_repeated_token question{owner, *c.once};
        auto again = co_await answer_if_repeated(r.engine, c, std::move(question), answer_again);
        if (again) co_return *std::move(again);
    }
    wire::field_errors wrong;
    create_token command = read_token(r, c, owner ? token_scope::write : token_scope::admin, wrong);
    if (!owner && command.scope != token_scope::admin) {
        add_error(wrong, {"scope", "invalid", "Must be admin for an operator token."});
    }
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    std::string secret = make_token(r.entropy);
    const seal::wiped afterwards(secret);
    if (c.once) seal_secret(c, r.entropy, secret, *c.once);
    command.account = std::move(owner);
    command.token_hash = sha256(secret);
    command.once = c.once;
    const overloaded done{[&](const token& made) { return answer_token(c, made, secret); },
                          answer_again};
    co_return co_await carry_out(r.engine, c, std::move(command), done);
}

// `owner`: none for operator tokens.
awaitable<http_response> list(rest_context& r, request_context& c,
                              std::optional<account_ref> owner) {
    wire::field_errors wrong;
    list_tokens question{std::move(owner), read_page(c, wrong)};
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    const auto found = co_await r.engine.ask(std::move(question));
    if (!found) co_return answer_error(c, found.error());
    if (!*found) co_return answer_no_account(c);
    v1::TokenList message;
    message.set_next_page_token(next_page_token(**found));
    for (const token& t : (*found)->rows) *message.add_tokens() = wire::to_message(t);
    co_return answer_message(c, 200, message);
}

// `owner`: if given, only this account's tokens.
awaitable<http_response> revoke(rest_context& r, request_context& c,
                                std::optional<account_id> owner) {
    const auto id = parse_integer(c.named());
    if (!id)
        co_return answer_problem(c, problems::token_not_found, "The token ID must be a number.");
    const revoke_token command{token_id{*id}, owner};
    co_return co_await carry_out(r.engine, c, command, [&c](const token& t) {
        return answer_message(c, 200, wire::to_message(t));
    });
}

}  // namespace

awaitable<http_response> get_tokens(rest_context& r, request_context& c) {
    return list(r, c, c.owner());
}

awaitable<http_response> post_token(rest_context& r, request_context& c) {
    return create(r, c, c.owner());
}

awaitable<http_response> delete_own_token(rest_context& r, request_context& c) {
    return revoke(r, c, c.account());
}

awaitable<http_response> get_operator_tokens(rest_context& r, request_context& c) {
    return list(r, c, std::nullopt);
}

awaitable<http_response> post_operator_token(rest_context& r, request_context& c) {
    return create(r, c, std::nullopt);
}

awaitable<http_response> delete_any_token(rest_context& r, request_context& c) {
    return revoke(r, c, std::nullopt);
}

}  // namespace callsign::api
