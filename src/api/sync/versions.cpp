// POST /v1/client/add-version/{parent} and GET /v1/client/get-child-version/{parent}.

#include "managed.hpp"
#include "registrations.hpp"
#include "sync_call.hpp"
#include "turnstile.hpp"

namespace callsign::api {
namespace {

// ---- adding ----

http_response answer_added(const rooms& r, const add_sealed_version::added& added) {
    http_response response = answer_sync(200);
    add_version_header(response, added.version);
    switch (urgency_of(r.sync.snapshots, added.snapshot)) {
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

// Somebody else may have made the account meanwhile; to count one too many does no harm.
bool added_to(const result<add_sealed_version::answer>& done) {
    return done && std::holds_alternative<add_sealed_version::added>(*done);
}

http_response refuse_newcomer(milliseconds span) {
    http_response response = refuse_sync(429, "too many new clients in this hour");
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(span).count();
    response.headers.emplace_back("Retry-After", std::to_string(seconds));
    return response;
}

http_response answer_conflict(const add_sealed_version::expected_parent& expected) {
    http_response response = answer_sync(409);
    add_parent_header(response, expected.latest);
    return response;
}

// ---- the next one ----

struct child_found {
    std::optional<sealed_version> child;
    bool is_tip = false;        // nothing can come after the parent yet
    bool is_managed = false;    // the account has become so: this chain is gone
    bool has_room = true;       // for the bytes of the child
    std::size_t too_large = 0;  // its bytes, if they are more than the question was for
};

// What is loaded among the questions of others, which wait for it.
constexpr std::size_t child_bytes_quick = std::size_t{256} * 1024;

child_found find_sealed_child(read_tx& tx, account_id account, const uuid& parent,
                              std::size_t bytes_max, const http_request& request) {
    child_found found;
    const std::size_t bytes = tx.sealed_child_bytes(account, parent);
    if (bytes > bytes_max) {
        found.too_large = bytes;
        return found;
    }
    found.has_room = request.reserve(bytes);
    if (!found.has_room) return found;
    found.child = tx.find_sealed_child(account, parent);
    if (found.child) return found;
    const chain_head head = tx.head_of(account);
    found.is_tip = head.seq == 0 || head.version == parent;
    if (!found.is_tip) found.is_managed = is_managed(tx, account);
    return found;
}

http_response answer_child(sealed_version child) {
    http_response response = answer_sync(200);
    response.content_type = segment_type;
    response.body = std::move(child.segment);
    add_version_header(response, child.id);
    add_parent_header(response, child.parent);
    return response;
}

// ---- of an opaque account ----

// A client sends what it has in batches of about 1 MB: after one as large as this there may be
// another.
constexpr std::size_t full_batch_bytes = 500'000;

awaitable<http_response> add_sealed(rooms& r, call& c, const sync_head& asked, account_id account) {
    turnstile::visit visit(r.turns.enter(asked.client));
    visit.sending(asked.version);
    const bool is_full = c.request.body().size() >= full_batch_bytes;
    add_sealed_version command{asked.client, asked.version, std::move(c.request.body()),
                               r.sync.open_registration, account};
    const bool is_stranger = account == account_id{};
    if (is_stranger) {
        const auto span = r.newcomers.enter(r.clock.elapsed());
        if (span) co_return refuse_newcomer(*span);
    }
    const auto done = co_await r.engine.submit(std::move(command));
    if (is_stranger && !added_to(done)) r.newcomers.give_back();
    if (!done) co_return fail_sync(c, done.error());
    if (const auto* added = std::get_if<add_sealed_version::added>(&*done)) {
        visit.accepted(added->version, is_full);
        r.clients.remember(asked.client, {.account = added->account});
        co_return answer_added(r, *added);
    }
    if (const auto* other = std::get_if<add_sealed_version::expected_parent>(&*done)) {
        co_return answer_conflict(*other);
    }
    if (std::holds_alternative<account_changed>(*done)) {
        r.clients.forget(asked.client);
        co_return answer_changed();
    }
    co_return refuse_sync(404, "No such client");
}

awaitable<http_response> next_sealed(rooms& r, call& c, const sync_head& asked,
                                     account_id account) {
    turnstile::visit visit(r.turns.enter(asked.client));
    cost price;
    for (std::size_t bytes_max = child_bytes_quick;;) {
        visit.look();
        auto question = [&request = c.request, account, parent = asked.version,
                         bytes_max](read_tx& tx) {
            return find_sealed_child(tx, account, parent, bytes_max, request);
        };
        auto found = co_await r.engine.ask({account, price}, std::move(question));
        if (!found) co_return fail_sync(c, found.error());
        if (found->too_large > 0) {
            // Now its size is known, it is asked for as what it is.
            price.bytes = bytes_max = found->too_large;
            continue;
        }
        if (!found->has_room) co_return refuse_crowded();
        if (found->child) {
            visit.found(asked.version, found->child->id);
            co_return answer_child(std::move(*found->child));
        }
        if (found->is_managed) {
            r.clients.forget(asked.client);
            co_return answer_changed();
        }
        if (!found->is_tip) co_return refuse_sync(410, "version has been deleted");
        const bool say_so = co_await visit.may_say_up_to_date(asked.version);
        if (say_so) co_return refuse_sync(404, "no such version");
    }
}

}  // namespace

awaitable<http_response> add_version(rooms& r, call& c) {
    auto head = read_sync_head(r.sync, c.captured[0], segment_type, c.request);
    if (auto* refused = std::get_if<http_response>(&head)) co_return std::move(*refused);
    const sync_head asked = std::get<sync_head>(head);
    if (c.request.body().empty()) co_return refuse_sync(400, "Empty body");

    const auto client = co_await client_of(r, asked.client);
    if (!client) co_return fail_sync(c, client.error());
    if (!*client && !r.sync.open_registration) co_return refuse_sync(404, "No such client");
    if (*client && (*client)->mode == account_mode::managed) {
        co_return co_await add_managed_version(r, c, asked, **client);
    }
    co_return co_await add_sealed(r, c, asked, *client ? (*client)->account : account_id{});
}

awaitable<http_response> get_child_version(rooms& r, call& c) {
    auto head = read_sync_head(r.sync, c.captured[0], {}, c.request);
    if (auto* refused = std::get_if<http_response>(&head)) co_return std::move(*refused);
    const sync_head asked = std::get<sync_head>(head);

    const auto client = co_await client_of(r, asked.client);
    if (!client) co_return fail_sync(c, client.error());
    if (!*client) co_return refuse_sync(404, "no such client");
    c.pays((*client)->account.value);
    if ((*client)->mode == account_mode::managed) {
        co_return co_await next_managed_version(r, c, asked, **client);
    }
    co_return co_await next_sealed(r, c, asked, (*client)->account);
}

}  // namespace callsign::api
