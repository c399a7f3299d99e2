#pragma once
// RFC 9457 problems: all kinds, and their responses.

#include "callsign/v1/callsign.pb.h"
#include "request_context.hpp"

#include <callsign/base/errc.hpp>
#include <callsign/wire/message.hpp>

#include <array>
#include <chrono>
#include <string>
#include <string_view>

namespace callsign::api {

// `code` is for programs: it ends the problem's type, urn:callsign:problem:CODE, and does not
// change. All texts are static.
struct problem {
    unsigned status;
    std::string_view code;
    std::string_view title;
};

// name, status, code, title. no_master_key has 409, not 503: a retry does not help, and a server
// without a master key is healthy.
// clang-format off
#define CALLSIGN_PROBLEMS(DO) \
    DO(validation_failed, 400, "validation-failed", "The request is not valid") \
    DO(key_missing, 400, "idempotency-key-missing", "The Idempotency-Key header is missing") \
    DO(key_malformed, 400, "idempotency-key-malformed", "Malformed idempotency key") \
    DO(malformed_task_ref, 400, "malformed-task-ref", "Malformed task reference") \
    DO(malformed_request, 400, "malformed-request", "Malformed HTTP request") \
    DO(https_required, 400, "https-required", "HTTPS required") \
    DO(request_timeout, 408, "request-timeout", "Request timeout") \
    DO(body_too_large, 413, "body-too-large", "Request body too large") \
    DO(expectation_failed, 417, "expectation-failed", "Expectation failed") \
    DO(header_too_large, 431, "header-too-large", "Request header too large") \
    DO(unauthenticated, 401, "unauthenticated", "Bearer token required") \
    DO(invalid_token, 401, "invalid-token", "Invalid token") \
    DO(account_disabled, 403, "account-disabled", "The account is disabled") \
    DO(insufficient_scope, 403, "insufficient-scope", "Insufficient scope") \
    DO(no_such_path, 404, "no-such-path", "Path not found") \
    DO(method_not_allowed, 405, "method-not-allowed", "Method not allowed") \
    DO(not_acceptable, 406, "not-acceptable", "Not acceptable") \
    DO(upgrade_required, 426, "upgrade-required", "WebSocket upgrade required") \
    DO(unsupported_media_type, 415, "unsupported-media-type", "Unsupported media type") \
    DO(unknown_prefix, 404, "unknown-prefix", "Unknown prefix") \
    DO(task_not_found, 404, "task-not-found", "Task not found") \
    DO(task_deleted, 410, "task-deleted", "Task deleted") \
    DO(precondition_failed, 412, "precondition-failed", "Precondition failed") \
    DO(page_token_expired, 410, "page-token-expired", "Page token expired") \
    DO(cursor_expired, 410, "cursor-expired", "Cursor expired") \
    DO(cursor_unknown, 410, "cursor-unknown", "Cursor of another history") \
    DO(too_many_tasks, 422, "too-many-tasks", "Too many tasks to sort") \
    DO(task_too_large, 413, "task-too-large", "Task too large") \
    DO(slot_not_found, 404, "slot-not-found", "Slot not found") \
    DO(account_not_found, 404, "account-not-found", "Account not found") \
    DO(client_not_found, 404, "client-not-found", "Client not found") \
    DO(token_not_found, 404, "token-not-found", "Token not found") \
    DO(webhook_not_found, 404, "webhook-not-found", "Webhook not found") \
    DO(device_not_found, 404, "device-not-found", "Device not found") \
    DO(slot_failed, 409, "slot-failed", "Creation failed permanently") \
    DO(request_in_progress, 409, "request-in-progress", "Request with this key in progress") \
    DO(key_reused, 422, "idempotency-key-reused", "Idempotency key reused with another payload") \
    DO(name_taken, 409, "name-taken", "Name taken") \
    DO(client_id_taken, 409, "client-id-taken", "Client ID taken") \
    DO(history_differs, 409, "history-differs", "Client history differs") \
    DO(account_opaque, 409, "account-opaque", "Account is opaque") \
    DO(account_remote, 409, "account-remote", "Account is remote") \
    DO(account_local, 409, "account-local", "Account is local") \
    DO(remote_halted, 503, "remote-halted", "Remote account is halted") \
    DO(remote_history_lost, 409, "remote-history-lost", "Remote server lost versions") \
    DO(remote_not_empty, 409, "remote-not-empty", "Remote server is not empty") \
    DO(has_devices, 409, "has-devices", "Account has devices") \
    DO(backup_failed, 409, "backup-failed", "Backup failed") \
    DO(not_settled, 409, "not-settled", "Changes are pending") \
    DO(account_managed, 409, "account-managed", "Account is already managed") \
    DO(wrong_secret, 422, "wrong-secret", "Wrong encryption secret") \
    DO(no_history, 409, "no-history", "Account has no history") \
    DO(cancelled, 409, "cancelled", "Cancelled by an operator") \
    DO(no_conversion, 404, "no-conversion", "No conversion in progress") \
    DO(history_unreadable, 422, "history-unreadable", "History cannot be imported") \
    DO(no_master_key, 409, "no-master-key", "No master key") \
    DO(too_many_devices, 409, "too-many-devices", "Device limit reached") \
    DO(too_many_tokens, 409, "too-many-tokens", "Token limit reached") \
    DO(too_many_webhooks, 409, "too-many-webhooks", "Webhook limit reached") \
    DO(series_not_held, 409, "series-not-held", "Series is not held") \
    DO(series_held, 503, "series-held", "Series is held") \
    DO(series_archived, 409, "series-archived", "Series is archived") \
    DO(too_many_series, 409, "too-many-series", "Series limit reached") \
    DO(too_many_prefixes, 409, "too-many-prefixes", "Former prefix limit reached") \
    DO(series_in_use, 409, "series-in-use", "Series is in use") \
    DO(numbers_rejected, 422, "numbers-rejected", "Numbers cannot be imported") \
    DO(prefix_taken, 409, "prefix-taken", "Prefix taken") \
    DO(project_taken, 409, "project-taken", "Project already has a series") \
    DO(too_many_followers, 503, "too-many-followers", "Follower limit reached") \
    DO(rate_limited, 429, "rate-limited", "Rate limit exceeded") \
    DO(overloaded, 503, "overloaded", "Server overloaded") \
    DO(too_many_connections, 503, "too-many-connections", "Connection limit reached") \
    DO(shutting_down, 503, "shutting-down", "Server is shutting down") \
    DO(deadline_exceeded, 503, "deadline-exceeded", "Deadline exceeded") \
    DO(not_ready, 503, "not-ready", "Server not ready") \
    DO(store_rejected, 503, "store-rejected", "Store rejected the write") \
    DO(storage_full, 507, "storage-full", "Disk full") \
    DO(account_full, 507, "account-full", "Storage limit reached") \
    DO(store_damaged, 500, "store-damaged", "Store is damaged") \
    DO(record_damaged, 500, "record-damaged", "Stored record is damaged") \
    DO(outcome_unknown, 500, "outcome-unknown", "Outcome unknown") \
    DO(store_unavailable, 503, "store-unavailable", "Store unavailable") \
    DO(remote_unavailable, 503, "remote-unavailable", "Remote server unavailable") \
    DO(internal_error, 500, "internal-error", "Internal error")
// clang-format on

namespace problems {

#define CALLSIGN_PROBLEM(name, status, code, title) \
    inline constexpr problem name{status, code, title};
CALLSIGN_PROBLEMS(CALLSIGN_PROBLEM)
#undef CALLSIGN_PROBLEM

}  // namespace problems

inline constexpr std::array all_problems{
#define CALLSIGN_PROBLEM(name, status, code, title) problems::name,
    CALLSIGN_PROBLEMS(CALLSIGN_PROBLEM)
#undef CALLSIGN_PROBLEM
};

// Why something was rejected, in a response of its own or in a batch's.
struct rejected {
    problem kind;
    std::string detail;
    wire::field_errors errors{};
    bool ask_again = false;  // retry the same request soon
    std::string cursor{};    // feeds: a cursor to read from
};

// All errors of a request.
rejected rejected_for(wire::field_errors found);
// The only mapping of internal errors to problems.
rejected rejected_for(const boost::system::error_code& error);

v1::Problem to_message(const rejected& why);

http_response answer_rejected(const request_context& c, const rejected& why);

// In the format that the request accepts.
http_response answer_problem(const request_context& c, const problem& kind,
                             std::string_view detail);

// Asks the client to retry then.
void set_retry_after(http_response& response, std::chrono::seconds pause);

// 503 `overloaded`: nothing was done, the client retries soon.
http_response answer_busy(const request_context& c, std::string_view why);

// Marks a rejection to be logged under a name that does not change (docs/operations.md). Requires:
// both texts are static.
http_response logged_as(http_response response, std::string_view event, std::string_view reason);

http_response answer_faults(const request_context& c, wire::field_errors found);
http_response answer_error(const request_context& c, const boost::system::error_code& error);

}  // namespace callsign::api
