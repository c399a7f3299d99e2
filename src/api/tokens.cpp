#include "handlers.hpp"

#include <charconv>

namespace callsign::api {
namespace {

struct wanted_token {
    std::string name;
    token_scope scope;
};

wanted_token read_token(const call& c, token_scope otherwise, wire::faults& found) {
    v1::CreateToken message;
    if (!read_body(c, message, found)) return {};
    const std::string name = message.name().empty() ? "default" : message.name();
    if (!is_valid_name(name)) {
        add_fault(found, {"name", "malformed",
                          "A name is up to 63 letters, digits, dots, hyphens and underscores, a "
                          "letter or digit first."});
    }
    const auto scope =
        message.scope().empty() ? std::optional(otherwise) : parse_token_scope(message.scope());
    if (!scope) add_fault(found, {"scope", "invalid", "A scope is read, write or admin."});
    return {name, scope.value_or(otherwise)};
}

// A new token of `owner` (none: the operator's), its secret in this answer and nowhere else.
awaitable<http_response> create(rooms& r, call& c, std::optional<std::string> owner,
                                wanted_token wanted) {
    std::string secret = make_token(r.entropy);
    const seal::wiped afterwards(secret);
    create_token command{std::move(owner), std::move(wanted.name), wanted.scope, sha256(secret)};
    const auto made = co_await r.engine.submit(std::move(command));
    if (!made) co_return answer_error(c, made.error());
    const auto* given = std::get_if<token>(&*made);
    if (given == nullptr) co_return answer_no_account(c);
    v1::Token message = wire::to_message(*given);
    message.set_token(secret);
    co_return answer_secret(c, 201, message);
}

http_response answer_tokens(const call& c, const page& p, std::vector<token> rows) {
    v1::TokenList message;
    message.set_next_page_token(cut_to_page(rows, p));
    for (const token& t : rows) *message.add_tokens() = wire::to_message(t);
    return answer_message(c, 200, message);
}

awaitable<http_response> list(rooms& r, call& c, std::optional<account_id> owner, page p) {
    auto question = [owner](read_tx& tx) { return tx.tokens_of(owner); };
    auto found = co_await r.engine.ask({c.payer(), many_rows}, std::move(question));
    if (!found) co_return answer_error(c, found.error());
    co_return answer_tokens(c, p, std::move(*found));
}

// Of `owner` alone, if given.
awaitable<http_response> revoke(rooms& r, call& c, std::optional<account_id> owner) {
    const std::string text = percent_decoded(c.captured[0]);
    std::int64_t id = 0;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, id);
    if (read.ec != std::errc{} || read.ptr != end) {
        co_return answer_problem(c, problems::token_not_found, "A token's id is a number.");
    }
    const revoke_token command{token_id{id}, owner};
    const auto done = co_await r.engine.submit(command);
    // Also where the outcome is not known: to forget too much costs a read.
    r.tokens.token_revoked();
    if (!done) co_return answer_error(c, done.error());
    const auto* revoked = std::get_if<token>(&*done);
    if (revoked == nullptr) {
        co_return answer_problem(c, problems::token_not_found, "No token here has this id.");
    }
    co_return answer_message(c, 200, wire::to_message(*revoked));
}

}  // namespace

// ---- an account's own ----

awaitable<http_response> list_tokens(rooms& r, call& c) {
    wire::faults wrong;
    const page p = read_page(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    co_return co_await list(r, c, c.account(), p);
}

awaitable<http_response> add_token(rooms& r, call& c) {
    wire::faults wrong;
    wanted_token wanted = read_token(c, token_scope::write, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    auto question = [id = c.account()](read_tx& tx) { return tx.find_account(id); };
    const auto owner = co_await r.engine.ask(c.payer(), std::move(question));
    if (!owner) co_return answer_error(c, owner.error());
    if (!*owner) co_return answer_no_account(c);
    std::optional<std::string> name = (*owner)->name;
    co_return co_await create(r, c, std::move(name), std::move(wanted));
}

awaitable<http_response> revoke_own_token(rooms& r, call& c) {
    return revoke(r, c, c.account());
}

// ---- operators ----

awaitable<http_response> list_tokens_of(rooms& r, call& c) {
    wire::faults wrong;
    const page p = read_page(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    using rows = std::optional<std::vector<token>>;
    auto question = [name = percent_decoded(c.captured[0])](read_tx& tx) -> rows {
        const auto owner = tx.find_account(name);
        return owner ? rows(tx.tokens_of(owner->id)) : rows();
    };
    auto found = co_await r.engine.ask({c.payer(), many_rows}, std::move(question));
    if (!found) co_return answer_error(c, found.error());
    if (!*found) co_return answer_no_account(c);
    co_return answer_tokens(c, p, std::move(**found));
}

awaitable<http_response> add_token_to(rooms& r, call& c) {
    wire::faults wrong;
    wanted_token wanted = read_token(c, token_scope::write, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    std::optional<std::string> name = percent_decoded(c.captured[0]);
    co_return co_await create(r, c, std::move(name), std::move(wanted));
}

awaitable<http_response> list_operator_tokens(rooms& r, call& c) {
    wire::faults wrong;
    const page p = read_page(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    co_return co_await list(r, c, std::nullopt, p);
}

awaitable<http_response> add_operator_token(rooms& r, call& c) {
    wire::faults wrong;
    wanted_token wanted = read_token(c, token_scope::admin, wrong);
    if (wanted.scope != token_scope::admin) {
        add_fault(wrong, {"scope", "invalid", "An operator's token has the scope admin."});
    }
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    std::optional<std::string> nobody;
    co_return co_await create(r, c, std::move(nobody), std::move(wanted));
}

awaitable<http_response> revoke_any_token(rooms& r, call& c) {
    return revoke(r, c, std::nullopt);
}

}  // namespace callsign::api
