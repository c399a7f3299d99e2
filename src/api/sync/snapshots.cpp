// POST /v1/client/add-snapshot/{version} and GET /v1/client/snapshot.

#include "sync_call.hpp"

namespace callsign::api {
namespace {

struct snapshot_found {
    bool is_client = false;
    std::optional<sealed_snapshot> snapshot;
};

}  // namespace

awaitable<http_response> add_snapshot(rooms& r, call& c) {
    auto head = read_sync_head(r.sync, c.captured[0], snapshot_type, c.request);
    if (auto* refused = std::get_if<http_response>(&head)) co_return std::move(*refused);
    const auto& asked = std::get<sync_head>(head);
    if (c.request.body().empty()) co_return refuse_sync(400, "No snapshot supplied");

    const auto account = co_await account_of_client(r, asked.client);
    if (!account) co_return fail_sync(c, account.error());
    if (account->value == 0) co_return refuse_sync(404, "No such client");
    add_sealed_snapshot command{asked.client, asked.version, std::move(c.request.body()), *account};
    const auto done = co_await r.engine.submit(std::move(command));
    if (!done) co_return fail_sync(c, done.error());
    if (std::holds_alternative<no_such_client>(*done)) co_return refuse_sync(404, "No such client");
    // One that was not kept is answered so too: the client did nothing wrong, it was only late.
    co_return answer_sync(200);
}

awaitable<http_response> get_snapshot(rooms& r, call& c) {
    auto head = read_sync_head(r.sync, {}, {}, c.request);
    if (auto* refused = std::get_if<http_response>(&head)) co_return std::move(*refused);
    auto question = [client = std::get<sync_head>(head).client](read_tx& tx) {
        snapshot_found found;
        if (const auto known = tx.find_device(client)) {
            found.is_client = true;
            found.snapshot = tx.find_snapshot(known->account);
        }
        return found;
    };
    auto found = co_await r.engine.ask(std::move(question));
    if (!found) co_return fail_sync(c, found.error());
    if (!found->is_client) co_return refuse_sync(404, "No such client");
    if (!found->snapshot) co_return refuse_sync(404, "no snapshot");
    http_response response = answer_sync(200);
    response.content_type = snapshot_type;
    response.body = std::move(found->snapshot->bytes);
    add_version_header(response, found->snapshot->mark.version);
    co_return response;
}

}  // namespace callsign::api
