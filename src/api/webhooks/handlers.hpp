#pragma once
// Webhooks of an account: created, shown, edited, removed.

#include "../request_context.hpp"
#include "context.hpp"

namespace callsign::api {

awaitable<http_response> list_webhooks(webhook_context& w, request_context& c);
awaitable<http_response> add_webhook(webhook_context& w, request_context& c);
awaitable<http_response> show_webhook(webhook_context& w, request_context& c);
awaitable<http_response> change_webhook(webhook_context& w, request_context& c);
awaitable<http_response> remove_webhook(webhook_context& w, request_context& c);
awaitable<http_response> list_deliveries(webhook_context& w, request_context& c);

}  // namespace callsign::api
