// POST /v1/client/add-version/{parent} and GET /v1/client/get-child-version/{parent}.

#include "known_clients.hpp"
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

http_response answer_conflict(const add_sealed_version::expected_parent& expected) {
    http_response response = answer_sync(409);
    add_parent_header(response, expected.latest);
    return response;
}

// ---- the next one ----

struct child_found {
    std::optional<device> client;
    std::optional<sealed_version> child;
    bool is_tip = false;  // nothing can come after the parent yet
};

child_found find_child(read_tx& tx, const sync_head& asked) {
    child_found found;
    found.client = tx.find_device(asked.client);
    if (!found.client) return found;
    found.child = tx.find_sealed_child(found.client->account, asked.version);
    if (found.child) return found;
    const chain_head head = tx.head_of(found.client->account);
    found.is_tip = head.seq == 0 || head.version == asked.version;
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

}  // namespace

awaitable<result<account_id>> account_of_client(rooms& r, uuid client) {
    const account_id known = r.clients.find(client);
    if (known.value != 0) co_return known;
    auto question = [client](read_tx& tx) { return tx.find_device(client); };
    const auto found = co_await r.engine.ask(std::move(question));
    if (!found) co_return found.error();
    if (!*found) co_return account_id{};
    r.clients.remember(client, (*found)->account);
    co_return (*found)->account;
}

awaitable<http_response> add_version(rooms& r, call& c) {
    auto head = read_sync_head(r.sync, c.captured[0], segment_type, c.request);
    if (auto* refused = std::get_if<http_response>(&head)) co_return std::move(*refused);
    const auto& asked = std::get<sync_head>(head);
    if (c.request.body().empty()) co_return refuse_sync(400, "Empty body");

    const auto account = co_await account_of_client(r, asked.client);
    if (!account) co_return fail_sync(c, account.error());
    if (account->value == 0 && !r.sync.open_registration) {
        co_return refuse_sync(404, "No such client");
    }
    turnstile::visit visit(r.turns.enter(asked.client, c.request.connection));
    visit.sending();
    add_sealed_version command{asked.client, asked.version, std::move(c.request.body()),
                               r.sync.open_registration, *account};
    const auto done = co_await r.engine.submit(std::move(command));
    const auto* added = done ? std::get_if<add_sealed_version::added>(&*done) : nullptr;
    visit.sent(added != nullptr);
    if (!done) co_return fail_sync(c, done.error());
    if (added) {
        r.clients.remember(asked.client, added->account);
        co_return answer_added(r, *added);
    }
    if (const auto* other = std::get_if<add_sealed_version::expected_parent>(&*done)) {
        co_return answer_conflict(*other);
    }
    co_return refuse_sync(404, "No such client");
}

awaitable<http_response> get_child_version(rooms& r, call& c) {
    auto head = read_sync_head(r.sync, c.captured[0], {}, c.request);
    if (auto* refused = std::get_if<http_response>(&head)) co_return std::move(*refused);
    const auto& asked = std::get<sync_head>(head);

    turnstile::visit visit(r.turns.enter(asked.client, c.request.connection));
    for (;;) {
        visit.look();
        auto question = [asked](read_tx& tx) { return find_child(tx, asked); };
        auto found = co_await r.engine.ask(std::move(question));
        if (!found) co_return fail_sync(c, found.error());
        if (!found->client) co_return refuse_sync(404, "no such client");
        r.clients.remember(asked.client, found->client->account);
        if (found->child) co_return answer_child(std::move(*found->child));
        if (!found->is_tip) co_return refuse_sync(410, "version has been deleted");
        const bool say_so = co_await visit.may_say_up_to_date();
        if (say_so) co_return refuse_sync(404, "no such version");
    }
}

}  // namespace callsign::api
