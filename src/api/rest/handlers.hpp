#pragma once
// The REST API: tasks, and the account's own settings.

#include "shared/request_context.hpp"

#include <callsign/engine/engine.hpp>
#include <callsign/jobs/context.hpp>
#include <callsign/jobs/ordered_lists.hpp>

#include <string>

namespace callsign::api {

// Outlives every request.
struct rest_context {
    callsign::engine& engine;
    jobs::context& jobs;
    callsign::entropy& entropy;
    callsign::clock& clock;
    jobs::ordered_lists& lists;
    const std::string& key_attribute;  // attribute for tasks' keys; empty: none
    const std::string public_url;      // as in api_options
    const bool speaks_tls;
    // Of the store, once a creation has asked for it: for ETags of receipts.
    std::optional<uuid> instance{};
};

// tasks.cpp
awaitable<http_response> post_task(rest_context& r, request_context& c);
awaitable<http_response> get_task(rest_context& r, request_context& c);
// edits.cpp
awaitable<http_response> patch_task(rest_context& r, request_context& c);
awaitable<http_response> delete_task(rest_context& r, request_context& c);
awaitable<http_response> complete_task(rest_context& r, request_context& c);
awaitable<http_response> reopen_task(rest_context& r, request_context& c);
awaitable<http_response> start_task(rest_context& r, request_context& c);
awaitable<http_response> stop_task(rest_context& r, request_context& c);
awaitable<http_response> annotate_task(rest_context& r, request_context& c);
awaitable<http_response> denotate_task(rest_context& r, request_context& c);
// lists.cpp
awaitable<http_response> get_tasks(rest_context& r, request_context& c);
// batch.cpp
awaitable<http_response> post_tasks(rest_context& r, request_context& c);
awaitable<http_response> patch_tasks(rest_context& r, request_context& c);
// keys.cpp
awaitable<http_response> post_key(rest_context& r, request_context& c);
// slots.cpp
awaitable<http_response> get_slot(rest_context& r, request_context& c);

// For an account, with its own token or an operator's.
// accounts.cpp
awaitable<http_response> get_account(rest_context& r, request_context& c);
// series.cpp
awaitable<http_response> get_series(rest_context& r, request_context& c);
awaitable<http_response> post_series(rest_context& r, request_context& c);
awaitable<http_response> patch_series(rest_context& r, request_context& c);
// tokens.cpp
awaitable<http_response> get_tokens(rest_context& r, request_context& c);
awaitable<http_response> post_token(rest_context& r, request_context& c);
awaitable<http_response> delete_own_token(rest_context& r, request_context& c);
awaitable<http_response> get_operator_tokens(rest_context& r, request_context& c);
awaitable<http_response> post_operator_token(rest_context& r, request_context& c);
awaitable<http_response> delete_any_token(rest_context& r, request_context& c);
// devices.cpp
awaitable<http_response> get_devices(rest_context& r, request_context& c);
awaitable<http_response> post_device(rest_context& r, request_context& c);
awaitable<http_response> delete_device(rest_context& r, request_context& c);

}  // namespace callsign::api
