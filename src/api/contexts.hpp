#pragma once
// Contexts of the groups of handlers. They outlive every request.

#include "feed/context.hpp"
#include "webhooks/context.hpp"

#include <callsign/api/service.hpp>
#include <callsign/jobs/backups.hpp>
#include <callsign/jobs/context.hpp>

namespace callsign::jobs {
class ordered_lists;
class server_snapshots;
}  // namespace callsign::jobs

namespace callsign::api {

class known_clients;
class sync_sessions;
class registrations;
class turnstile;

struct rest_context {
    callsign::engine& engine;
    jobs::context& jobs;
    callsign::entropy& entropy;
    callsign::clock& clock;
    jobs::ordered_lists& lists;
    const std::string& key_attribute;  // attribute for tasks' keys; empty: none
    const std::string public_url;      // as in api_options
    const bool speaks_tls;
};

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

struct admin_context {
    callsign::engine& engine;
    jobs::context& jobs;
    callsign::reaper& reaper;
    callsign::clock& clock;
    callsign::entropy& entropy;
    const std::int64_t& late_retries;  // retries answered with slot-failed since the start
    const elsewhere_service& elsewhere;
    jobs::backups& backups;
};

struct ops_context {
    callsign::engine& engine;
    const service_hooks& hooks;
};

struct web_context {
    const web_options& options;
};

struct contexts {
    rest_context rest;
    feed_context feed;
    webhook_context webhooks;
    sync_context sync;
    admin_context admin;
    ops_context ops;
    web_context web;
};

}  // namespace callsign::api
