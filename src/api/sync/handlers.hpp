#pragma once
// TaskChampion's protocol, /v1/client/*.

#include "contexts.hpp"
#include "request_context.hpp"

namespace callsign::api {

// versions.cpp
awaitable<http_response> add_version(sync_context& s, request_context& c);
awaitable<http_response> get_child_version(sync_context& s, request_context& c);
// snapshots.cpp
awaitable<http_response> add_snapshot(sync_context& s, request_context& c);
awaitable<http_response> get_snapshot(sync_context& s, request_context& c);

}  // namespace callsign::api
