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
    // Whether the same request can succeed later, although neither the client nor an operator does
    // anything.
    enum class retry : bool { no, yes };

    unsigned status;
    std::string_view code;
    std::string_view title;
    retry retryable;
};

// name, status, code, title, retryable. no_master_key has 409, not 503: a retry does not help, and
// a server without a master key is healthy.
// clang-format off
#define CALLSIGN_PROBLEMS(DO) \
    DO(validation_failed, 400, "validation-failed", "The request is not valid", no) \
    DO(key_missing, 400, "idempotency-key-missing", "The Idempotency-Key header is missing", no) \
    DO(key_malformed, 400, "idempotency-key-malformed", "Malformed idempotency key", no) \
    DO(malformed_task_ref, 400, "malformed-task-ref", "Malformed task reference", no) \
    DO(malformed_request, 400, "malformed-request", "Malformed HTTP request", no) \
    DO(https_required, 400, "https-required", "HTTPS required", no) \
    DO(request_timeout, 408, "request-timeout", "Request timeout", yes) \
    DO(body_too_large, 413, "body-too-large", "Request body too large", no) \
    DO(expectation_failed, 417, "expectation-failed", "Expectation failed", no) \
    DO(header_too_large, 431, "header-too-large", "Request header too large", no) \
    DO(unauthenticated, 401, "unauthenticated", "Bearer token required", no) \
    DO(invalid_token, 401, "invalid-token", "Invalid token", no) \
    DO(account_disabled, 403, "account-disabled", "The account is disabled", no) \
    DO(insufficient_scope, 403, "insufficient-scope", "Insufficient scope", no) \
    DO(no_such_path, 404, "no-such-path", "Path not found", no) \
    DO(method_not_allowed, 405, "method-not-allowed", "Method not allowed", no) \
    DO(not_acceptable, 406, "not-acceptable", "Not acceptable", no) \
    DO(upgrade_required, 426, "upgrade-required", "WebSocket upgrade required", no) \
    DO(unsupported_media_type, 415, "unsupported-media-type", "Unsupported media type", no) \
    DO(unknown_prefix, 404, "unknown-prefix", "Unknown prefix", no) \
    DO(task_not_found, 404, "task-not-found", "Task not found", no) \
    DO(task_deleted, 410, "task-deleted", "Task deleted", no) \
    DO(precondition_failed, 412, "precondition-failed", "Precondition failed", no) \
    DO(page_token_expired, 410, "page-token-expired", "Page token expired", no) \
    DO(cursor_expired, 410, "cursor-expired", "Cursor expired", no) \
    DO(cursor_unknown, 410, "cursor-unknown", "Cursor of another history", no) \
    DO(too_many_tasks, 422, "too-many-tasks", "Too many tasks to sort", no) \
    DO(task_too_large, 413, "task-too-large", "Task too large", no) \
    DO(slot_not_found, 404, "slot-not-found", "Slot not found", no) \
    DO(account_not_found, 404, "account-not-found", "Account not found", no) \
    DO(client_not_found, 404, "client-not-found", "Client not found", no) \
    DO(token_not_found, 404, "token-not-found", "Token not found", no) \
    DO(webhook_not_found, 404, "webhook-not-found", "Webhook not found", no) \
    DO(device_not_found, 404, "device-not-found", "Device not found", no) \
    DO(slot_failed, 409, "slot-failed", "Creation failed permanently", no) \
    DO(request_in_progress, 409, "request-in-progress", "Request with this key in progress", yes) \
    DO(key_reused, 422, "idempotency-key-reused", "Idempotency key reused with another payload", no) \
    DO(name_taken, 409, "name-taken", "Name taken", no) \
    DO(client_id_taken, 409, "client-id-taken", "Client ID taken", no) \
    DO(history_differs, 409, "history-differs", "Client history differs", no) \
    DO(account_opaque, 409, "account-opaque", "Account is opaque", no) \
    DO(account_remote, 409, "account-remote", "Account is remote", no) \
    DO(account_local, 409, "account-local", "Account is local", no) \
    DO(remote_halted, 503, "remote-halted", "Remote account is halted", no) \
    DO(remote_history_lost, 409, "remote-history-lost", "Remote server lost versions", no) \
    DO(remote_not_empty, 409, "remote-not-empty", "Remote server is not empty", no) \
    DO(has_devices, 409, "has-devices", "Account has devices", no) \
    DO(backup_failed, 409, "backup-failed", "Backup failed", no) \
    DO(not_settled, 409, "not-settled", "Changes are pending", yes) \
    DO(account_managed, 409, "account-managed", "Account is already managed", no) \
    DO(wrong_secret, 422, "wrong-secret", "Wrong encryption secret", no) \
    DO(no_history, 409, "no-history", "Account has no history", no) \
    DO(cancelled, 409, "cancelled", "Cancelled by an operator", no) \
    DO(no_conversion, 404, "no-conversion", "No conversion in progress", no) \
    DO(history_unreadable, 422, "history-unreadable", "History cannot be imported", no) \
    DO(no_master_key, 409, "no-master-key", "No master key", no) \
    DO(too_many_devices, 409, "too-many-devices", "Device limit reached", no) \
    DO(too_many_tokens, 409, "too-many-tokens", "Token limit reached", no) \
    DO(too_many_webhooks, 409, "too-many-webhooks", "Webhook limit reached", no) \
    DO(series_not_held, 409, "series-not-held", "Series is not held", no) \
    DO(series_held, 503, "series-held", "Series is held", no) \
    DO(series_archived, 409, "series-archived", "Series is archived", no) \
    DO(too_many_series, 409, "too-many-series", "Series limit reached", no) \
    DO(too_many_prefixes, 409, "too-many-prefixes", "Former prefix limit reached", no) \
    DO(series_in_use, 409, "series-in-use", "Series is in use", no) \
    DO(numbers_rejected, 422, "numbers-rejected", "Numbers cannot be imported", no) \
    DO(prefix_taken, 409, "prefix-taken", "Prefix taken", no) \
    DO(project_taken, 409, "project-taken", "Project already has a series", no) \
    DO(too_many_followers, 503, "too-many-followers", "Follower limit reached", yes) \
    DO(rate_limited, 429, "rate-limited", "Rate limit exceeded", yes) \
    DO(overloaded, 503, "overloaded", "Server overloaded", yes) \
    DO(too_many_connections, 503, "too-many-connections", "Connection limit reached", yes) \
    DO(shutting_down, 503, "shutting-down", "Server is shutting down", yes) \
    DO(deadline_exceeded, 503, "deadline-exceeded", "Deadline exceeded", yes) \
    DO(not_ready, 503, "not-ready", "Server not ready", yes) \
    DO(store_rejected, 503, "store-rejected", "Store rejected the write", yes) \
    DO(storage_full, 507, "storage-full", "Disk full", no) \
    DO(account_full, 507, "account-full", "Storage limit reached", no) \
    DO(store_damaged, 500, "store-damaged", "Store is damaged", no) \
    DO(record_damaged, 500, "record-damaged", "Stored record is damaged", no) \
    DO(outcome_unknown, 500, "outcome-unknown", "Outcome unknown", yes) \
    DO(store_unavailable, 503, "store-unavailable", "Store unavailable", yes) \
    DO(remote_unavailable, 503, "remote-unavailable", "Remote server unavailable", yes) \
    DO(internal_error, 500, "internal-error", "Internal error", yes)
// clang-format on

namespace problems {

#define CALLSIGN_PROBLEM(name, status, code, title, again) \
    inline constexpr problem name{status, code, title, problem::retry::again};
CALLSIGN_PROBLEMS(CALLSIGN_PROBLEM)
#undef CALLSIGN_PROBLEM

}  // namespace problems

inline constexpr std::array all_problems{
#define CALLSIGN_PROBLEM(name, status, code, title, again) problems::name,
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
