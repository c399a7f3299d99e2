#include "sync_call.hpp"

#include "managed.hpp"

#include <callsign/base/text.hpp>
#include <callsign/domain/query.hpp>
#include <callsign/jobs/device_keys.hpp>
#include <callsign/wire/media_types.hpp>

#include <algorithm>
#include <array>

namespace callsign::api {
namespace {

constexpr std::string_view client_field = "X-Client-Id";

// Returns the first field of that name; nullopt: there is none.
std::optional<std::string_view> first_of(const net::http_header& header, std::string_view name) {
    const auto [first, last] = header.equal_range({name.data(), name.size()});
    if (first == last) return std::nullopt;
    return std::string_view(first->value().data(), first->value().size());
}

// Returns the media type without parameters and white space.
std::string_view media_type_of(const net::http_header& header) {
    std::string_view type = first_of(header, "Content-Type").value_or("");
    return take_until(type, ';');
}

// Returns the media type of a client's body on this route; empty: it has no body.
std::string_view type_of_body(const route& where) {
    if (where.takes == body::segment) return wire::media_type::segment;
    if (where.takes == body::snapshot) return wire::media_type::snapshot;
    return {};
}

bool is_allowed(const sync_options& options, const uuid& client) {
    const auto& allowed = options.allow_client_ids;
    return allowed.empty() || std::find(allowed.begin(), allowed.end(), client) != allowed.end();
}

}  // namespace

std::optional<uuid> parse_uuid_in_any_form(std::string_view text) noexcept {
    constexpr std::string_view urn = "urn:uuid:";
    if (text.size() == 38 && text.front() == '{' && text.back() == '}') {
        return parse_uuid(text.substr(1, 36));
    }
    if (text.size() == urn.size() + 36 && text.starts_with(urn)) {
        return parse_uuid(text.substr(urn.size()));
    }
    if (text.size() != 32) return parse_uuid(text);
    std::array<char, 36> hyphenated{};
    auto out = hyphenated.begin();
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (i == 8 || i == 12 || i == 16 || i == 20) *out++ = '-';
        *out++ = text[i];
    }
    return parse_uuid({hyphenated.data(), hyphenated.size()});
}

bool is_sync_path(std::string_view path) noexcept {
    return path == "/" || path.starts_with("/v1/client/");
}

std::variant<sync_head, http_response> read_sync_head(const sync_options& options,
                                                      const route& where, std::string_view path_id,
                                                      const net::http_header& header) {
    const std::string_view type = type_of_body(where);
    sync_head head;
    if (!path_id.empty()) {
        const auto version = parse_uuid_in_any_form(wire::percent_decoded(path_id));
        if (!version) return reject_sync(404, "not a UUID in the path", "malformed-path");
        head.version = *version;
    }
    if (!type.empty() && media_type_of(header) != type) {
        return reject_sync(400, "Bad content-type", "wrong-content-type");
    }
    const auto sent = first_of(header, client_field);
    const auto client = sent ? parse_uuid_in_any_form(*sent) : std::nullopt;
    if (!client) return reject_sync(400, "bad x-client-id", "no-client-id");
    if (!is_allowed(options, *client)) {
        return reject_sync(403, "unknown x-client-id", "client-not-allowed");
    }
    head.client = *client;
    return head;
}

awaitable<result<std::optional<known_client>>> client_of(sync_context& s, request_context& c) {
    const uuid client = c.head.sync.client;
    const auto tell = [&c](const known_client& known) {
        c.account_name = known.account_name;
        c.device_name = known.name;
    };
    if (const known_client* known = s.clients.find(client); known && !known->account_name.empty()) {
        tell(*known);
        co_return *known;
    }
    // If a client was removed from the cache concurrently, it may be this one. An admitted client
    // must be cached: its body's limit depends on it.
    for (;;) {
        const std::uint64_t edition = s.clients.edition();
        const auto found = co_await s.engine.ask(find_device{client});
        if (!found) co_return found.error();
        if (!*found) co_return std::nullopt;
        if (edition != s.clients.edition()) continue;
        const device& d = **found;
        known_client known{.account = d.account,
                           .device = d.id,
                           .mode = d.mode,
                           .revoked = d.revoked_at.has_value(),
                           .closed = d.state != account_state::active,
                           .resync = d.resync,
                           .account_name = d.account_name,
                           .name = d.name};
        tell(known);
        if (d.mode == account_mode::managed) known.key = jobs::open_device_key(s.jobs.master, d);
        s.clients.remember(client, known);
        co_return known;
    }
}

