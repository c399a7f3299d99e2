// An account's series.

#include "handlers.hpp"
#include "shared/answers.hpp"

#include <callsign/base/text.hpp>
#include <callsign/domain/query.hpp>

#include <algorithm>

namespace callsign::api {
namespace {

constexpr std::size_t project_bytes_max = 255;

// ---- fields ----

void check_project(const std::string& project, wire::faults& found) {
    const bool control = std::any_of(project.begin(), project.end(),
                                     [](unsigned char b) { return b < 0x20 || b == 0x7F; });
    if (project.size() > project_bytes_max) {
        add_fault(found, {"project", "too-long", "Must have at most 255 bytes."});
    } else if (control) {
        add_fault(found, {"project", "malformed", "Must not have control characters."});
    }
}

reset_policy read_reset(const std::string& text, wire::faults& found) {
    const auto policy = parse_reset_policy(text);
    if (!policy) {
        add_fault(found, {"reset", "invalid", "Must be never, daily, monthly or yearly."});
    }
    return policy.value_or(reset_policy::never);
}

void check_time_zone(const std::string& name, wire::faults& found) {
    if (is_time_zone(name)) return;
    add_fault(found,
              {"timeZone", "invalid",
               "Must be a time zone in the server's database, such as UTC or Europe/Berlin."});
}

void check_next(std::int64_t next, wire::faults& found) {
    if (next >= 1 && next <= number_max) return;
    add_fault(found, {"next", "invalid", "Must be 1 to 999999999999."});
}

create_series read_series(const request_context& c, wire::faults& found) {
    v1::CreateSeries message;
    if (!read_body(c, message, found)) return {};
    check_prefix(message.prefix(), "A series", found);
    check_project(message.project(), found);
    create_series made{.account = c.owner(),
                       .prefix = message.prefix(),
                       .project = message.project(),
                       .allows_gaps = message.allows_gaps()};
    if (!message.reset().empty()) made.reset = read_reset(message.reset(), found);
    if (!message.time_zone().empty()) {
        check_time_zone(message.time_zone(), found);
        made.time_zone = message.time_zone();
    }
    if (message.next() != 0) {
        check_next(message.next(), found);
        made.next = message.next();
    }
    return made;
}

edit_series read_series_edit(const request_context& c, wire::faults& found) {
    v1::EditSeries message;
    if (!read_body(c, message, found)) return {};
    edit_series wanted{.account = c.owner(), .named = c.named()};
    for (const std::string& name : message.clear()) {
        if (name == "project" && !message.has_project()) {
            wanted.project.emplace();
        } else {
            add_fault(found, {name, "invalid", "Only a project can be removed."});
        }
    }
    if (message.has_prefix()) {
        check_prefix(message.prefix(), "A series", found);
        wanted.prefix = message.prefix();
    }
    if (message.has_project()) {
        check_project(message.project(), found);
        wanted.project = message.project();
    }
    if (message.has_reset()) wanted.reset = read_reset(message.reset(), found);
    if (message.has_time_zone()) {
        check_time_zone(message.time_zone(), found);
        wanted.time_zone = message.time_zone();
    }
    if (message.has_next()) {
        check_next(message.next(), found);
        wanted.next = message.next();
    }
    if (message.has_archived()) wanted.archived = message.archived();
    if (message.has_allows_gaps()) wanted.allows_gaps = message.allows_gaps();
    return wanted;
}

// ---- answers ----

http_response answer_prefix_taken(const request_context& c) {
    return answer_problem(c, problems::prefix_taken,
                          "Another series of the account has this prefix, or had it before.");
}

http_response answer_project_taken(const request_context& c) {
    return answer_problem(c, problems::project_taken,
                          "Another series of the account has this project.");
}

http_response answer_in_use(const request_context& c, std::string_view why) {
    return answer_problem(c, problems::series_in_use, why);
}

}  // namespace

awaitable<http_response> list_series(rest_context& r, request_context& c) {
    wire::faults wrong;
    callsign::list_series question{c.owner(), read_page(c, wrong), r.clock.now()};
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
    actor by = c.by();
    const auto made = co_await r.engine.submit(std::move(command), std::move(by));
    if (!made) co_return answer_error(c, made.error());
    co_return std::visit(
        overloaded{
            [&](const series& s) { return answer_message(c, 201, wire::to_message(s)); },
            [&](prefix_taken) { return answer_prefix_taken(c); },
            [&](project_taken) { return answer_project_taken(c); },
            [&](create_series::too_many_series) {
                return answer_problem(c, problems::too_many_series,
                                      "An account has at most 1000 series.");
            },
            [&](no_such_account) { return answer_no_account(c); },
        },
        *made);
}

awaitable<http_response> change_series(rest_context& r, request_context& c) {
    wire::faults wrong;
    edit_series command = read_series_edit(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    command.named = upper(command.named);
    actor by = c.by();
    const auto done = co_await r.engine.submit(std::move(command), std::move(by));
    if (!done) co_return answer_error(c, done.error());
    co_return std::visit(
        overloaded{
            [&](const series& s) { return answer_message(c, 200, wire::to_message(s)); },
            [&](no_such_series) {
                return answer_problem(c, problems::unknown_prefix,
                                      "GET /v1/series lists the series.");
            },
            [&](prefix_taken) { return answer_prefix_taken(c); },
            [&](project_taken) { return answer_project_taken(c); },
            [&](edit_series::reset_is_settled) {
                return answer_in_use(c,
                                     "The series has assigned numbers, so its reset cannot change. "
                                     "Create another series.");
            },
            [&](edit_series::default_stays) {
                return answer_in_use(c, "The account's default series cannot be archived.");
            },
            [&](const edit_series::next_too_low& wrong_next) {
                return answer_in_use(c, "next must be at least " +
                                            std::to_string(wrong_next.least) +
                                            ": lower numbers are already assigned.");
            },
            [&](edit_series::promises_no_gaps) {
                return answer_in_use(c, "next would skip numbers. Set allowsGaps to permit gaps.");
            },
            [&](edit_series::too_many_prefixes) {
                return answer_problem(
                    c, problems::too_many_prefixes,
                    "Keys with former prefixes stay valid. Use a former prefix of the series, or "
                    "ask an operator to raise accounts.former_prefixes_max.");
            },
            [&](no_such_account) { return answer_no_account(c); },
        },
        *done);
}

}  // namespace callsign::api
