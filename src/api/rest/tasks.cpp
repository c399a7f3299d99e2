#include "handlers.hpp"
#include "shared/task_answers.hpp"

#include <callsign/domain/query.hpp>

namespace callsign::api {
namespace {

// ---- creating ----

using key_or_rejection = std::variant<std::string, http_response>;

key_or_rejection read_key_header(const request_context& c) {
    auto read = parse_key_field(c);
    if (auto* key = std::get_if<std::string>(&read)) return std::move(*key);
    if (const auto* malformed = std::get_if<wire::key_malformed>(&read)) {
        return answer_problem(c, problems::key_malformed, malformed->detail);
    }
    return answer_problem(c, problems::key_missing,
                          "Send Idempotency-Key: \"KEY\", with a new key for each creation and the "
                          "same key for its retries.");
}

// Returns nullopt if `found` has errors.
std::optional<wire::decoded_create> read_create(const rest_context& r, const request_context& c,
                                                wire::field_errors& found) {
    // One message for all requests keeps its memory; nothing is awaited while it is in use.
    thread_local v1::CreateTask message;
    message.Clear();
    if (!read_body(c, message, found)) return std::nullopt;
    auto decoded = wire::to_domain(message, found, r.key_attribute);
    return found.empty() ? std::move(decoded) : std::nullopt;
}

// The body is made of the receipt alone, so that every retry gets the same bytes. Differences are
// in a header field.
http_response answer_receipt(const rest_context& r, const request_context& c,
                             const receipted& given) {
    const receipt& made = given.receipt;
    auto response = answer_message(c, made.created ? 201 : 200, wire::to_message(made));
    response.headers.emplace_back("Location", "/v1/tasks/" + key_of(made));
    if (made.created && r.instance) {
        const task_tag tag{made.seq, stamp_of(*r.instance, made.prefix)};
        response.headers.emplace_back("ETag", etag_of(tag));
    }
    if (given.replayed) response.headers.emplace_back("Idempotent-Replayed", "true");
    return response;
}

// A decoded creation has its dependencies in another order, so they are read again.
sent_refs sent_depends(const request_context& c) {
    v1::CreateTask message;
    wire::field_errors unread;
    read_body(c, message, unread);
    return std::move(*message.mutable_depends());
}

http_response answer_create(const rest_context& r, const request_context& c,
                            const create_answer& answer) {
    const bool is_unmet = std::holds_alternative<depends_unmet>(answer);
    const auto why =
        rejection_of_task(answer, is_unmet ? sent_depends(c) : sent_refs(), r.key_attribute);
    return why ? answer_rejected(c, *why) : answer_receipt(r, c, std::get<receipted>(answer));
}

}  // namespace

awaitable<http_response> post_task(rest_context& r, request_context& c) {
    if (c.who.mode == account_mode::opaque) co_return answer_unseen(c);
    auto key = read_key_header(c);
    if (auto* rejected = std::get_if<http_response>(&key)) co_return std::move(*rejected);
    wire::field_errors found;
    auto wanted = read_create(r, c, found);
    if (!wanted) co_return answer_faults(c, found);
    reserve request{c.account(),
                    std::get<std::string>(std::move(key)),
                    wanted->fingerprint,
                    wanted->uuid,
                    std::move(wanted->prefix),
                    std::move(wanted->attributes),
                    std::move(wanted->depends),
                    c.who.token};
    const auto answer = co_await r.engine.create(std::move(request));
    if (!answer) co_return answer_error(c, answer.error());
    if (!r.instance) {
        const auto instance = co_await r.engine.ask(find_instance{});
        if (instance) r.instance = *instance;
    }
    co_return answer_create(r, c, *answer);
}

awaitable<http_response> get_task(rest_context& r, request_context& c) {
    if (c.who.mode == account_mode::opaque) co_return answer_unseen(c);
    const auto ref = parse_task_ref(wire::percent_decoded(c.captured[0]));
    if (!ref) co_return answer_malformed_ref(c);
    find_task question{c.account(), *ref};
    const auto found = co_await r.engine.ask(std::move(question));
    if (!found) co_return answer_error(c, found.error());
    const auto* const t = std::get_if<task>(&*found);
    if (t == nullptr) co_return answer_rejected(c, unresolved(std::get<ref_fault>(*found)));
    auto make = [&r, &c, t] {
        auto response = answer_message(c, 200, wire::to_message(*t, r.key_attribute));
        return unless_known(c, std::move(response), etag_of(t->tag));
    };
    co_return co_await answer_encoded(r.engine, c, callsign::work_of(t->attributes),
                                      std::move(make));
}

}  // namespace callsign::api
