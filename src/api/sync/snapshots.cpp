// POST /v1/client/add-snapshot/{version} and GET /v1/client/snapshot.

#include "managed.hpp"
#include "sync_call.hpp"

namespace callsign::api {
awaitable<http_response> add_snapshot(rooms& r, call& c) {
    auto head = read_sync_head(r.sync, c.captured[0], snapshot_type, c.request);
    if (auto* refused = std::get_if<http_response>(&head)) co_return std::move(*refused);
    const auto& asked = std::get<sync_head>(head);
    if (c.request.body().empty()) co_return refuse_sync(400, "No snapshot supplied");

    const auto client = co_await client_of(r, asked.client);
    if (!client) co_return fail_sync(c, client.error());
    if (!*client) co_return refuse_sync(404, "No such client");
    // Those of a managed account the server makes itself.
    if ((*client)->mode == account_mode::managed) {
        co_return (*client)->revoked ? refuse_revoked() : answer_sync(200);
    }
    add_sealed_snapshot command{asked.client, asked.version, std::move(c.request.body()),
                                (*client)->account};
    const auto done = co_await r.engine.submit(std::move(command));
    if (!done) co_return fail_sync(c, done.error());
    if (std::holds_alternative<no_such_client>(*done)) co_return refuse_sync(404, "No such client");
    if (std::holds_alternative<account_changed>(*done)) r.clients.forget(asked.client);
    // One that was not kept is answered so too: the client did nothing wrong, it was only late.
    co_return answer_sync(200);
}

awaitable<http_response> get_snapshot(rooms& r, call& c) {
    auto head = read_sync_head(r.sync, {}, {}, c.request);
    if (auto* refused = std::get_if<http_response>(&head)) co_return std::move(*refused);
    const sync_head asked = std::get<sync_head>(head);
    const auto client = co_await client_of(r, asked.client);
    if (!client) co_return fail_sync(c, client.error());
    if (!*client) co_return refuse_sync(404, "No such client");
    c.pays((*client)->account.value);
    if ((*client)->mode == account_mode::managed) {
        co_return co_await managed_snapshot(r, c, **client);
    }
    struct snapshot_found {
        std::optional<sealed_snapshot> snapshot;
        bool is_managed = false;  // the account has become so
        bool has_room = true;     // for as many bytes
    };
    auto question = [&request = c.request, account = (*client)->account](read_tx& tx) {
        snapshot_found found;
        found.has_room = request.reserve(tx.snapshot_bytes(account));
        if (!found.has_room) return found;
        found.snapshot = tx.find_snapshot(account);
        if (!found.snapshot) found.is_managed = is_managed(tx, account);
        return found;
    };
    const claim asks{(*client)->account, snapshot_cost};
    auto found = co_await r.engine.ask(asks, std::move(question));
    if (!found) co_return fail_sync(c, found.error());
    if (!found->has_room) co_return refuse_crowded();
    if (found->is_managed) {
        r.clients.forget(asked.client);
        co_return answer_changed();
    }
    if (!found->snapshot) co_return refuse_sync(404, "no snapshot");
    http_response response = answer_sync(200);
    response.content_type = snapshot_type;
    response.body = std::move(found->snapshot->bytes);
    add_version_header(response, found->snapshot->mark.version);
    co_return response;
}

}  // namespace callsign::api
