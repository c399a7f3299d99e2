// Changes of tasks: PATCH, and DELETE, which sets a status or purges. Which tasks are meant is read
// first, in one question; whether they still are as the client saw them, the rule decides.

#include "named_tasks.hpp"

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

// ---- which task, and which others ----

struct meant {
    rules::resolved what;
    depended_on depends;
};

meant find_meant(read_tx& tx, account_id account, const task_ref& ref,
                 const std::optional<std::vector<task_ref>>& depends) {
    meant found{rules::resolve(tx, account, ref), {}};
    if (depends && std::holds_alternative<task>(found.what)) {
        found.depends = resolve_depends(tx, account, *depends);
    }
    return found;
}

// ---- what is to change ----

// nullopt: `found` says why.
std::optional<wire::decoded_edit> read_edit(const rooms& r, const call& c, v1::EditTask& message,
                                            wire::faults& found) {
    if (!read_body(c, message, found)) return std::nullopt;
    wire::faults wrong;
    auto decoded = wire::to_domain(message, wrong, r.sync.key_attribute);
    for (wire::field_fault& fault : wrong) add_fault(found, std::move(fault));
    return found.empty() ? std::move(decoded) : std::nullopt;
}

std::optional<bool> read_purge(const call& c, wire::faults& found) {
    const query asked(c.request.query(), {"purge"}, found);
    const std::string_view text = asked.get("purge");
    if (text.empty() || text == "false") return false;
    if (text == "true") return true;
    found.push_back({"purge", "invalid", "It is true or false."});
    return std::nullopt;
}

// ---- answering ----

http_response answer_changed(const rooms& r, const call& c, const task& t) {
    auto response = answer_message(c, 200, wire::to_message(t, r.sync.key_attribute));
    response.headers.emplace_back("ETag", etag_of(t));
    response.headers.emplace_back("Vary", "Accept");
    return response;
}

http_response answer_edit(const rooms& r, const call& c, const edit_task::answer& what) {
    return std::visit(overloaded{
                          [&](const edit_task::edited& e) {
                              if (!e.now.purged) return answer_changed(r, c, e.now);
                              http_response gone;
                              gone.status = 204;
                              return gone;
                          },
                          // It was there when the request came: tasks go by being purged.
                          [&](edit_task::no_such_task) { return answer_deleted(c); },
                          [&](edit_task::changed_since) {
                              return answer_problem(
                                  c, problems::precondition_failed,
                                  "Read it again: its ETag is not among those of If-Match.");
                          },
                          [&](const edit_task::not_valid& wrong) {
                              wire::faults found;
                              wire::add_faults(found, wrong.faults, r.sync.key_attribute);
                              return answer_faults(c, found);
                          },
                          [&](const task_too_large&) {
                              return answer_problem(c, problems::task_too_large,
                                                    "It would have more than 4 MiB of attributes.");
                          },
                      },
                      what);
}

awaitable<http_response> submit_edit(rooms& r, call& c, edit_task command) {
    const auto done = co_await r.engine.submit(std::move(command));
    if (!done) co_return answer_error(c, done.error());
    co_return answer_edit(r, c, *done);
}

}  // namespace

awaitable<http_response> change_task(rooms& r, call& c) {
    if (c.who.mode == account_mode::opaque) co_return answer_unseen(c);
    const auto ref = parse_task_ref(percent_decoded(c.captured[0]));
    if (!ref) co_return answer_malformed_ref(c);
    wire::faults wrong;
    v1::EditTask message;
    auto wanted = read_edit(r, c, message, wrong);
    if (!wanted) co_return answer_faults(c, wrong);
    auto question = [&, account = c.account()](read_tx& tx) {
        return find_meant(tx, account, *ref, wanted->depends);
    };
    const auto found = co_await r.engine.ask(c.payer(), std::move(question));
    if (!found) co_return answer_error(c, found.error());
    const auto* named = std::get_if<task>(&found->what);
    if (named == nullptr) co_return answer_unresolved(c, found->what);
    wrong = faults_of_depends(message.depends().values(), found->depends, named->uuid);
    if (!wrong.empty()) co_return answer_faults(c, wrong);

    edit_task command{c.account(), named->uuid, std::move(wanted->changes),
                      std::move(wanted->replaced)};
    for (const auto& [named_so, id] : found->depends.tasks) {
        command.changes.emplace_back("dep_" + to_string(id), "");
    }
    command.if_seq = read_if_match(c.request);
    command.bytes = c.request.body().size();
    co_return co_await submit_edit(r, c, std::move(command));
}

awaitable<http_response> delete_task(rooms& r, call& c) {
    if (c.who.mode == account_mode::opaque) co_return answer_unseen(c);
    const auto ref = parse_task_ref(percent_decoded(c.captured[0]));
    if (!ref) co_return answer_malformed_ref(c);
    wire::faults wrong;
    const auto purge = read_purge(c, wrong);
    if (!wrong.empty()) co_return answer_faults(c, wrong);
    auto question = [&ref, account = c.account()](read_tx& tx) {
        return rules::resolve(tx, account, *ref);
    };
    const auto found = co_await r.engine.ask(c.payer(), std::move(question));
    if (!found) co_return answer_error(c, found.error());
    const auto* named = std::get_if<task>(&*found);
    if (named == nullptr) co_return answer_unresolved(c, *found);

    edit_task command{c.account(), named->uuid};
    command.purge = *purge;
    if (!command.purge) command.changes.emplace_back("status", "deleted");
    command.if_seq = read_if_match(c.request);
    co_return co_await submit_edit(r, c, std::move(command));
}

}  // namespace callsign::api
