#include "managed.hpp"

#include <callsign/rules/rules.hpp>
#include <callsign/seal/envelope.hpp>
#include <callsign/wire/segment.hpp>

#include <array>

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
    callsign::add_version command{asked.client, asked.version,
                                  std::get<std::vector<operation>>(std::move(*opened)),
                                  client.account, c.request.body().size()};
    const auto done = co_await r.engine.submit(std::move(command));
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
    using answer = std::variant<sealed_child, rules::up_to_date, rules::unknown_version,
                                callsign::add_version::missed_too_much>;
    auto question = [&r, &client, &asked](read_tx& tx) -> answer {
        auto found = rules::find_child(tx, client.account, asked.version);
        const auto* const next = std::get_if<rules::next_version>(&found);
        if (next) {
            return sealed_child{next->id, sealed(r, *client.key, asked.version,
                                                 wire::encode_segment(next->operations))};
        }
        if (std::holds_alternative<rules::up_to_date>(found)) return rules::up_to_date{};
        if (std::holds_alternative<rules::unknown_version>(found)) return rules::unknown_version{};
        return callsign::add_version::missed_too_much{};
    };
    auto found = co_await r.engine.ask(client.account, std::move(question));
    if (!found) co_return fail_sync(c, found.error());
    if (std::holds_alternative<rules::up_to_date>(*found)) {
        co_return refuse_sync(404, "no such version");
    }
    if (std::holds_alternative<rules::unknown_version>(*found)) co_return answer_unknown_parent();
    if (!std::holds_alternative<sealed_child>(*found)) co_return answer_too_far();
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
    auto question = [account = client.account, bytes_max = r.sync.snapshot_bytes_max](read_tx& tx) {
        return rules::read_tasks(tx, account, bytes_max);
    };
    const claim asks{client.account, snapshot_cost};
    const auto found = co_await r.engine.ask(asks, std::move(question));
    if (!found) co_return fail_sync(c, found.error());
    // Without one a client reads the chain from its beginning.
    if (!*found || (*found)->version.is_nil()) co_return refuse_sync(404, "no snapshot");
    // Not in the question: it needs no reader.
    auto seal = [&r, &client, &all = **found] {
        return sealed(r, *client.key, all.version, wire::encode_snapshot(all.tasks));
    };
    auto body = co_await r.engine.run_aside(asks, std::move(seal));
    if (!body) co_return fail_sync(c, body.error());
    http_response response = answer_sync(200);
    response.content_type = snapshot_type;
    response.body = std::move(*body);
    add_version_header(response, (*found)->version);
    co_return response;
}

}  // namespace callsign::api
