#pragma once
// Invariants for any request head on the server's own path: from bytes to a request, to a route, to
// a handler on a store. Driven like targets.hpp.

#include "api/front/head.hpp"
#include "api/sync/sync_call.hpp"
#include "net/request_reader.hpp"
#include "support/test_server.hpp"

#include <callsign/base/assert.hpp>
#include <callsign/base/hex.hpp>
#include <callsign/base/uuid.hpp>
#include <callsign/wire/media_types.hpp>
#include <callsign/wire/parameters.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace callsign::testing {

// ---- ids ----

// The documented forms, implemented independently of the server.
inline bool is_id_in_some_form(std::string_view text) {
    constexpr std::string_view form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    const auto as_in = [](char c, char x) {
        return x == '-' ? c == '-' : std::isxdigit(static_cast<unsigned char>(c)) != 0;
    };
    constexpr std::string_view urn = "urn:uuid:";
    const bool in_braces = text.size() == 38 && text.front() == '{' && text.back() == '}';
    const bool named = text.size() == 45 && text.starts_with(urn);
    if (in_braces) text = text.substr(1, 36);
    if (named) text.remove_prefix(urn.size());
    if (text.size() == 36) return std::equal(text.begin(), text.end(), form.begin(), as_in);
    return text.size() == 32 && !in_braces && !named &&
           std::all_of(text.begin(), text.end(), [&](char c) { return as_in(c, 'x'); });
}

// An id is read if it has one of the documented forms, and keeps its digits.
inline bool fuzz_id(std::string_view text) {
    const auto id = api::parse_uuid_in_any_form(text);
    CALLSIGN_ASSERT(id.has_value() == is_id_in_some_form(text));
    if (!id) return false;
    std::string digits;
    if (text.starts_with("urn:uuid:")) text.remove_prefix(9);
    for (const char c : text) {
        if (hex_value(c) < 0) continue;
        if (digits.size() == 8 || digits.size() == 13 || digits.size() == 18 ||
            digits.size() == 23) {
            digits += '-';
        }
        digits += "0123456789abcdef"[hex_value(c)];
    }
    CALLSIGN_ASSERT(to_string(*id) == digits);
    CALLSIGN_ASSERT(parse_uuid(digits) == id);
    return true;
}

// ---- heads ----

// A server on which most routes find something: an account, a client that has sent a version, and
// open registration. It has no master key, so that no request makes it derive keys.
class fuzzed_server {
  public:
    static constexpr const char* client = "9d2b6c9e-2f47-4a55-9b4f-6f0f5f2c7a11";

    fuzzed_server() : server_({.service = {.sync = options()}}) {
        account_token_ = server_.make_account("syn", "SYN").token;
        operator_token_ = server_.operator_token();
        const auto made = server_.call(make_request(
            boost::beast::http::verb::post,
            "/v1/client/add-version/00000000-0000-0000-0000-000000000000", "sealed",
            {{"X-Client-Id", client}, {"Content-Type", std::string(wire::media_type::segment)}}));
        CALLSIGN_ASSERT(made.status == 200);
    }

    static api::sync_options options() {
        api::sync_options chosen;
        chosen.open_registration = true;
        chosen.turnstile = milliseconds{0};
        return chosen;
    }

    const std::string& account_token() const { return account_token_; }
    const std::string& operator_token() const { return operator_token_; }
    test_server& rooms() { return server_; }

  private:
    test_server server_;
    std::string account_token_;
    std::string operator_token_;
};

// The statuses of a server without internal errors.
inline bool is_documented(unsigned status) {
    static constexpr std::array<unsigned, 19> all{200, 201, 204, 304, 400, 401, 403, 404, 405, 406,
                                                  409, 410, 412, 413, 415, 417, 422, 431, 503};
    return std::binary_search(all.begin(), all.end(), status);
}

struct sync_route {
    boost::beast::http::verb method;
    std::string_view path;
    std::string_view type;
};

// The sync route with an id in its path; null for other requests.
inline const sync_route* sync_route_of(const net::http_request& request) {
    using boost::beast::http::verb;
    static constexpr std::array<sync_route, 3> all{
        {{verb::post, "/v1/client/add-version/", wire::media_type::segment},
         {verb::get, "/v1/client/get-child-version/", ""},
         {verb::post, "/v1/client/add-snapshot/", wire::media_type::snapshot}}};
    for (const sync_route& r : all) {
        if (request.method() != r.method || !request.path().starts_with(r.path)) continue;
        const std::string_view id = request.path().substr(r.path.size());
        if (!id.empty() && id.find('/') == id.npos) return &r;
    }
    return nullptr;
}

