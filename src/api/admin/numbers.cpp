// POST /v1/admin/accounts/{name}/numbers: imports tasks with their numbers.

#include "handlers.hpp"
#include "shared/rejections.hpp"

#include <callsign/domain/task_faults.hpp>

namespace callsign::api {
namespace {

std::string row_place(std::size_t row) {
    return "rows[" + std::to_string(row) + "]";
}

import_numbers::row read_row(const v1::NumberedTask& message, const std::string& where,
                             wire::field_errors& found) {
    import_numbers::row row{.prefix = message.prefix(),
                            .number = message.number(),
                            .title = message.title(),
                            .after = message.after()};
    const auto wrong = [&](const char* field, std::string_view code, std::string_view detail) {
        add_error(found, {where + "." + field, std::string(code), std::string(detail)});
    };
    if (!is_valid_prefix(row.prefix)) {
        wrong("prefix", "malformed",
              "Must be a capital letter and up to 9 more of A-Z, 0-9 and _.");
    }
    if (row.number < 1 || row.number > number_max) {
        wrong("number", "invalid", "Must be 1 to 999999999999.");
    }
    const auto id = parse_uuid(message.uuid());
    if (!id || id->is_nil()) {
        wrong("uuid", "malformed", "Must be a UUID, and not the nil UUID.");
    } else {
        row.uuid = *id;
    }
    check_number_before(row.after, where + ".after", found);
    if (const auto title = fault_of_text(row.title)) wrong("title", title->code, title->detail);
    if (!message.has_created_at()) {
        wrong("createdAt", "required", "Must be given.");
    } else {
        row.created_at = wire::to_time_point(message.created_at());
        if (row.created_at < time_point{std::chrono::seconds{instant_seconds_min}}) {
            wrong("createdAt", "invalid", "Must be after 1979.");
        }
    }
    return row;
}

import_numbers read_rows(const request_context& c, wire::field_errors& found) {
    import_numbers command{.account = c.owner(), .bytes = c.request.body().size()};
    command.author = c.who.token;
    v1::ImportNumbers message;
    if (!read_body(c, message, found)) return command;
    command.check_only = message.check_only();
    if (static_cast<std::size_t>(message.rows_size()) > import_numbers::rows_max) {
        add_error(found, {"rows", "too-many", "Must have at most 250 entries."});
        return command;
    }
    for (int i = 0; i < message.rows_size(); ++i) {
        command.rows.push_back(
            read_row(message.rows(i), row_place(static_cast<std::size_t>(i)), found));
    }
    return command;
}

wire::field_error number_error(const import_numbers::fault& fault) {
    using kind = import_numbers::fault_kind;
    const std::string& key = fault.key;
    const auto with = [&](const char* code, std::string detail) {
        return wire::field_error{row_place(fault.row), code, std::move(detail)};
    };
    switch (fault.kind) {
    case kind::unknown_prefix: return with("unknown-prefix", "Series " + key + " does not exist.");
    case kind::archived: return with("series-archived", "Series " + key + " is archived.");
    case kind::number_taken: return with("duplicate", "The number is used by " + key + ".");
    case kind::uuid_taken:
        return with("duplicate", "The task already exists, with key " + key + ".");
    case kind::gap:
        return with("gap", key + " is missing before it, and the series does not allow gaps.");
    case kind::period_passed:
        return with("period-passed",
                    key + " is of an earlier period than the last number of the series.");
    case kind::in_the_future: return with("invalid", "Must not be in the future.");
    }
    return with("invalid", "The row cannot be imported.");
}

}  // namespace

awaitable<http_response> post_numbers(admin_context& a, request_context& c) {
    wire::field_errors wrong;
    import_numbers command = read_rows(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    co_return co_await carry_out(
        a.engine, c, std::move(command),
        [&c](const import_numbers::done& counts) {
            v1::ImportNumbersResult message;
            message.set_imported(counts.imported);
            message.set_there_already(counts.there_already);
            return answer_message(c, 200, message);
        },
        [](const import_numbers::rejected& no) {
            wire::field_errors faults;
            for (const auto& fault : no.faults) faults.push_back(number_error(fault));
            return rejected{problems::numbers_rejected,
                            "No row was imported. The errors are listed by row.",
                            std::move(faults)};
        },
        [](account_is_remote) { return import_there(); },
        [](account_is_opaque) {
            return rejected{problems::account_opaque,
                            "The server cannot encrypt tasks for the account's clients."};
        });
}

}  // namespace callsign::api
