#include "handlers.hpp"
#include "shared/answers.hpp"

namespace callsign::api {

awaitable<http_response> get_slot(rest_context& r, request_context& c) {
    std::string key = wire::percent_decoded(c.captured[0]);
    if (!is_valid_idempotency_key(key)) {
        co_return answer_problem(
            c, problems::key_malformed,
            "The key must be 1 to 255 visible ASCII characters, percent-encoded.");
    }
    find_slot question{c.account(), std::move(key)};
    const auto found = co_await r.engine.ask(std::move(question));
    if (!found) co_return answer_error(c, found.error());
    if (!*found) {
        co_return answer_problem(
            c, problems::slot_not_found,
            "No creation was requested with this key, or its retention has expired.");
    }
    co_return answer_message(c, 200, wire::to_message((*found)->slot, (*found)->receipt));
}

}  // namespace callsign::api
