#pragma once
// The feed of changes: long poll, event stream, WebSocket.

#include "../request_context.hpp"
#include "context.hpp"

namespace callsign::api {

// changes.cpp
awaitable<http_response> list_changes(feed_context& f, request_context& c);
// stream.cpp
awaitable<http_response> stream_changes(feed_context& f, request_context& c);
// socket.cpp
awaitable<http_response> open_feed_socket(feed_context& f, request_context& c);

}  // namespace callsign::api
