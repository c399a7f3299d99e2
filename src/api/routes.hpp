#pragma once
// The route table.

#include "contexts.hpp"
#include "request_context.hpp"

#include <span>
#include <string_view>

namespace callsign::api {

using handler = awaitable<http_response> (*)(contexts&, request_context&);

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

struct route {
    verb method;
    std::string_view path;
    access needs;
    body takes;
    handler run;
    // The response is neither JSON nor protobuf, whatever is accepted; its problems are JSON.
    bool has_own_form = false;
    // Checks the captures, besides the template; if false, the path does not exist. Null: no check.
    bool (*fits)(const captures&) = nullptr;

    // Returns whether no token is needed.
    constexpr bool is_open() const { return needs == access::anyone || needs == access::device; }
};

// The first entry of a path and method applies.
std::span<const route> all_routes() noexcept;

}  // namespace callsign::api
