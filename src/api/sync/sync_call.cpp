#include "sync_call.hpp"

#include "../derivation.hpp"
#include "managed.hpp"

#include <callsign/base/text.hpp>

#include <algorithm>

namespace callsign::api {
namespace {

constexpr std::string_view client_field = "X-Client-Id";

// The first of that name; nullopt: there is none.
std::optional<std::string_view> first_of(const net::http_header& header, std::string_view name) {
    const auto [first, last] = header.equal_range({name.data(), name.size()});
    if (first == last) return std::nullopt;
    return std::string_view(first->value().data(), first->value().size());
}

// Up to the parameters, without the white space around it.
std::string_view media_type_of(const net::http_header& header) {
    const std::string_view type = first_of(header, "Content-Type").value_or("");
    return trimmed(type.substr(0, type.find(';')));
}

// Of a client's request to this route; empty: it has no body of its own.
std::string_view type_of_body(const route& where) {
    switch (where.large) {
    case large_body::no: return {};
    case large_body::segment: return segment_type;
    case large_body::snapshot: return snapshot_type;
    }
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
                                                      std::string_view path_id,
                                                      std::string_view type,
                                                      const net::http_header& header) {
    sync_head head;
    if (!path_id.empty()) {
        const auto version = parse_uuid_in_any_form(percent_decoded(path_id));
        if (!version) return refuse_sync(404, "not a UUID in the path");
        head.version = *version;
    }
    if (!type.empty() && media_type_of(header) != type) {
        return refuse_sync(400, "Bad content-type");
    }
    const auto sent = first_of(header, client_field);
    const auto client = sent ? parse_uuid_in_any_form(*sent) : std::nullopt;
    if (!client) return refuse_sync(400, "bad x-client-id");
    if (!is_allowed(options, *client)) return refuse_sync(403, "unknown x-client-id");
    head.client = *client;
    return head;
}

awaitable<result<std::optional<known_client>>> client_of(rooms& r, uuid client) {
    if (const known_client* known = r.clients.find(client)) co_return *known;
    const std::uint64_t edition = r.clients.edition();
    auto question = [client](read_tx& tx) { return tx.find_device(client); };
    const auto found = co_await r.engine.ask(payer::strangers(), std::move(question));
    if (!found) co_return found.error();
    if (!*found) co_return std::nullopt;
    const device& d = **found;
    known_client known{.account = d.account, .mode = d.mode, .revoked = d.revoked_at.has_value()};
    if (d.mode == account_mode::managed) known.key = open_device_key(r.master, d);
    // What was forgotten meanwhile may be just this.
    if (edition == r.clients.edition()) r.clients.remember(client, known);
    co_return known;
}

// Proxies and browsers must not answer in our place: a stale "up to date" breaks a client.
http_response answer_sync(unsigned status) {
    http_response response;
    response.status = status;
    response.headers.emplace_back("Cache-Control", "no-store, max-age=0");
    return response;
}

http_response refuse_sync(unsigned status, std::string_view why) {
    http_response response = answer_sync(status);
    response.content_type = "text/plain; charset=utf-8";
    response.body = why;
    return response;
}

http_response fail_sync(const call& c, const boost::system::error_code& error) {
    const http_response usual = answer_error(c, error);
    http_response response = refuse_sync(usual.status, error.message());
    for (const auto& field : usual.headers) response.headers.push_back(field);
    return response;
}

http_response refuse_crowded() {
    http_response response = refuse_sync(503, "too many bodies are under way: ask again");
    response.headers.emplace_back("Retry-After", "1");
    return response;
}

bool is_managed(read_tx& tx, account_id account) {
    const auto found = tx.find_account(account);
    return found && found->mode == account_mode::managed;
}

http_response answer_changed() {
    http_response response = refuse_sync(503, "the account has just become managed");
    response.headers.emplace_back("Retry-After", "1");
    return response;
}

void add_version_header(http_response& response, const uuid& version) {
    response.headers.emplace_back("X-Version-Id", to_string(version));
}

void add_parent_header(http_response& response, const uuid& parent) {
    response.headers.emplace_back("X-Parent-Version-Id", to_string(parent));
}

std::size_t large_bytes_max(const sync_options& options, const route& where) noexcept {
    return where.large == large_body::segment ? options.segment_bytes_max
                                              : options.snapshot_bytes_max;
}

awaitable<net::admission> admit_to_sync(rooms& r, call& c) {
    auto head = read_sync_head(r.sync, c.captured[0], type_of_body(*c.where), c.request);
    if (auto* refused = std::get_if<http_response>(&head)) {
        co_return net::admission{.refused = std::move(*refused)};
    }
    const auto client = co_await client_of(r, std::get<sync_head>(head).client);
    if (!client) co_return net::admission{.refused = fail_sync(c, client.error())};
    if (!*client) {
        // A stranger, who opens an account with a first version if that is allowed.
        const bool may_open = r.sync.open_registration && c.where->large == large_body::segment;
        if (may_open) co_return net::admission{};
        co_return net::admission{.refused = refuse_sync(404, "No such client")};
    }
    const bool is_revoked = (*client)->mode == account_mode::managed && (*client)->revoked;
    if (is_revoked) co_return net::admission{.refused = refuse_revoked()};
    co_return net::admission{.payer = (*client)->account.value};
}

net::body_terms terms_of_sync(const rooms& r, std::size_t usual_bytes_max, const route& where,
                              std::string_view path_id, const net::http_header& header) {
    const bool is_segment = where.large == large_body::segment;
    const std::size_t most = large_bytes_max(r.sync, where);
    auto head = read_sync_head(r.sync, path_id, type_of_body(where), header);
    if (auto* refused = std::get_if<http_response>(&head)) {
        // Its handler says the same of a smaller one.
        return {.bytes_max = usual_bytes_max, .too_large = std::move(*refused)};
    }
    // Who was admitted is remembered, unless nobody knows him.
    const bool is_known = r.clients.find(std::get<sync_head>(head).client) != nullptr;
    return {
        .bytes_max = is_known || r.sync.open_registration ? most : std::min(most, usual_bytes_max),
        .too_large =
            refuse_sync(400, is_segment ? "overflow" : "Snapshot over maximum allowed size"),
    };
}

}  // namespace callsign::api