// The status with which the head of a sync request is rejected; 0 if it is accepted.
inline unsigned rejection_of(const net::http_request& request, const sync_route& route) {
    const auto value_of = [&](const char* name) {
        const auto found = request.find(name);
        return found == request.end() ? std::string() : std::string(found->value());
    };
    const auto id = wire::percent_decoded(request.path().substr(route.path.size()));
    if (!is_id_in_some_form(id)) return 404;
    std::string type = value_of("Content-Type");
    type.erase(std::min(type.find(';'), type.size()));
    type.erase(type.find_last_not_of(" \t") + 1);
    if (!route.type.empty() && type != route.type) return 400;
    return is_id_in_some_form(value_of("X-Client-Id")) ? 0 : 400;
}

inline void check_answer(fuzzed_server& server, const net::http_request& request) {
    const auto answer = server.rooms().call(request);
    CALLSIGN_ASSERT(is_documented(answer.status));
    CALLSIGN_ASSERT(!server.rooms().fatal());
    const sync_route* const route = sync_route_of(request);
    if (!route) return;
    const auto head = api::read_head(request, fuzzed_server::options());
    const unsigned rejected = rejection_of(request, *route);
    if (head->sync_rejected) {
        CALLSIGN_ASSERT(head->sync_rejected->status == rejected && answer.status == rejected);
        CALLSIGN_ASSERT(answer.body == head->sync_rejected->body);
    } else {
        CALLSIGN_ASSERT(rejected == 0 && request.count("X-Client-Id") > 0);
        const auto client = api::parse_uuid_in_any_form(request["X-Client-Id"]);
        CALLSIGN_ASSERT(head->sync.client == client);
    }
}

// True if the server accepts the body; a request that it rejects before the body it must also
// reject as a whole.
inline bool may_come(fuzzed_server& server, const net::request_reader& reader) {
    net::http_request head;
    head.base() = reader.header();
    head.notes = reader.notes();
    head.id = "test";
    const auto given = server.rooms().admit(std::move(head));
    CALLSIGN_ASSERT(!given.rejected || is_documented(given.rejected->status));
    return !given.rejected;
}

// Feeds the bytes in pieces of these sizes, repeated in order; in one piece if there are none.
// Returns true if a request reached a handler or was rejected before its body.
inline bool answer_all(fuzzed_server& server, std::string_view bytes,
                       const std::vector<std::size_t>& pieces = {}) {
    using step = net::request_reader::step;
    const net::http_options options;
    net::http_hooks hooks;
    hooks.body_limits_of = [&](const net::http_header& header) {
        return server.rooms().service().body_limits_of(header, options.body_bytes_max);
    };
    net::body_lease memory;
    net::request_reader reader(options, hooks, memory);
    bool answered = false;
    std::size_t reads = 0;
    for (reader.begin();;) {
        const step next = reader.advance();
        if (next == step::rejected) {
            const auto& why = reader.why();
            CALLSIGN_ASSERT(is_documented(why.said ? why.said->status : why.status));
            return answered;
        }
        if (next == step::ask && !may_come(server, reader)) return true;
        if (next == step::ready) {
            net::http_request request = reader.take();
            request.notes = reader.notes();
            check_answer(server, request);
            answered = true;
            reader.begin();
        } else if (next == step::need_more) {
            if (bytes.empty()) return answered;
            const auto space = reader.space();
            CALLSIGN_ASSERT(space.size() > 0);
            std::size_t some = std::min(bytes.size(), space.size());
            if (!pieces.empty()) some = std::min(some, pieces[reads++ % pieces.size()]);
            std::memcpy(space.data(), bytes.data(), some);
            reader.received(some);
            bytes.remove_prefix(some);
        }
    }
}

// Any bytes as requests.
inline bool fuzz_head(std::string_view bytes) {
    fuzzed_server server;
    return answer_all(server, bytes);
}

