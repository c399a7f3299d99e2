// /v1/admin/client/*: imports chains from another server, version by version. The client ID is in
// X-Client-Id here too, not in the path, because it is the client's credential.

#include "handlers.hpp"
#include "shared/rejections.hpp"

#include <callsign/base/text.hpp>

namespace callsign::api {
namespace {

std::optional<std::int64_t> parse_versions_since(std::string_view text) {
    const auto value = parse_integer(text);
    return value && *value >= 0 && *value <= versions_since_max ? value : std::nullopt;
}

struct import_head {
    uuid client{};
    uuid version{};
};

import_head read_import_head(const request_context& c, bool has_version,
                             wire::field_errors& found) {
    import_head head;
    const auto field = c.request.find("X-Client-Id");
    const auto client = field == c.request.end()
                            ? std::nullopt
                            : parse_uuid({field->value().data(), field->value().size()});
    if (!client) {
        found.push_back({"X-Client-Id", "malformed", "Must be the client's UUID."});
    }
    head.client = client.value_or(uuid{});
    if (!has_version) return head;
    const auto version = parse_uuid(c.captured[0]);
    if (!version) found.push_back({"version", "malformed", "Must be the version's UUID."});
    head.version = version.value_or(uuid{});
    if (c.request.body().empty()) {
        found.push_back(
            {"", "required", "The body must not be empty: send the client's encrypted data."});
    }
    return head;
}

http_response answer_result(const request_context& c, bool imported) {
    v1::ImportResult message;
    message.set_imported(imported);
    return answer_message(c, 200, message);
}

}  // namespace

awaitable<http_response> put_client(admin_context& a, request_context& c) {
    wire::field_errors wrong;
    const import_head head = read_import_head(c, false, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    register_client command{head.client};
    actor by = c.by();
    const auto done = co_await a.engine.submit(command, std::move(by));
    if (!done) co_return answer_error(c, done.error());
    v1::Client message;
    message.set_account_id(std::to_string(done->account.id.value));
    message.set_account(done->account.name);
    message.set_seq(done->head.seq);
    message.set_mode(std::string(to_string(done->account.mode)));
    if (done->head.seq > 0) message.set_last_version(to_string(done->head.version));
    co_return answer_message(c, 200, message);
}

awaitable<http_response> post_client_version(admin_context& a, request_context& c) {
    wire::field_errors wrong;
    const wire::parameters asked(c.request.query(), {"parent"}, wrong);
    const import_head head = read_import_head(c, true, wrong);
    const auto parent = parse_uuid(asked.get("parent"));
    if (!parent) wrong.push_back({"parent", "malformed", "Must be the parent version's UUID."});
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    import_sealed_version command{head.client, *parent, head.version, std::move(c.request.body())};
    const auto done = co_await a.engine.submit(std::move(command));
    if (!done) co_return answer_error(c, done.error());
    using wanted = import_sealed_version;
    const overloaded result{[&](wanted::imported) { return answer_result(c, true); },
                            [&](wanted::there_already) { return answer_result(c, false); }};
    co_return answer_outcome(c, *done, result, [](wanted::differs) {
        return rejected{problems::history_differs,
                        "The version does not fit this server's history: the parent has another "
                        "child, or is not the last version."};
    });
}

awaitable<http_response> post_client_snapshot(admin_context& a, request_context& c) {
    wire::field_errors wrong;
    const wire::parameters asked(c.request.query(), {"takenAt", "versionsSince"}, wrong);
    const import_head head = read_import_head(c, true, wrong);
    const auto taken_at = parse_rfc3339(asked.get("takenAt"));
    if (!taken_at) wrong.push_back({"takenAt", "malformed", "Must be an RFC 3339 time."});
    const auto since = parse_versions_since(asked.get("versionsSince"));
    if (!since) {
        wrong.push_back({"versionsSince", "malformed", "Must be 0 to 999999999999."});
    }
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    import_sealed_snapshot command{head.client, head.version, *taken_at, *since,
                                   std::move(c.request.body())};
    const auto done = co_await a.engine.submit(std::move(command));
    if (!done) co_return answer_error(c, done.error());
    using wanted = import_sealed_snapshot;
    const overloaded result{[&](wanted::imported) { return answer_result(c, true); },
                            [&](wanted::there_already) { return answer_result(c, false); }};
    co_return answer_outcome(c, *done, result, [](wanted::unknown_version) {
        return rejected{problems::history_differs,
                        "The server does not have the snapshot's version."};
    });
}

}  // namespace callsign::api
