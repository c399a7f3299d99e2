#pragma once
// Operator routes: /v1/admin/*.

#include "shared/request_context.hpp"

#include <callsign/api/service.hpp>
#include <callsign/jobs/backups.hpp>
#include <callsign/jobs/context.hpp>

#include <cstdint>

namespace callsign::api {

// Outlives every request.
struct admin_context {
    callsign::engine& engine;
    jobs::context& jobs;
    callsign::reaper& reaper;
    callsign::clock& clock;
    callsign::entropy& entropy;
    const std::int64_t& late_retries;  // retries answered with slot-failed since the start
    const remote_support& remote;
    jobs::backups& backups;
};

// accounts.cpp
awaitable<http_response> get_accounts(admin_context& a, request_context& c);
awaitable<http_response> post_account(admin_context& a, request_context& c);
awaitable<http_response> get_any_account(admin_context& a, request_context& c);
awaitable<http_response> patch_any_account(admin_context& a, request_context& c);
awaitable<http_response> delete_any_account(admin_context& a, request_context& c);
// remotes.cpp
awaitable<http_response> patch_remote(admin_context& a, request_context& c);
awaitable<http_response> post_move(admin_context& a, request_context& c);
// slots.cpp
awaitable<http_response> get_slots(admin_context& a, request_context& c);
// reaper.cpp
awaitable<http_response> get_reaper(admin_context& a, request_context& c);
awaitable<http_response> post_sweep(admin_context& a, request_context& c);
// backups.cpp
awaitable<http_response> post_backup(admin_context& a, request_context& c);
awaitable<http_response> post_resume(admin_context& a, request_context& c);
awaitable<http_response> get_backups(admin_context& a, request_context& c);
// auditing.cpp
awaitable<http_response> get_audit(admin_context& a, request_context& c);
// master_key.cpp
awaitable<http_response> post_reseal(admin_context& a, request_context& c);
// clients.cpp
awaitable<http_response> put_client(admin_context& a, request_context& c);
awaitable<http_response> post_client_version(admin_context& a, request_context& c);
awaitable<http_response> post_client_snapshot(admin_context& a, request_context& c);
// conversion.cpp
awaitable<http_response> post_conversion(admin_context& a, request_context& c);
awaitable<http_response> get_conversion(admin_context& a, request_context& c);
awaitable<http_response> delete_conversion(admin_context& a, request_context& c);
// import.cpp
awaitable<http_response> post_import(admin_context& a, request_context& c);

// numbers.cpp
awaitable<http_response> post_numbers(admin_context& a, request_context& c);

}  // namespace callsign::api