// The requests that a reader finds: each of them, and the error code that rejected the last one.
inline std::string read_in(std::string_view bytes, const std::vector<std::size_t>& pieces) {
    using step = net::request_reader::step;
    const net::http_options options;
    const net::http_hooks hooks;
    net::body_lease memory;
    net::request_reader reader(options, hooks, memory);
    std::string out;
    std::size_t reads = 0;
    for (reader.begin();;) {
        const step next = reader.advance();
        if (next == step::rejected) return out + std::string(reader.why().code);
        if (next == step::ready) {
            const net::http_request request = reader.take();
            out += std::string(request.method_string()) + " " + std::string(request.target());
            for (const auto& field : request) {
                out += "|" + std::string(field.name_string()) + ":" + std::string(field.value());
            }
            out += "|" + request.body() + "\n";
            reader.begin();
        } else if (next == step::need_more) {
            if (bytes.empty()) return out;
            const auto space = reader.space();
            const std::size_t some =
                std::min({bytes.size(), space.size(), pieces[reads++ % pieces.size()]});
            std::memcpy(space.data(), bytes.data(), some);
            reader.received(some);
            bytes.remove_prefix(some);
        }
    }
}

// The first four bytes are the sizes of pieces, the rest is the input: in pieces it is read as it
// is in one piece.
inline bool fuzz_pieces(std::string_view bytes) {
    std::vector<std::size_t> pieces;
    for (; pieces.size() < 4 && !bytes.empty(); bytes.remove_prefix(1)) {
        pieces.push_back(static_cast<std::uint8_t>(bytes.front()) % 32 + 1u);
    }
    if (pieces.empty()) return false;
    const std::string whole = read_in(bytes, {bytes.size() + 1});
    CALLSIGN_ASSERT(read_in(bytes, pieces) == whole);
    CALLSIGN_ASSERT(read_in(bytes, {1}) == whole);
    return whole.find('\n') != whole.npos;
}

// ---- heads that are mostly well formed ----

// Choices, each from one byte of the input; after its end, always the first option.
class chooser {
  public:
    explicit chooser(std::string_view bytes) : rest_(bytes) {}

    std::size_t below(std::size_t limit) {
        if (rest_.empty()) return 0;
        const auto byte = static_cast<std::uint8_t>(rest_.front());
        rest_.remove_prefix(1);
        return byte % limit;
    }

    template <std::size_t Count>
    std::string one_of(const std::array<std::string_view, Count>& all) {
        return std::string(all[below(Count)]);
    }

    std::string text() {
        const std::size_t size = below(32);
        const std::string_view some = rest_.substr(0, size);
        rest_.remove_prefix(some.size());
        return std::string(some);
    }

  private:
    std::string_view rest_;
};

inline std::string choose_id(chooser& c) {
    std::string id = c.one_of<4>({fuzzed_server::client, "00000000-0000-0000-0000-000000000000",
                                  "F70ED568-0132-4FB2-AD77-19C4C8C0C321",
                                  "f70ed568-0132-4fb2-ad77-19c4c8c0c321"});
    switch (c.below(8)) {
    case 0: id = "{" + id + "}"; break;
    case 1: id = "urn:uuid:" + id; break;
    case 2: std::erase(id, '-'); break;
    case 3: id = "{urn:uuid:" + id + "}"; break;
    default: break;
    }
    const std::size_t damage = c.below(8);
    const std::size_t at = c.below(id.size());
    switch (damage) {
    case 0: id.erase(at, 1 + c.below(3)); break;
    case 1: id.insert(at, c.one_of<4>({"-", "0", "%00", "}{"})); break;
    case 2: id[at] = "-g{}: %\t"[c.below(8)]; break;
    case 3: id += id; break;
    default: break;
    }
    return id;
}

