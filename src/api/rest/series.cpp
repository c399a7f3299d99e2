// An account's series.

#include "handlers.hpp"
#include "shared/rejections.hpp"

#include <callsign/base/text.hpp>
#include <callsign/domain/query.hpp>

#include <algorithm>

namespace callsign::api {
namespace {

constexpr std::size_t project_bytes_max = 255;

void check_project(const std::string& project, wire::field_errors& found) {
    const bool control = std::any_of(project.begin(), project.end(),
                                     [](unsigned char b) { return b < 0x20 || b == 0x7F; });
    if (project.size() > project_bytes_max) {
        add_error(found, {"project", "too-long", "Must have at most 255 bytes."});
    } else if (control) {
        add_error(found, {"project", "malformed", "Must not have control characters."});
    }
}

reset_policy read_reset(const std::string& text, wire::field_errors& found) {
    const auto policy = parse_reset_policy(text);
    if (!policy) {
        add_error(found, {"reset", "invalid", "Must be never, daily, monthly or yearly."});
    }
    return policy.value_or(reset_policy::never);
}

void check_time_zone(const std::string& name, wire::field_errors& found) {
    if (is_time_zone(name)) return;
    add_error(found,
              {"timeZone", "invalid",
               "Must be a time zone in the server's database, such as UTC or Europe/Berlin."});
}

void check_next(std::int64_t next, wire::field_errors& found) {
    if (next >= 1 && next <= number_max) return;
    add_error(found, {"next", "invalid", "Must be 1 to 999999999999."});
}

create_series read_series(const request_context& c, wire::field_errors& found) {
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

edit_series read_series_edit(const request_context& c, wire::field_errors& found) {
    v1::EditSeries message;
    if (!read_body(c, message, found)) return {};
    edit_series wanted{.account = c.owner(), .named = c.named()};
    for (const std::string& name : message.clear()) {
        if (name == "project" && !message.has_project()) {
            wanted.project.emplace();
        } else {
            add_error(found, {name, "invalid", "Only a project can be removed."});
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

}  // namespace

awaitable<http_response> get_series(rest_context& r, request_context& c) {
    wire::field_errors wrong;
    list_series question{c.owner(), read_page(c, wrong), r.clock.now()};
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    const auto found = co_await r.engine.ask(std::move(question));
    if (!found) co_return answer_error(c, found.error());
    if (!*found) co_return answer_no_account(c);
    v1::SeriesList message;
    message.set_next_page_token(next_page_token(**found));
    for (const series& s : (*found)->rows) *message.add_series() = wire::to_message(s);
    co_return answer_message(c, 200, message);
}

awaitable<http_response> post_series(rest_context& r, request_context& c) {
    wire::field_errors wrong;
    create_series command = read_series(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    command.once = c.once;
    co_return co_await carry_out(r.engine, c, std::move(command), [&c](const series& s) {
        return answer_message(c, 201, wire::to_message(s));
    });
}

awaitable<http_response> patch_series(rest_context& r, request_context& c) {
    wire::field_errors wrong;
    edit_series command = read_series_edit(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    command.once = c.once;
    command.named = upper(command.named);
    co_return co_await carry_out(r.engine, c, std::move(command), [&c](const series& s) {
        return answer_message(c, 200, wire::to_message(s));
    });
}

}  // namespace callsign::api
