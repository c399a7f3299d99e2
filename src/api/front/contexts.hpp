#pragma once
// Contexts of all groups of handlers. They outlive every request.

#include "admin/handlers.hpp"
#include "feed/handlers.hpp"
#include "ops/handlers.hpp"
#include "rest/handlers.hpp"
#include "sync/handlers.hpp"
#include "web/handlers.hpp"
#include "webhooks/handlers.hpp"

namespace callsign::api {

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
