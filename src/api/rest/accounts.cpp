// An account and its series.

#include "answers.hpp"
#include "handlers.hpp"

#include <callsign/domain/query.hpp>

#include <algorithm>

namespace callsign::api {
namespace {

constexpr std::size_t project_bytes_max = 255;

create_series read_series(const request_context& c, wire::faults& found) {
    v1::CreateSeries message;
    if (!read_body(c, message, found)) return {};
    check_prefix(message.prefix(), "A series", found);
    if (!message.reset().empty() && message.reset() != "never") {
        add_fault(found, {"reset", "invalid", "Numbers are reset never."});
    }
    if (!message.time_zone().empty() && message.time_zone() != "UTC") {
        add_fault(found, {"timeZone", "invalid", "The time zone is UTC."});
    }
    const std::string& project = message.project();
    const bool control = std::any_of(project.begin(), project.end(),
                                     [](unsigned char b) { return b < 0x20 || b == 0x7F; });
    if (project.size() > project_bytes_max) {
        add_fault(found, {"project", "too-long", "A project has at most 255 bytes."});
    } else if (control) {
        add_fault(found, {"project", "malformed", "A project has no control characters."});
    }
    return {c.owner(), message.prefix(), project};
}

}  // namespace

awaitable<http_response> show_account(rest_context& r, request_context& c) {
    find_account question{c.account()};
    const auto found = co_await r.engine.ask(std::move(question));
    if (!found) co_return answer_error(c, found.error());
    if (!*found) co_return answer_no_account(c);
    co_return answer_message(c, 200, wire::to_message(**found));
}

awaitable<http_response> list_series(rest_context& r, request_context& c) {
    wire::faults wrong;
    callsign::list_series question{c.owner(), read_page(c, wrong)};
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    const auto found = co_await r.engine.ask(std::move(question));
    if (!found) co_return answer_error(c, found.error());
    if (!*found) co_return answer_no_account(c);
    v1::SeriesList message;
    message.set_next_page_token(next_page_token(**found));
    for (const series& s : (*found)->rows) *message.add_series() = wire::to_message(s);
    co_return answer_message(c, 200, message);
}

awaitable<http_response> add_series(rest_context& r, request_context& c) {
    wire::faults wrong;
    create_series command = read_series(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    const auto made = co_await r.engine.submit(std::move(command));
    if (!made) co_return answer_error(c, made.error());
    co_return std::visit(
        overloaded{
            [&](const series& s) { return answer_message(c, 201, wire::to_message(s)); },
            [&](create_series::prefix_taken) {
                return answer_problem(c, problems::prefix_taken,
                                      "Another series of the account has it, or had it once.");
            },
            [&](create_series::project_taken) {
                return answer_problem(c, problems::project_taken,
                                      "A project's tasks take their numbers in one series.");
            },
            [&](no_such_account) { return answer_no_account(c); },
        },
        *made);
}

}  // namespace callsign::api
