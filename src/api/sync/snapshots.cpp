// POST /v1/client/add-snapshot/{version} and GET /v1/client/snapshot.

#include "managed.hpp"
#include "sync_call.hpp"

#include <callsign/domain/query.hpp>
#include <callsign/wire/media_types.hpp>

namespace callsign::api {

awaitable<http_response> post_snapshot(sync_context& s, request_context& c) {
    const sync_head& asked = c.head.sync;
    if (c.request.body().empty()) co_return reject_sync(400, "No snapshot supplied", "empty-body");
    const auto client = co_await client_of(s, c);
    if (!client) co_return fail_sync(client.error());
    if (!*client) co_return reject_unknown_client();
    if ((*client)->closed) co_return reject_closed();
    if ((*client)->mode == account_mode::managed) {
        co_return co_await add_managed_snapshot(s, c, **client);
    }
    add_sealed_snapshot command{asked.client, asked.version, std::move(c.request.body()),
                                (*client)->account};
    const auto done = co_await s.engine.submit(std::move(command));
    if (!done) co_return fail_sync(done.error());
    if (std::holds_alternative<no_such_client>(*done)) co_return reject_unknown_client();
    if (std::holds_alternative<account_full>(*done)) co_return reject_full();
    // A snapshot that was not stored gets 200 too: the client was only late.
    co_return answer_sync(200);
}

awaitable<http_response> get_snapshot(sync_context& s, request_context& c) {
    const auto client = co_await client_of(s, c);
    if (!client) co_return fail_sync(client.error());
    if (!*client) co_return reject_unknown_client();
    if ((*client)->closed) co_return reject_closed();
    c.pays((*client)->account);
    if ((*client)->mode == account_mode::managed) {
        co_return co_await managed_snapshot(s, c, **client);
    }
    const auto reserve = [&c](std::size_t bytes) { return c.request.reserve(bytes); };
    find_sealed_snapshot question{(*client)->account, reserve};
    auto found = co_await s.engine.ask(std::move(question));
    if (!found) co_return fail_sync(found.error());
    if (std::holds_alternative<no_room>(*found)) co_return reject_crowded();
    if (std::holds_alternative<account_changed>(*found)) co_return answer_changed();
    auto* const snapshot = std::get_if<sealed_snapshot>(&*found);
    if (snapshot == nullptr) co_return answer_none("no snapshot");
    http_response response = answer_sync(200);
    response.content_type = wire::media_type::snapshot;
    response.body = std::move(snapshot->bytes);
    add_version_header(response, snapshot->mark.version);
    co_return response;
}

}  // namespace callsign::api
