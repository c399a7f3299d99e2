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
awaitable<http_response> list_accounts(admin_context& a, request_context& c);
awaitable<http_response> add_account(admin_context& a, request_context& c);
awaitable<http_response> show_any_account(admin_context& a, request_context& c);
awaitable<http_response> change_account(admin_context& a, request_context& c);
awaitable<http_response> remove_account(admin_context& a, request_context& c);
// remotes.cpp
awaitable<http_response> change_remote(admin_context& a, request_context& c);
awaitable<http_response> move_account(admin_context& a, request_context& c);
// slots.cpp
awaitable<http_response> list_slots(admin_context& a, request_context& c);
// reaper.cpp
awaitable<http_response> show_reaper(admin_context& a, request_context& c);
awaitable<http_response> sweep_now(admin_context& a, request_context& c);
// backups.cpp
awaitable<http_response> make_backup(admin_context& a, request_context& c);
awaitable<http_response> resume_series(admin_context& a, request_context& c);
awaitable<http_response> show_backups(admin_context& a, request_context& c);
// auditing.cpp
awaitable<http_response> list_actions(admin_context& a, request_context& c);
// master_key.cpp
awaitable<http_response> reseal_secrets(admin_context& a, request_context& c);
// clients.cpp
awaitable<http_response> put_client(admin_context& a, request_context& c);
awaitable<http_response> import_version(admin_context& a, request_context& c);
awaitable<http_response> import_snapshot(admin_context& a, request_context& c);
// conversion.cpp
awaitable<http_response> convert_account(admin_context& a, request_context& c);
awaitable<http_response> show_conversion(admin_context& a, request_context& c);
awaitable<http_response> cancel_conversion(admin_context& a, request_context& c);
// import.cpp
awaitable<http_response> import_tasks_to(admin_context& a, request_context& c);

// numbers.cpp
awaitable<http_response> import_numbers_to(admin_context& a, request_context& c);

}  // namespace callsign::api