inline std::string choose_target(chooser& c) {
    std::string target = c.one_of<20>({"/v1/client/add-version/ID",
                                       "/v1/client/get-child-version/ID",
                                       "/v1/client/add-snapshot/ID",
                                       "/v1/client/snapshot",
                                       "/v1/tasks",
                                       "/v1/tasks/ID",
                                       "/v1/tasks/SYN-1",
                                       "/v1/slots/ID",
                                       "/",
                                       "/v1/account",
                                       "/v1/series",
                                       "/v1/tokens",
                                       "/v1/devices/ID",
                                       "/v1/admin/accounts/syn/series",
                                       "/v1/admin/client",
                                       "/v1/admin/client/versions/ID",
                                       "/v1/admin/slots?account=syn&pageSize=ID",
                                       "/v1/admin/accounts/ID/manage",
                                       "/v1/client/ID",
                                       "/metrics"});
    if (const auto at = target.find("ID"); at != target.npos) {
        std::string id = choose_id(c);
        // Escapes part of it, as proxies do.
        if (c.below(3) == 0) {
            const std::size_t where = c.below(id.size());
            constexpr std::string_view digits = "0123456789ABCDEF";
            const auto byte = static_cast<std::uint8_t>(id[where]);
            id.replace(where, 1, {'%', digits[byte / 16], digits[byte % 16]});
        }
        target.replace(at, 2, id);
    }
    if (c.below(8) == 0) target += "?pageSize=" + std::to_string(c.below(256));
    if (c.below(16) == 0) target += "/" + c.text();
    if (c.below(8) == 0) target.insert(0, "http://h");
    return target;
}

// One statement per choice: compilers evaluate the operands of an expression in different orders.
inline std::string choose_field(chooser& c, const fuzzed_server& server) {
    const auto kind = c.below(32);
    if (kind < 10) {
        std::string field = c.one_of<2>({"X-Client-Id: ", "x-client-id:\t"});
        return field += choose_id(c);
    }
    if (kind < 18) {
        std::string field = "Content-Type: ";
        field +=
            c.one_of<6>({wire::media_type::segment, wire::media_type::snapshot, "application/json",
                         "application/merge-patch+json", "application/x-protobuf", "*/*"});
        return field += c.one_of<5>({"", ";", " ; charset=utf-8", ";q=\"", ", text/plain"});
    }
    if (kind < 24) {
        return "Authorization: Bearer " +
               (c.below(2) == 0 ? server.account_token() : server.operator_token());
    }
    if (kind < 28) {
        return "Idempotency-Key: " + c.one_of<4>({"k", "\"k\"", "\"k\";a", "\"k"});
    }
    if (kind < 30) {
        return c.one_of<6>({"If-Match: \"1\"", "Accept: ", "Expect: 100-continue",
                            "If-None-Match: ", "Host: ", "Connection: "});
    }
    std::string field = c.text() + ":";
    return field += c.text();
}

// A chunked body, with extensions and trailers, and sometimes corrupted.
inline std::string choose_chunks(chooser& c, std::string_view body) {
    std::string out;
    while (!body.empty()) {
        const std::string_view chunk = body.substr(0, c.below(8) + 1);
        body.remove_prefix(chunk.size());
        std::array<char, 16> size{};
        const auto end = std::to_chars(size.data(), size.data() + size.size(), chunk.size(), 16);
        out.append(size.data(), end.ptr);
        out += c.one_of<4>({"", ";a", ";a=b", ";a=\"b c\""}) + "\r\n";
        out.append(chunk) += "\r\n";
    }
    out += c.one_of<4>({"0", "0;a", "00", "000000"}) + "\r\n";
    for (std::size_t fields = c.below(3); fields > 0; --fields) {
        out +=
            c.one_of<4>({"A: b", "Authorization: Bearer x", "Content-Length: 5", "Host:"}) + "\r\n";
    }
    out += "\r\n";
    if (c.below(4) == 0) out.erase(c.below(out.size()), c.below(3));
    if (c.below(4) == 0) out.insert(c.below(out.size()), c.one_of<4>({"\r", "\n", "0", ";"}));
    return out;
}

// A request whose parts the input chooses.
inline bool fuzz_chosen_head(std::string_view bytes) {
    fuzzed_server server;
    chooser c(bytes);
    std::string request =
        c.one_of<8>({"GET ", "POST ", "GET ", "POST ", "HEAD ", "PUT ", "PATCH ", "DELETE "});
    request += choose_target(c);
    request += " HTTP/1.1\r\nHost: h\r\n";
    for (std::size_t fields = c.below(6); fields > 0; --fields) {
        request += choose_field(c, server) + "\r\n";
    }
    const std::string body = c.below(2) == 0 ? "{}" : c.text();
    if (c.below(2) == 0) {
        request += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    } else {
        request += "Transfer-Encoding: chunked\r\n\r\n" + choose_chunks(c, body);
    }
    std::vector<std::size_t> pieces;
    for (std::size_t count = c.below(4); count > 0; --count) pieces.push_back(c.below(64) + 1);
    return answer_all(server, request, pieces);
}

}  // namespace callsign::testing
