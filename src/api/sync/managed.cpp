#include "managed.hpp"

#include "sync_sessions.hpp"

#include <callsign/domain/query.hpp>
#include <callsign/domain/work.hpp>
#include <callsign/jobs/resync.hpp>
#include <callsign/jobs/segments.hpp>
#include <callsign/jobs/snapshots.hpp>
#include <callsign/wire/media_types.hpp>

namespace callsign::api {
namespace {

http_response reject_keyless() {
    return reject_sync(503, "the server's master key does not decrypt this device's key",
                       "master-key");
}

std::optional<http_response> reject_client(const known_client& client) {
    if (client.revoked) return reject_revoked();
    if (!client.key) return reject_keyless();
    return std::nullopt;
}

http_response reject_segment(const wire::unreadable& wrong) {
    if (!wrong.wrong_key) return reject_sync(400, wrong.detail, "malformed-segment");
    return reject_sync(
        403, "the segment cannot be decrypted with this device's key: check sync.encryption_secret",
        "wrong-secret");
}

http_response answer_added(const add_version::added& added) {
    http_response response = answer_sync(200);
    add_version_header(response, added.version);
    if (added.wants_snapshot) {
        response.headers.emplace_back("X-Snapshot-Request", "urgency=high");
    }
    if (added.cut > 0) {
        return logged_as(std::move(response), "sync-trimmed", problems::task_too_large.code);
    }
    return response;
}

// The next sync begins where the last one ended, and pulls version by version.
http_response answer_too_far() {
    return reject_for_now("too many changes since that version: sync again to receive them first",
                          "too-far-behind");
}

// A stock client ends a batch before the operation that would exceed this many bytes.
constexpr std::size_t batch_bytes_max = 1'000'000;
// After a smaller batch there is none, unless others' changes removed half of it.
constexpr std::size_t large_batch_bytes = std::size_t{512} << 10;
// Most operations are smaller. A batch without space for one of this size is followed by another,
// except for one in a thousand.
constexpr std::size_t likely_operation_bytes = 1'024;

sync_session::next_batch next_of(std::size_t body_bytes, std::size_t operations) {
    using next = sync_session::next_batch;
    // The body has commas between operations, which the client does not count.
    if (body_bytes + likely_operation_bytes > batch_bytes_max + operations) return next::likely;
    return body_bytes >= large_batch_bytes ? next::possible : next::none;
}

http_response answer_sync_again() {
    return reject_for_now(
        "other clients changed tasks during this sync: sync again to send the remaining changes",
        "sync-again");
}

http_response answer_unknown_parent() {
    return reject_sync(410,
                       "the account's history does not have this version: the replica has synced "
                       "with another server, or this server's data is older than the replica",
                       "unknown-version");
}

http_response answer_add(const add_version::answer& outcome) {
    using add = add_version;
    return std::visit(overloaded{
                          [](const add::added& added) { return answer_added(added); },
                          [](add::unknown_parent) { return answer_unknown_parent(); },
                          [](add::too_far_behind) { return answer_too_far(); },
                          // Not returned by add_in_steps(), which reads what was missed.
                          [](add::needs_missed) { return answer_too_far(); },
                          [](account_full) { return reject_full(); },
                          [](no_such_client) { return reject_unknown_client(); },
                          [](device_revoked) { return reject_revoked(); },
                      },
                      outcome);
}

http_response answer_merge(const merge_snapshot::answer& outcome) {
    return std::visit(overloaded{
                          [](const merge_snapshot::done&) { return answer_sync(200); },
                          // The server makes the snapshots of a managed account itself.
                          [](merge_snapshot::not_awaited) { return answer_sync(200); },
                          [](no_such_client) { return reject_unknown_client(); },
                          [](device_revoked) { return reject_revoked(); },
                      },
                      outcome);
}

// Memory for the decompressed snapshot is reserved before: this factor times its size.
constexpr std::size_t inflation_max = 32;

}  // namespace

http_response reject_revoked() {
    return reject_sync(403, "this device was revoked", "revoked-device");
}

awaitable<http_response> add_managed_version(sync_context& s, request_context& c,
                                             known_client client) {
    if (auto rejected = reject_client(client)) co_return std::move(*rejected);
    const sync_head& asked = c.head.sync;
    auto opened = co_await jobs::open_segment(s.jobs, client.account, *client.key, asked.version,
                                              c.request.body(), s.options.segment_bytes_max);
    if (!opened) co_return fail_sync(opened.error());
    if (const auto* wrong = std::get_if<wire::unreadable>(&*opened)) {
        co_return reject_segment(*wrong);
    }
    add_version command{.client_id = asked.client,
                        .parent = asked.version,
                        .operations = {},
                        .account = client.account,
                        .bytes = c.request.body().size()};
    auto operations = std::get<std::vector<operation>>(std::move(*opened));
    if (!s.sessions.of(asked.client)
             .push(asked.version, operations,
                   next_of(c.request.body().size(), operations.size()))) {
        co_return answer_sync_again();
    }
    const auto done =
        co_await jobs::add_in_steps(s.jobs, std::move(command), std::move(operations),
                                    [&c](std::size_t bytes) { return c.request.reserve(bytes); });
    if (!done) co_return fail_sync(done.error());
    sync_session& session = s.sessions.of(asked.client);
    if (const auto* const added = std::get_if<add_version::added>(&*done)) {
        session.pushed(added->version);
    } else if (std::holds_alternative<add_version::too_far_behind>(*done)) {
        session.is_too_far_behind();
    }
    co_return answer_add(*done);
}

awaitable<http_response> next_managed_version(sync_context& s, request_context& c,
                                              known_client client) {
    if (auto rejected = reject_client(client)) co_return std::move(*rejected);
    const uuid parent = c.head.sync.version;
    const uuid its = c.head.sync.client;
    const auto at = s.sessions.of(its).pull(parent);
    if (!at) co_return answer_none("no such version");
    find_child question{client.account, parent, client.resync, client.device, *at};
    const auto found = co_await s.engine.ask(question);
    if (!found) co_return fail_sync(found.error());
    const auto* child = std::get_if<find_child::next_version>(&*found);
    const auto* const last = std::get_if<up_to_date>(&*found);
    const bool is_on_chain = child != nullptr || last != nullptr;
    if (is_on_chain && client.resync && client.resync->now == resync::state::expected) {
        end_resync seen{c.head.sync.client, client.account};
        const auto done = co_await s.engine.submit(seen);
        if (!done) co_return fail_sync(done.error());
    }
    sync_session& session = s.sessions.of(its);
    if (last) session.has_no_child(last->from);
    if (last || std::holds_alternative<find_child::awaits_change>(*found)) {
        co_return answer_none("no such version");
    }
    find_child::next_version nothing;
    if (const auto* const first = std::get_if<find_child::push_first>(&*found)) {
        session.held(first->name, first->head, first->from);
        nothing.id = first->name;
        child = &nothing;
    } else if (child) {
        session.pulled(child->id, child->others(), child->from);
    }
    if (std::holds_alternative<find_child::awaits_snapshot>(*found)) {
        co_return reject_sync(409, "this device's snapshot was requested but not received",
                              "snapshot-awaited");
    }
    if (const auto* const note = std::get_if<find_child::ahead>(&*found)) child = note;
    if (child == nullptr) co_return answer_unknown_parent();
    if (!c.request.reserve(work_of(child->operations))) co_return fail_sync(errc::overloaded);
    auto body =
        co_await jobs::seal_segment(s.jobs, client.account, *client.key, parent, child->operations);
    if (!body) co_return fail_sync(body.error());
    http_response response = answer_sync(200);
    response.content_type = wire::media_type::segment;
    response.body = std::move(*body);
    add_version_header(response, child->id);
    add_parent_header(response, parent);
    co_return response;
}

awaitable<http_response> add_managed_snapshot(sync_context& s, request_context& c,
                                              known_client client) {
    if (auto rejected = reject_client(client)) co_return std::move(*rejected);
    if (!client.resync) co_return answer_sync(200);
    const std::size_t bytes_max = inflation_max * c.request.body().size();
    if (!c.request.reserve(bytes_max)) co_return reject_crowded();
    merge_snapshot its{
        .client_id = c.head.sync.client, .version = c.head.sync.version, .account = client.account};
    auto opened = co_await jobs::open_snapshot(s.jobs, client.account, *client.key, its.version,
                                               c.request.body(), bytes_max);
    if (!opened) co_return fail_sync(opened.error());
    if (const auto* wrong = std::get_if<wire::unreadable>(&*opened)) {
        co_return reject_segment(*wrong);
    }
    auto tasks = std::get<task_map>(std::move(*opened));
    const auto done = co_await jobs::merge_in_steps(s.jobs, std::move(its), std::move(tasks));
    if (!done) co_return fail_sync(done.error());
    if (std::holds_alternative<merge_snapshot::done>(*done)) {
        const auto head = co_await s.engine.ask(find_head{client.account});
        if (!head) co_return fail_sync(head.error());
        s.sessions.of(c.head.sync.client).merged(head->seq);
    }
    co_return answer_merge(*done);
}

awaitable<http_response> managed_snapshot(sync_context& s, request_context& c,
                                          known_client client) {
    if (auto rejected = reject_client(client)) co_return std::move(*rejected);
    const auto room = [&c](std::size_t bytes) { return c.request.reserve(bytes); };
    const auto found = co_await s.snapshots.of(client.account, room);
    if (!found) co_return fail_sync(found.error());
    // Without a snapshot a client reads the chain from its first version.
    if (!*found) co_return answer_none("no snapshot");
    const jobs::server_snapshot& all = **found;
    if (!room(all.packed.size())) co_return fail_sync(errc::overloaded);
    auto sealed =
        co_await jobs::seal_snapshot(s.jobs, client.account, *client.key, all.version, all.packed);
    if (!sealed) co_return fail_sync(sealed.error());
    http_response response = answer_sync(200);
    response.content_type = wire::media_type::snapshot;
    response.body = std::move(*sealed);
    add_version_header(response, all.version);
    co_return response;
}

}  // namespace callsign::api