// Proxies and browsers must not respond instead: a stale "up to date" breaks a client.
http_response answer_sync(unsigned status) {
    http_response response;
    response.status = status;
    response.is_followed = status == 200;
    response.headers.emplace_back("Cache-Control", "no-store, max-age=0");
    return response;
}

http_response answer_text(unsigned status, std::string_view text) {
    http_response response = answer_sync(status);
    response.content_type = "text/plain; charset=utf-8";
    response.body = text;
    return response;
}

// A client that is up to date pushes, or its sync ends here.
http_response answer_none(std::string_view what) {
    http_response response = answer_text(404, what);
    response.is_followed = true;
    return response;
}

http_response reject_sync(unsigned status, std::string_view why, std::string_view reason) {
    return logged_as(answer_text(status, why), "sync-rejected", reason);
}

http_response reject_for_now(std::string_view why, std::string_view reason) {
    http_response response = reject_sync(503, why, reason);
    set_retry_after(response, std::chrono::seconds{1});
    return response;
}

http_response reject_unknown_client() {
    return reject_sync(404, "No such client", "unknown-client");
}

http_response fail_sync(const boost::system::error_code& error) {
    const rejected why = rejected_for(error);
    http_response response = reject_sync(why.kind.status, error.message(), why.kind.code);
    if (why.ask_again) set_retry_after(response, std::chrono::seconds{1});
    return response;
}

http_response reject_crowded() {
    return reject_for_now("too many requests in progress: retry", problems::overloaded.code);
}

http_response reject_full() {
    return reject_sync(problems::account_full.status, "the account's storage limit is reached",
                       problems::account_full.code);
}

http_response reject_closed() {
    return reject_sync(403, "this account is disabled", "account-disabled");
}

http_response answer_changed() {
    return reject_for_now("the account was converted to a managed account: retry",
                          "account-changed");
}

void add_version_header(http_response& response, const uuid& version) {
    response.headers.emplace_back("X-Version-Id", to_string(version));
}

void add_parent_header(http_response& response, const uuid& parent) {
    response.headers.emplace_back("X-Parent-Version-Id", to_string(parent));
}

awaitable<net::admission> admit_to_sync(sync_context& s, request_context& c) {
    const auto client = co_await client_of(s, c);
    if (!client) co_return net::admission{.rejected = fail_sync(client.error())};
    if (!*client) {
        // An anonymous client, which registers with a first version if that is allowed.
        const bool may_open = s.options.open_registration && c.head.route->takes == body::segment;
        if (may_open) co_return net::admission{};
        co_return net::admission{.rejected = reject_unknown_client()};
    }
    if ((*client)->closed) co_return net::admission{.rejected = reject_closed()};
    const bool is_revoked = (*client)->mode == account_mode::managed && (*client)->revoked;
    if (is_revoked) co_return net::admission{.rejected = reject_revoked()};
    co_return net::admission{.payer = (*client)->account};
}

net::body_limits sync_body_limits(const sync_context& s, std::size_t usual_bytes_max,
                                  std::size_t large_bytes_max, const route& where,
                                  const request_head& head) {
    // The handler returns the same response to a smaller body.
    if (head.sync_rejected) {
        return {.bytes_max = usual_bytes_max, .too_large = head.sync_rejected};
    }
    // Admitted clients are cached, unless they are unknown.
    const bool is_known = s.clients.find(head.sync.client) != nullptr;
    const bool may_be_large = is_known || s.options.open_registration;
    return {
        .bytes_max = may_be_large ? large_bytes_max : std::min(large_bytes_max, usual_bytes_max),
        .too_large =
            where.takes == body::segment
                ? reject_sync(400, "overflow", "segment-too-large")
                : reject_sync(400, "Snapshot over maximum allowed size", "snapshot-too-large"),
    };
}

}  // namespace callsign::api
