#include "named_tasks.hpp"

#include <boost/beast/http/field.hpp>

namespace callsign::api {
namespace {

using boost::beast::http::field;

// ---- creating ----

using key_or_refusal = std::variant<std::string, http_response>;

key_or_refusal read_key(const call& c) {
    std::vector<std::string_view> values;
    const auto fields = c.request.equal_range("Idempotency-Key");
    for (auto f = fields.first; f != fields.second; ++f) {
        values.emplace_back(f->value().data(), f->value().size());
    }
    auto read = wire::parse_idempotency_key(values);
    if (auto* key = std::get_if<std::string>(&read)) return std::move(*key);
    if (const auto* malformed = std::get_if<wire::key_malformed>(&read)) {
        return answer_problem(c, problems::key_malformed, malformed->detail);
    }
    return answer_problem(c, problems::key_missing,
                          "Send Idempotency-Key: \"KEY\", a new one for each creation and the same "
                          "one for each retry of it.");
}

// nullopt: `found` says why.
std::optional<wire::decoded_create> read_create(const rooms& r, const call& c,
                                                wire::faults& found) {
    // One message for all requests keeps its memory; nothing is awaited while it is in use.
    thread_local v1::CreateTask message;
    message.Clear();
    if (!read_body(c, message, found)) return std::nullopt;
    wire::faults meant;
    auto decoded = wire::to_domain(message, meant, r.sync.key_attribute);
    for (wire::field_fault& fault : meant) add_fault(found, std::move(fault));
    return found.empty() ? std::move(decoded) : std::nullopt;
}

// A decoded creation has its dependencies in an order of its own, so they are read again.
http_response answer_missing(const call& c, const depended_on& found) {
    v1::CreateTask message;
    wire::faults unread;
    read_body(c, message, unread);
    return answer_faults(c, faults_of_depends(message.depends(), found, std::nullopt));
}

// Turns the refs into attributes; a response where that fails.
awaitable<std::optional<http_response>> settle_depends(rooms& r, call& c,
                                                       wire::decoded_create& wanted) {
    auto question = [account = c.account(), &wanted](read_tx& tx) {
        return resolve_depends(tx, account, wanted.depends);
    };
    auto found = co_await r.engine.ask(c.payer(), std::move(question));
    if (!found) co_return answer_error(c, found.error());
    if (!found->missing.empty()) co_return answer_missing(c, *found);
    for (const auto& [ref, id] : found->tasks) wanted.attributes["dep_" + to_string(id)] = "";
    co_return std::nullopt;
}

std::optional<http_response> refuse_age(const rooms& r, const call& c,
                                        const wire::decoded_create& wanted) {
    wire::faults found;
    wire::add_faults(found, faults_of_age(wanted.attributes, r.clock.now()), r.sync.key_attribute);
    if (found.empty()) return std::nullopt;
    return answer_faults(c, found);
}

// The same bytes for every retry: all of it comes from the receipt. What differs is said in a
// header field.
http_response answer_receipt(const call& c, const receipted& given) {
    const receipt& r = given.receipt;
    auto response = answer_message(c, r.created ? 201 : 200, wire::to_message(r));
    response.headers.emplace_back("Location", "/v1/tasks/" + key_of(r));
    if (given.replayed) response.headers.emplace_back("Idempotent-Replayed", "true");
    return response;
}

http_response answer_failed(const call& c, const slot_failed& failed) {
    return answer_problem(c, problems::slot_failed,
                          "Reserved at " + to_rfc3339(failed.reserved_at) + ", failed at " +
                              to_rfc3339(failed.failed_at) + " (" +
                              std::string(to_string(failed.reason)) +
                              "). This is definite: no task was made, none will be, and a new key "
                              "is safe.");
}

http_response answer_create(rooms& r, const call& c, const create_answer& what) {
    return std::visit(
        overloaded{
            [&](const receipted& given) { return answer_receipt(c, given); },
            [&](const slot_failed& failed) {
                ++r.late_retries;
                return answer_failed(c, failed);
            },
            [&](key_conflict) {
                return answer_problem(c, problems::key_reused,
                                      "Another payload came with this key before. A new creation "
                                      "needs a new key.");
            },
            [&](unknown_series) {
                return answer_faults(c, {{"prefix", "unknown-prefix",
                                          "The account has no series with this prefix."}});
            },
            [&](in_progress) {
                auto response = answer_problem(c, problems::request_in_progress,
                                               "Ask again with the same key.");
                response.headers.emplace_back("Retry-After", "1");
                return response;
            },
        },
        what);
}

// Whether the key has its definite answer.
awaitable<bool> is_settled(rooms& r, const call& c, const std::string& key) {
    look_up_slot command{c.account(), key};
    const auto found = co_await r.engine.submit(std::move(command));
    co_return found&&* found && (*found)->slot.state != slot_state::pending;
}

// ---- showing ----

bool none_match_fails(std::string_view if_none_match, std::string_view etag) {
    return if_none_match == "*" || if_none_match.find(etag) != std::string_view::npos;
}

http_response answer_task(const rooms& r, const call& c, const task& t) {
    const std::string etag = etag_of(t);
    http_response response;
    if (none_match_fails(header_of(c.request, field::if_none_match), etag)) {
        response.status = 304;
    } else {
        response = answer_message(c, 200, wire::to_message(t, r.sync.key_attribute));
    }
    response.headers.emplace_back("ETag", etag);
    response.headers.emplace_back("Vary", "Accept");
    return response;
}

}  // namespace

awaitable<http_response> create_task(rooms& r, call& c) {
    if (c.who.mode == account_mode::opaque) {
        co_return answer_unseen(c);
    }
    auto key = read_key(c);
    if (auto* refused = std::get_if<http_response>(&key)) co_return std::move(*refused);
    wire::faults found;
    auto wanted = read_create(r, c, found);
    if (!wanted) co_return answer_faults(c, found);
    // What the world has to be like for the task to be made. A retry gets its answer, whatever it
    // has become since.
    auto refused = refuse_age(r, c, *wanted);
    if (!refused && !wanted->depends.empty()) refused = co_await settle_depends(r, c, *wanted);
    if (refused) {
        const bool settled = co_await is_settled(r, c, std::get<std::string>(key));
        if (!settled) co_return std::move(*refused);
    }
    create_request request{c.account(),
                           std::get<std::string>(std::move(key)),
                           wanted->fingerprint,
                           wanted->uuid,
                           std::move(wanted->prefix),
                           std::move(wanted->attributes)};
    const auto answer = co_await r.engine.create(std::move(request));
    if (!answer) co_return answer_error(c, answer.error());
    co_return answer_create(r, c, *answer);
}

awaitable<http_response> show_task(rooms& r, call& c) {
    const auto ref = parse_task_ref(percent_decoded(c.captured[0]));
    if (!ref) co_return answer_malformed_ref(c);
    auto question = [account = c.account(), &ref](read_tx& tx) {
        return rules::resolve(tx, account, *ref);
    };
    const auto found = co_await r.engine.ask(c.payer(), std::move(question));
    if (!found) co_return answer_error(c, found.error());
    if (const auto* t = std::get_if<task>(&*found)) co_return answer_task(r, c, *t);
    co_return answer_unresolved(c, *found);
}

}  // namespace callsign::api
