#pragma once
// The feed of changes: long poll, event stream, WebSocket.

#include "followers.hpp"
#include "shared/request_context.hpp"
#include "shared/tickets.hpp"

#include <callsign/engine/engine.hpp>
#include <callsign/jobs/feed_pages.hpp>

#include <string>

namespace callsign::api {

// Outlives every request.
struct feed_context {
    callsign::engine& engine;
    callsign::clock& clock;
    const feed_options& options;
    api::followers& followers;
    jobs::feed_pages& pages;
    const std::string& key_attribute;  // attribute for tasks' keys; empty: none
    callsign::entropy& entropy;
    api::tickets& tickets;
};

// changes.cpp
awaitable<http_response> get_changes(feed_context& f, request_context& c);
// tickets.cpp
awaitable<http_response> post_ticket(feed_context& f, request_context& c);
// stream.cpp
awaitable<http_response> get_changes_stream(feed_context& f, request_context& c);
// socket.cpp
awaitable<http_response> get_changes_socket(feed_context& f, request_context& c);

}  // namespace callsign::api
