#pragma once
// A route: what it needs of its caller, what it takes, and its handler.

#include <callsign/net/http.hpp>

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/beast/http/verb.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace callsign::api {

using boost::asio::awaitable;
using boost::beast::http::verb;
using net::http_response;

struct contexts;
struct request_context;

using handler = awaitable<http_response> (*)(contexts&, request_context&);

// Segments of a path, still percent-encoded.
constexpr std::size_t captures_max = 2;
using captures = std::array<std::string_view, captures_max>;

// What a caller needs for a route.
enum class access : std::uint8_t {
    anyone,
    // A token of an account with this scope or a larger one.
    read,
    write,
    admin,
    // A token without an account.
    operators,
    // A client ID in X-Client-Id, which the handler checks.
    device,
};

// The body of a route, which determines its maximum size: net's usual limit for a message, those of
// sync_options for a segment and a snapshot, a small one for a body that is not read.
enum class body : std::uint8_t { none, message, segment, snapshot };

// The Idempotency-Key of a route other than creations of tasks (shared/request_key.hpp). secret:
// the response has one.
enum class keyed : std::uint8_t { no, yes, secret };

struct route {
    verb method;
    std::string_view path;
    access needs = access::anyone;
    body takes = body::none;
    handler run = nullptr;
    api::keyed keyed = keyed::no;
    // The response is neither JSON nor protobuf, whatever is accepted; its problems are JSON.
    bool has_own_form = false;
    // Checks the captures, besides the template; if false, the path does not exist. Null: no check.
    bool (*fits)(const captures&) = nullptr;

    // Admits a ticket in the query (tickets.hpp) instead of a token.
    bool takes_ticket = false;

    // Returns whether no token is needed.
    constexpr bool is_open() const { return needs == access::anyone || needs == access::device; }
};

}  // namespace callsign::api
