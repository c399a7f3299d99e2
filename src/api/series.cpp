#include "handlers.hpp"

#include <algorithm>

namespace callsign::api {
namespace {

constexpr std::size_t project_bytes_max = 255;

struct wanted_series {
    std::string prefix;
    std::string project;
};

wanted_series read_series(const call& c, wire::faults& found) {
    v1::CreateSeries message;
    if (!read_body(c, message, found)) return {};
    if (message.prefix().empty()) {
        add_fault(found, {"prefix", "required", "A series has a prefix."});
    } else if (!is_valid_prefix(message.prefix())) {
        add_fault(found, {"prefix", "malformed",
                          "A prefix is a capital letter and up to 9 more of A-Z, 0-9 and _."});
    }
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
    return {message.prefix(), project};
}

http_response answer_series(const call& c, const page& p, std::vector<series> rows) {
    v1::SeriesList message;
    message.set_next_page_token(cut_to_page(rows, p));
    for (const series& s : rows) *message.add_series() = wire::to_message(s);
    return answer_message(c, 200, message);
}

awaitable<http_response> create(rooms& r, call& c, account_id account, wanted_series wanted) {
    create_series command{account, std::move(wanted.prefix), std::move(wanted.project)};
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
        },
        *made);
}

}  // namespace

awaitable<http_response> show_account(rooms& r, call& c) {
    auto question = [id = c.account()](read_tx& tx) { return tx.find_account(id); };
    const auto found = co_await r.engine.ask(c.payer(), std::move(question));
    if (!found) co_return answer_error(c, found.error());
    if (!*found) co_return answer_no_account(c);
    co_return answer_message(c, 200, wire::to_message(**found));
}

awaitable<http_response> list_series(rooms& r, call& c) {
    wire::faults wrong;
    const page p = read_page(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    auto question = [id = c.account()](read_tx& tx) { return tx.series_of(id); };
    auto found = co_await r.engine.ask(c.payer(), std::move(question));
    if (!found) co_return answer_error(c, found.error());
    co_return answer_series(c, p, std::move(*found));
}

awaitable<http_response> add_series(rooms& r, call& c) {
    wire::faults wrong;
    wanted_series wanted = read_series(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    co_return co_await create(r, c, c.account(), std::move(wanted));
}

awaitable<http_response> list_series_of(rooms& r, call& c) {
    wire::faults wrong;
    const page p = read_page(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    using rows = std::optional<std::vector<series>>;
    auto question = [name = percent_decoded(c.captured[0])](read_tx& tx) -> rows {
        const auto owner = tx.find_account(name);
        return owner ? rows(tx.series_of(owner->id)) : rows();
    };
    auto found = co_await r.engine.ask(c.payer(), std::move(question));
    if (!found) co_return answer_error(c, found.error());
    if (!*found) co_return answer_no_account(c);
    co_return answer_series(c, p, std::move(**found));
}

awaitable<http_response> add_series_to(rooms& r, call& c) {
    wire::faults wrong;
    wanted_series wanted = read_series(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    auto question = [name = percent_decoded(c.captured[0])](read_tx& tx) {
        return tx.find_account(name);
    };
    const auto owner = co_await r.engine.ask(c.payer(), std::move(question));
    if (!owner) co_return answer_error(c, owner.error());
    if (!*owner) co_return answer_no_account(c);
    co_return co_await create(r, c, (*owner)->id, std::move(wanted));
}

}  // namespace callsign::api
