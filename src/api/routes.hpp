#pragma once
// The route table: everything there is, and everything there is to know about a route.

#include "contexts.hpp"
#include "request_context.hpp"

#include <span>
#include <string_view>

namespace callsign::api {

using handler = awaitable<http_response> (*)(contexts&, request_context&);

// Who may call a route.
enum class access : std::uint8_t {
    anyone,
    // A token of an account with this scope or a larger one.
    read,
    write,
    admin,
    // A token without an account.
    operators,
    // A client id in X-Client-Id; the handler checks it.
    device,
};

// What a route's body is, and by that how large it may be: a message has net's usual bound, a
// segment and a snapshot those of sync_options; one that nobody looks at is only let pass.
enum class body : std::uint8_t { none, message, segment, snapshot };

struct route {
    verb method;
    std::string_view path;
    access needs;
    body takes;
    handler run;
    // Its answer is neither JSON nor protobuf, whatever the request accepts; its problems are JSON.
    bool has_own_form = false;
    // What its captures must be beyond the template, or the path is not there; null: anything.
    bool (*fits)(const captures&) = nullptr;

    // No token is asked for.
    constexpr bool is_open() const { return needs == access::anyone || needs == access::device; }
};

// A path's first line of a method wins.
std::span<const route> all_routes() noexcept;

}  // namespace callsign::api
