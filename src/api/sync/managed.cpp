#include "managed.hpp"

#include "server_snapshots.hpp"

#include <callsign/rules/rules.hpp>
#include <callsign/seal/envelope.hpp>
#include <callsign/wire/segment.hpp>

#include <array>
#include <span>

namespace callsign::api {
namespace {

// ---- who may ----

http_response refuse_keyless() {
    return refuse_sync(503, "the server's master key does not open this device's key");
}

std::optional<http_response> refuse_client(const known_client& client) {
    if (client.revoked) return refuse_revoked();
    if (!client.key) return refuse_keyless();
    return std::nullopt;
}

// ---- opening ----

// A segment larger than this is not opened on the network thread: it would hold up everyone.
constexpr std::size_t opened_at_once_max = std::size_t{32} * 1024;

// Text: why it is refused, whole.
struct refused_segment {
    unsigned status = 400;
    std::string why;
};
using opened_segment = std::variant<std::vector<operation>, refused_segment>;

opened_segment open_segment(const seal::key& key, const uuid& parent, std::string_view body,
                            std::size_t bytes_max) {
    auto opened = seal::open_body(key, parent, body);
    if (const auto* error = std::get_if<seal::open_error>(&opened)) {
        const bool other_key = *error == seal::open_error::does_not_open;
        if (!other_key) return refused_segment{400, std::string(to_string(*error))};
        return refused_segment{403,
                               "the segment does not open with this device's key: is "
                               "sync.encryption_secret what the device was given?"};
    }
    auto decoded = wire::decode_segment(std::get<std::string>(opened), {.bytes_max = bytes_max});
    if (auto* wrong = std::get_if<wire::malformed>(&decoded)) {
        return refused_segment{400, "the segment does not parse: " + wrong->detail};
    }
    return std::get<std::vector<operation>>(std::move(decoded));
}

awaitable<result<opened_segment>> open_somewhere(rooms& r, const call& c, const uuid& parent,
                                                 const known_client& client) {
    auto open = [&key = *client.key, parent, body = std::string_view(c.request.body()),
                 bytes_max = r.sync.segment_bytes_max] {
        return open_segment(key, parent, body, bytes_max);
    };
    const std::size_t bytes = c.request.body().size();
    if (bytes <= opened_at_once_max) co_return open();
    const claim asks{client.account, {.bytes = bytes}};
    co_return co_await r.engine.run_aside(asks, std::move(open));
}

// ---- sealing ----

std::string sealed(rooms& r, const seal::key& key, const uuid& version, std::string_view text) {
    std::array<std::uint8_t, seal::nonce_bytes> nonce{};
    r.entropy.fill(nonce);
    return seal::seal_body(key, version, nonce, text);
}

// ---- adding ----

// One command after the other, each behind the version that the one before gave, until all is added
// or one is refused. What was added by then stays: the device, told of a failure, reads it as its
// own at its next sync, and sends the rest.
awaitable<result<callsign::add_version::answer>> add_step_by_step(rooms& r,
                                                                  callsign::add_version next,
                                                                  std::vector<operation> all) {
    const std::size_t bytes = next.bytes;
    for (std::size_t begun = 0;;) {
        const auto rest = std::span<const operation>(all).subspan(begun);
        const auto step = rest.first(rules::step_of(rest));
        callsign::add_version command = next;
        command.operations.assign(step.begin(), step.end());
        command.bytes = all.empty() ? bytes : bytes / all.size() * step.size();
        auto done = co_await r.engine.submit(std::move(command));
        const auto* added = done ? std::get_if<callsign::add_version::added>(&*done) : nullptr;
        if (!added || begun + added->taken == all.size()) co_return done;
        begun += added->taken;
        next.parent = added->version;
        next.continues = true;
    }
}

http_response answer_added(const callsign::add_version::added& added) {
    http_response response = answer_sync(200);
    add_version_header(response, added.version);
    return response;
}

// The next sync begins where the last one ended, and goes version by version.
http_response answer_too_far() {
    http_response response =
        refuse_sync(503, "too much has come since that version: sync again to fetch it first");
    response.headers.emplace_back("Retry-After", "1");
    return response;
}

http_response answer_unknown_parent() {
    return refuse_sync(410,
                       "the account's history has no such version: this replica has synced "
                       "with another server, or the server's data is older than it");
}

}  // namespace

http_response refuse_revoked() {
    return refuse_sync(403, "this device was revoked");
}

awaitable<http_response> add_managed_version(rooms& r, call& c, sync_head asked,
                                             known_client client) {
    if (auto refused = refuse_client(client)) co_return std::move(*refused);
    auto opened = co_await open_somewhere(r, c, asked.version, client);
    if (!opened) co_return fail_sync(c, opened.error());
    if (const auto* wrong = std::get_if<refused_segment>(&*opened)) {
        co_return refuse_sync(wrong->status, wrong->why);
    }
    callsign::add_version command{.client_id = asked.client,
                                  .parent = asked.version,
                                  .operations = {},
                                  .account = client.account,
                                  .bytes = c.request.body().size()};
    auto operations = std::get<std::vector<operation>>(std::move(*opened));
    const auto done = co_await add_step_by_step(r, std::move(command), std::move(operations));
    if (!done) co_return fail_sync(c, done.error());
    using what = callsign::add_version;
    co_return std::visit(overloaded{
                             [](const what::added& added) { return answer_added(added); },
                             [](what::unknown_parent) { return answer_unknown_parent(); },
                             [](what::missed_too_much) { return answer_too_far(); },
                             [](const task_too_large& large) {
                                 return refuse_sync(
                                     400, "task " + to_string(large.task) +
                                              " would have more than 4 MiB of attributes");
                             },
                             [](no_such_client) { return refuse_sync(404, "No such client"); },
                             [](device_revoked) { return refuse_revoked(); },
                         },
                         *done);
}

awaitable<http_response> next_managed_version(rooms& r, call& c, sync_head asked,
                                              known_client client) {
    if (auto refused = refuse_client(client)) co_return std::move(*refused);
    struct sealed_child {
        uuid id{};
        std::string body;
    };
    struct no_room {};
    using answer = std::variant<sealed_child, rules::up_to_date, rules::unknown_version, no_room>;
    auto question = [&r, &c, &client, &asked](read_tx& tx) -> answer {
        auto found = rules::find_child(tx, client.account, asked.version);
        if (const auto* const next = std::get_if<rules::next_version>(&found)) {
            const std::string text = wire::encode_segment(next->operations);
            if (!c.request.reserve(text.size())) return no_room{};
            return sealed_child{next->id, sealed(r, *client.key, asked.version, text)};
        }
        if (std::holds_alternative<rules::up_to_date>(found)) return rules::up_to_date{};
        return rules::unknown_version{};
    };
    auto found = co_await r.engine.ask(client.account, std::move(question));
    if (!found) co_return fail_sync(c, found.error());
    if (std::holds_alternative<rules::up_to_date>(*found)) {
        co_return refuse_sync(404, "no such version");
    }
    if (std::holds_alternative<rules::unknown_version>(*found)) co_return answer_unknown_parent();
    if (std::holds_alternative<no_room>(*found)) co_return fail_sync(c, errc::overloaded);
    auto& child = std::get<sealed_child>(*found);
    http_response response = answer_sync(200);
    response.content_type = segment_type;
    response.body = std::move(child.body);
    add_version_header(response, child.id);
    add_parent_header(response, asked.version);
    co_return response;
}

awaitable<http_response> managed_snapshot(rooms& r, call& c, known_client client) {
    if (auto refused = refuse_client(client)) co_return std::move(*refused);
    const auto room = [&c](std::size_t bytes) { return c.request.reserve(bytes); };
    const auto found = co_await r.snapshots.of(client.account, room);
    if (!found) co_return fail_sync(c, found.error());
    // Without one a client reads the chain from its beginning.
    if (!*found) co_return refuse_sync(404, "no snapshot");
    const server_snapshot& all = **found;
    if (!room(all.packed.size())) co_return fail_sync(c, errc::overloaded);
    auto seal = [&r, &client, &all] { return sealed(r, *client.key, all.version, all.packed); };
    const claim asks{client.account, {.bytes = all.packed.size()}};
    auto body = co_await r.engine.run_aside(asks, std::move(seal));
    if (!body) co_return fail_sync(c, body.error());
    http_response response = answer_sync(200);
    response.content_type = snapshot_type;
    response.body = std::move(*body);
    add_version_header(response, all.version);
    co_return response;
}

}  // namespace callsign::api
