// GET /v1/account.

#include "handlers.hpp"
#include "shared/answers.hpp"

#include <callsign/domain/query.hpp>

namespace callsign::api {

awaitable<http_response> get_account(rest_context& r, request_context& c) {
    find_account question{c.account()};
    const auto found = co_await r.engine.ask(std::move(question));
    if (!found) co_return answer_error(c, found.error());
    if (!*found) co_return answer_no_account(c);
    co_return answer_message(c, 200, wire::to_message(**found));
}

}  // namespace callsign::api
