// POST /v1/client/add-version/{parent} and GET /v1/client/get-child-version/{parent}.

#include "managed.hpp"
#include "registrations.hpp"
#include "sync_call.hpp"
#include "turnstile.hpp"

#include <callsign/domain/query.hpp>
#include <callsign/wire/media_types.hpp>

namespace callsign::api {
namespace {

// ---- adding ----

http_response answer_added_sealed(const sync_context& s, const add_sealed_version::added& added) {
    http_response response = answer_sync(200);
    add_version_header(response, added.version);
    switch (urgency_of(s.options.snapshots, added.snapshot)) {
    case snapshot_urgency::none: break;
    case snapshot_urgency::low:
        response.headers.emplace_back("X-Snapshot-Request", "urgency=low");
        break;
    case snapshot_urgency::high:
        response.headers.emplace_back("X-Snapshot-Request", "urgency=high");
        break;
    }
    return response;
}

// Another request may have created the account; counting one too many does no harm.
bool added_to(const result<add_sealed_version::answer>& done) {
    return done && std::holds_alternative<add_sealed_version::added>(*done);
}

http_response reject_newcomer(milliseconds span) {
    http_response response = logged_as(answer_text(429, "too many new clients in this hour"),
                                       "rate-limited", "registrations");
    set_retry_after(response, std::chrono::ceil<std::chrono::seconds>(span));
    return response;
}

http_response answer_conflict(const add_sealed_version::expected_parent& expected) {
    http_response response = answer_sync(409);
    add_parent_header(response, expected.latest);
    return response;
}

// ---- reading ----

http_response answer_child(sealed_version child) {
    http_response response = answer_sync(200);
    response.content_type = wire::media_type::segment;
    response.body = std::move(child.segment);
    add_version_header(response, child.id);
    add_parent_header(response, child.parent);
    return response;
}

// ---- opaque accounts ----

// A client sends batches of about 1 MB: after one as large as this another may follow.
constexpr std::size_t full_batch_bytes = 500'000;

awaitable<http_response> add_sealed(sync_context& s, request_context& c, account_id account) {
    const sync_head& asked = c.head.sync;
    turnstile::visit visit(s.turnstile.enter(asked.client));
    visit.sending(asked.version);
    const bool is_full = c.request.body().size() >= full_batch_bytes;
    add_sealed_version command{asked.client, asked.version, std::move(c.request.body()),
                               s.options.open_registration, account};
    const bool is_anonymous = account == account_id{};
    if (is_anonymous) {
        const auto span = s.registrations.enter(s.clock.elapsed());
        if (span) co_return reject_newcomer(*span);
    }
    const auto done = co_await s.engine.submit(std::move(command));
    if (is_anonymous && !added_to(done)) s.registrations.give_back();
    if (!done) co_return fail_sync(done.error());
    if (const auto* added = std::get_if<add_sealed_version::added>(&*done)) {
        visit.accepted(added->version, is_full);
        co_return answer_added_sealed(s, *added);
    }
    if (const auto* other = std::get_if<add_sealed_version::expected_parent>(&*done)) {
        co_return answer_conflict(*other);
    }
    if (std::holds_alternative<account_changed>(*done)) co_return answer_changed();
    if (std::holds_alternative<account_full>(*done)) co_return reject_full();
    co_return reject_unknown_client();
}

awaitable<http_response> next_sealed(sync_context& s, request_context& c, account_id account) {
    const uuid parent = c.head.sync.version;
    turnstile::visit visit(s.turnstile.enter(c.head.sync.client));
    const auto reserve = [&c](std::size_t bytes) { return c.request.reserve(bytes); };
    for (std::size_t bytes_max = find_sealed_child::quick_bytes_max;;) {
        visit.look();
        find_sealed_child question{account, parent, bytes_max, reserve};
        auto found = co_await s.engine.ask(std::move(question));
        if (!found) co_return fail_sync(found.error());
        if (auto* const child = std::get_if<sealed_version>(&*found)) {
            visit.found(parent, child->id);
            co_return answer_child(std::move(*child));
        }
        if (const auto* large = std::get_if<find_sealed_child::too_large>(&*found)) {
            // Its size is known now, and the query is charged for it.
            bytes_max = large->bytes;
            continue;
        }
        if (std::holds_alternative<no_room>(*found)) co_return reject_crowded();
        if (std::holds_alternative<account_changed>(*found)) co_return answer_changed();
        if (std::holds_alternative<unknown_version>(*found)) {
            co_return reject_sync(410, "version has been deleted", "unknown-version");
        }
        const bool say_so = co_await visit.may_say_up_to_date(parent);
        if (say_so) co_return answer_none("no such version");
    }
}

}  // namespace

awaitable<http_response> post_version(sync_context& s, request_context& c) {
    if (c.request.body().empty()) co_return reject_sync(400, "Empty body", "empty-body");
    const auto client = co_await client_of(s, c);
    if (!client) co_return fail_sync(client.error());
    if (!*client && !s.options.open_registration) co_return reject_unknown_client();
    if (*client && (*client)->closed) co_return reject_closed();
    if (*client && (*client)->mode == account_mode::managed) {
        co_return co_await add_managed_version(s, c, **client);
    }
    co_return co_await add_sealed(s, c, *client ? (*client)->account : account_id{});
}

awaitable<http_response> get_child_version(sync_context& s, request_context& c) {
    const auto client = co_await client_of(s, c);
    if (!client) co_return fail_sync(client.error());
    if (!*client) co_return reject_sync(404, "no such client", "unknown-client");
    if ((*client)->closed) co_return reject_closed();
    c.pays((*client)->account);
    if ((*client)->mode == account_mode::managed) {
        co_return co_await next_managed_version(s, c, **client);
    }
    co_return co_await next_sealed(s, c, (*client)->account);
}

}  // namespace callsign::api
