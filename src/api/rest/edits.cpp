// Changes of tasks: PATCH, and DELETE, which sets a status or purges.

#include "handlers.hpp"
#include "task_answers.hpp"

#include <callsign/base/text.hpp>

#include <algorithm>
#include <boost/beast/http/field.hpp>
#include <charconv>

namespace callsign::api {
namespace {

using boost::beast::http::field;

// ---- If-Match ----

// "SEQ" as etag_of writes it; nullopt: no task was ever answered with this.
std::optional<std::int64_t> parse_etag(std::string_view text) {
    if (text.size() < 3 || text.front() != '"' || text.back() != '"') return std::nullopt;
    text = text.substr(1, text.size() - 2);
    std::int64_t seq = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seq);
    const bool is_whole = error == std::errc{} && end == text.data() + text.size();
    if (!is_whole || text != std::to_string(seq)) return std::nullopt;
    return seq;
}

// RFC 9110 section 13.1.1: "*" holds for any task that is there, a list for those it has; weak tags
// never match. Ours have no comma in them, so cutting at each one loses none of ours. A field that
// comes twice is one list. nullopt: there is no condition.
std::optional<std::vector<std::int64_t>> read_if_match(const http_request& request) {
    const auto fields = request.equal_range(field::if_match);
    if (fields.first == fields.second) return std::nullopt;
    std::vector<std::int64_t> seqs;
    for (auto f = fields.first; f != fields.second; ++f) {
        std::string_view rest(f->value().data(), f->value().size());
        if (trimmed(rest) == "*") return std::nullopt;
        while (!rest.empty()) {
            const auto comma = std::min(rest.find(','), rest.size());
            if (const auto seq = parse_etag(trimmed(rest.substr(0, comma)))) seqs.push_back(*seq);
            rest.remove_prefix(std::min(comma + 1, rest.size()));
        }
    }
    return seqs;
}

// ---- what is to change ----

// nullopt: `found` says why.
std::optional<wire::decoded_edit> read_edit(const rest_context& r, const request_context& c,
                                            v1::EditTask& message, wire::faults& found) {
    if (!read_body(c, message, found)) return std::nullopt;
    wire::faults wrong;
    auto decoded = wire::to_domain(message, wrong, r.key_attribute);
    for (wire::field_fault& fault : wrong) add_fault(found, std::move(fault));
    return found.empty() ? std::move(decoded) : std::nullopt;
}

std::optional<bool> read_purge(const request_context& c, wire::faults& found) {
    const query asked(c.request.query(), {"purge"}, found);
    const std::string_view text = asked.get("purge");
    if (text.empty() || text == "false") return false;
    if (text == "true") return true;
    found.push_back({"purge", "invalid", "It is true or false."});
    return std::nullopt;
}

// ---- answering ----

// `sent`: the dependencies as the client sent them.
http_response answer_edit(const rest_context& r, const request_context& c,
                          const edit_task::answer& outcome, const sent_refs& sent) {
    return std::visit(overloaded{
                          [&](const edit_task::edited& e) {
                              if (!e.now.purged) return answer_task(c, e.now, r.key_attribute);
                              http_response gone;
                              gone.status = 204;
                              return gone;
                          },
                          [&](ref_fault why) { return answer_unresolved(c, why); },
                          [&](const depends_unmet& unmet) {
                              return answer_faults(c, faults_of_depends(sent, unmet));
                          },
                          [&](edit_task::changed_since) {
                              return answer_problem(
                                  c, problems::precondition_failed,
                                  "Read it again: its ETag is not among those of If-Match.");
                          },
                          [&](const task_not_valid& wrong) {
                              wire::faults found;
                              wire::add_faults(found, wrong.faults, r.key_attribute);
                              return answer_faults(c, found);
                          },
                          [&](const task_too_large&) {
                              return answer_problem(c, problems::task_too_large,
                                                    "It would have more than 4 MiB of attributes.");
                          },
                      },
                      outcome);
}

}  // namespace

awaitable<http_response> change_task(rest_context& r, request_context& c) {
    if (c.who.mode == account_mode::opaque) co_return answer_unseen(c);
    const auto ref = parse_task_ref(percent_decoded(c.captured[0]));
    if (!ref) co_return answer_malformed_ref(c);
    wire::faults wrong;
    v1::EditTask message;
    auto wanted = read_edit(r, c, message, wrong);
    if (!wanted) co_return answer_faults(c, wrong);
    edit_task command{.account = c.account(),
                      .task = *ref,
                      .changes = std::move(wanted->changes),
                      .replaced = std::move(wanted->replaced),
                      .depends = std::move(wanted->depends),
                      .if_seq = read_if_match(c.request),
                      .bytes = c.request.body().size()};
    const auto done = co_await r.engine.submit(std::move(command));
    if (!done) co_return answer_error(c, done.error());
    co_return answer_edit(r, c, *done, message.depends().values());
}

awaitable<http_response> delete_task(rest_context& r, request_context& c) {
    if (c.who.mode == account_mode::opaque) co_return answer_unseen(c);
    const auto ref = parse_task_ref(percent_decoded(c.captured[0]));
    if (!ref) co_return answer_malformed_ref(c);
    wire::faults wrong;
    const auto purge = read_purge(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    edit_task command{.account = c.account(), .task = *ref};
    command.purge = *purge;
    if (!command.purge) command.changes.emplace_back("status", "deleted");
    command.if_seq = read_if_match(c.request);
    const auto done = co_await r.engine.submit(std::move(command));
    if (!done) co_return answer_error(c, done.error());
    co_return answer_edit(r, c, *done, {});
}

}  // namespace callsign::api
