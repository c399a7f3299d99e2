// Changes tasks: PATCH, DELETE (which sets a status or purges), and actions.

#include "handlers.hpp"
#include "shared/etags.hpp"
#include "shared/task_answers.hpp"

#include <boost/beast/http/field.hpp>

namespace callsign::api {
namespace {

using boost::beast::http::field;

// ---- If-Match ----

// A repeated field is one list (RFC 9110 section 5.3).
std::optional<std::vector<task_tag>> condition_of(const request_context& c,
                                                  wire::field_errors& found) {
    if (c.request.count(field::if_match) == 0) return std::nullopt;
    return read_if_match(list_of(c.request, field::if_match), "If-Match", found);
}

// ---- changes ----

// Returns nullopt if `found` has errors.
std::optional<wire::decoded_edit> read_edit(const rest_context& r, const request_context& c,
                                            v1::EditTask& message, wire::field_errors& found) {
    if (!read_body(c, message, found)) return std::nullopt;
    auto decoded = wire::to_domain(message, found, r.key_attribute);
    return found.empty() ? std::move(decoded) : std::nullopt;
}

std::optional<bool> read_purge(const request_context& c, wire::field_errors& found) {
    const wire::parameters asked(c.request.query(), {"purge"}, found);
    const std::string_view text = asked.get("purge");
    if (text.empty() || text == "false") return false;
    if (text == "true") return true;
    found.push_back({"purge", "invalid", "Must be true or false."});
    return std::nullopt;
}

// ---- responses ----

awaitable<http_response> answer_edit(rest_context& r, const request_context& c,
                                     const edit_task::answer& answer, const sent_refs& sent) {
    const auto why = rejection_of_task(answer, sent, r.key_attribute);
    if (why) co_return answer_rejected(c, *why);
    const auto* const again = std::get_if<replayed<edit_task::edited>>(&answer);
    const task& now = again ? again->first.now : std::get<edit_task::edited>(answer).now;
    if (now.purged) {
        http_response gone;
        gone.status = 204;
        co_return again ? as_replayed(std::move(gone)) : std::move(gone);
    }
    auto make = [&] {
        auto response = answer_task(c, now, r.key_attribute);
        return again ? as_replayed(std::move(response)) : response;
    };
    co_return co_await answer_written(r.engine, c, callsign::work_of(now.attributes),
                                      std::move(make));
}

// Returns the edit without its changes, or why there is none. Adds errors in If-Match to `found`.
std::variant<edit_task, http_response> begin_edit(const request_context& c,
                                                  wire::field_errors& found) {
    if (c.who.mode == account_mode::opaque) return answer_unseen(c);
    const auto ref = parse_task_ref(wire::percent_decoded(c.captured[0]));
    if (!ref) return answer_malformed_ref(c);
    return edit_task{.account = c.account(),
                     .task = *ref,
                     .if_match = condition_of(c, found),
                     .author = c.who.token,
                     .once = c.once,
                     .bytes = c.request.body().size()};
}

awaitable<http_response> carry_out(rest_context& r, const request_context& c, edit_task command,
                                   const sent_refs& sent = {}) {
    const auto done = co_await r.engine.edit(std::move(command));
    if (!done) co_return answer_error(c, done.error());
    co_return co_await answer_edit(r, c, *done, sent);
}

}  // namespace

awaitable<http_response> patch_task(rest_context& r, request_context& c) {
    wire::field_errors wrong;
    auto begun = begin_edit(c, wrong);
    if (auto* const rejected = std::get_if<http_response>(&begun)) co_return std::move(*rejected);
    v1::EditTask message;
    auto wanted = read_edit(r, c, message, wrong);
    if (!wanted) co_return answer_faults(c, wrong);
    auto& command = std::get<edit_task>(begun);
    command.changes = std::move(wanted->changes);
    command.replaced = std::move(wanted->replaced);
    command.depends = std::move(wanted->depends);
    co_return co_await carry_out(r, c, std::move(command), message.depends().values());
}

awaitable<http_response> delete_task(rest_context& r, request_context& c) {
    wire::field_errors wrong;
    auto begun = begin_edit(c, wrong);
    if (auto* const rejected = std::get_if<http_response>(&begun)) co_return std::move(*rejected);
    const auto purge = read_purge(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    auto& command = std::get<edit_task>(begun);
    command.purge = *purge;
    if (!command.purge) command.changes.emplace_back("status", "deleted");
    co_return co_await carry_out(r, c, std::move(command));
}

// ---- actions ----

namespace {

awaitable<http_response> act(rest_context& r, request_context& c, task_action action) {
    wire::field_errors wrong;
    auto begun = begin_edit(c, wrong);
    if (auto* const rejected = std::get_if<http_response>(&begun)) co_return std::move(*rejected);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    auto& command = std::get<edit_task>(begun);
    command.action = std::move(action);
    co_return co_await carry_out(r, c, std::move(command));
}

awaitable<http_response> act_on_annotations(rest_context& r, request_context& c,
                                            task_action::kind verb) {
    v1::Annotation message;
    wire::field_errors found;
    if (!read_body(c, message, found)) co_return answer_faults(c, std::move(found));
    auto action = wire::to_domain(message, verb, found);
    if (!found.empty()) co_return answer_faults(c, std::move(found));
    co_return co_await act(r, c, std::move(*action));
}

}  // namespace

awaitable<http_response> complete_task(rest_context& r, request_context& c) {
    return act(r, c, {task_action::kind::complete});
}
awaitable<http_response> reopen_task(rest_context& r, request_context& c) {
    return act(r, c, {task_action::kind::reopen});
}
awaitable<http_response> start_task(rest_context& r, request_context& c) {
    return act(r, c, {task_action::kind::start});
}
awaitable<http_response> stop_task(rest_context& r, request_context& c) {
    return act(r, c, {task_action::kind::stop});
}
awaitable<http_response> annotate_task(rest_context& r, request_context& c) {
    return act_on_annotations(r, c, task_action::kind::annotate);
}
awaitable<http_response> denotate_task(rest_context& r, request_context& c) {
    return act_on_annotations(r, c, task_action::kind::denotate);
}

}  // namespace callsign::api
