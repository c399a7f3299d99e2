#pragma once
// TaskChampion's protocol, /v1/client/*.

#include "shared/request_context.hpp"

#include <callsign/api/sync_options.hpp>
#include <callsign/engine/engine.hpp>
#include <callsign/jobs/context.hpp>
#include <callsign/jobs/snapshots.hpp>

namespace callsign::api {

class known_clients;
class sync_sessions;
class registrations;
class turnstile;

// Outlives every request.
struct sync_context {
    callsign::engine& engine;
    jobs::context& jobs;
    callsign::clock& clock;
    const sync_options& options;
    api::turnstile& turnstile;
    known_clients& clients;
    sync_sessions& sessions;
    api::registrations& registrations;
    jobs::server_snapshots& snapshots;
};

// versions.cpp
awaitable<http_response> post_version(sync_context& s, request_context& c);
awaitable<http_response> get_child_version(sync_context& s, request_context& c);
// snapshots.cpp
awaitable<http_response> post_snapshot(sync_context& s, request_context& c);
awaitable<http_response> get_snapshot(sync_context& s, request_context& c);

}  // namespace callsign::api
