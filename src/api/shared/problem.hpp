#pragma once
// RFC 9457 problems: all kinds, and their responses.

#include "callsign/v1/callsign.pb.h"
#include "request_context.hpp"

#include <callsign/base/errc.hpp>
#include <callsign/wire/message.hpp>

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

namespace problems {

// ---- the request ----
inline constexpr problem validation_failed{400, "validation-failed", "The request is not valid"};
inline constexpr problem key_missing{400, "idempotency-key-missing",
                                     "The Idempotency-Key header is missing"};
inline constexpr problem key_malformed{400, "idempotency-key-malformed",
                                       "Malformed idempotency key"};
inline constexpr problem malformed_task_ref{400, "malformed-task-ref", "Malformed task reference"};
inline constexpr problem malformed_request{400, "malformed-request", "Malformed HTTP request"};
inline constexpr problem https_required{400, "https-required", "HTTPS required"};
inline constexpr problem request_timeout{408, "request-timeout", "Request timeout"};
inline constexpr problem body_too_large{413, "body-too-large", "Request body too large"};
inline constexpr problem expectation_failed{417, "expectation-failed", "Expectation failed"};
inline constexpr problem header_too_large{431, "header-too-large", "Request header too large"};
inline constexpr problem unauthenticated{401, "unauthenticated", "Bearer token required"};
inline constexpr problem invalid_token{401, "invalid-token", "Invalid token"};
inline constexpr problem account_disabled{403, "account-disabled", "The account is disabled"};
inline constexpr problem insufficient_scope{403, "insufficient-scope", "Insufficient scope"};
inline constexpr problem no_such_path{404, "no-such-path", "Path not found"};
inline constexpr problem method_not_allowed{405, "method-not-allowed", "Method not allowed"};
inline constexpr problem not_acceptable{406, "not-acceptable", "Not acceptable"};
inline constexpr problem upgrade_required{426, "upgrade-required", "WebSocket upgrade required"};
inline constexpr problem unsupported_media_type{415, "unsupported-media-type",
                                                "Unsupported media type"};

// ---- resources ----
inline constexpr problem unknown_prefix{404, "unknown-prefix", "Unknown prefix"};
inline constexpr problem task_not_found{404, "task-not-found", "Task not found"};
inline constexpr problem task_deleted{410, "task-deleted", "Task deleted"};
inline constexpr problem precondition_failed{412, "precondition-failed", "Precondition failed"};
inline constexpr problem page_token_expired{410, "page-token-expired", "Page token expired"};
inline constexpr problem cursor_expired{410, "cursor-expired", "Cursor expired"};
inline constexpr problem cursor_unknown{410, "cursor-unknown", "Cursor of another history"};
inline constexpr problem too_many_tasks{422, "too-many-tasks", "Too many tasks to sort"};
inline constexpr problem task_too_large{413, "task-too-large", "Task too large"};
inline constexpr problem slot_not_found{404, "slot-not-found", "Slot not found"};
inline constexpr problem account_not_found{404, "account-not-found", "Account not found"};
inline constexpr problem client_not_found{404, "client-not-found", "Client not found"};
inline constexpr problem token_not_found{404, "token-not-found", "Token not found"};
inline constexpr problem webhook_not_found{404, "webhook-not-found", "Webhook not found"};
inline constexpr problem device_not_found{404, "device-not-found", "Device not found"};

// ---- conflicts and limits ----
inline constexpr problem slot_failed{409, "slot-failed", "Creation failed permanently"};
inline constexpr problem request_in_progress{409, "request-in-progress",
                                             "Request with this key in progress"};
inline constexpr problem key_reused{422, "idempotency-key-reused",
                                    "Idempotency key reused with another payload"};
inline constexpr problem name_taken{409, "name-taken", "Name taken"};
inline constexpr problem client_id_taken{409, "client-id-taken", "Client ID taken"};
inline constexpr problem history_differs{409, "history-differs", "Client history differs"};
inline constexpr problem account_opaque{409, "account-opaque", "Account is opaque"};
inline constexpr problem account_remote{409, "account-remote", "Account is remote"};
inline constexpr problem account_local{409, "account-local", "Account is local"};
inline constexpr problem remote_halted{503, "remote-halted", "Remote account is halted"};
inline constexpr problem remote_history_lost{409, "remote-history-lost",
                                             "Remote server lost versions"};
inline constexpr problem remote_not_empty{409, "remote-not-empty", "Remote server is not empty"};
inline constexpr problem has_devices{409, "has-devices", "Account has devices"};
inline constexpr problem backup_failed{409, "backup-failed", "Backup failed"};
inline constexpr problem not_settled{409, "not-settled", "Changes are pending"};
inline constexpr problem account_managed{409, "account-managed", "Account is already managed"};
inline constexpr problem wrong_secret{422, "wrong-secret", "Wrong encryption secret"};
inline constexpr problem no_history{409, "no-history", "Account has no history"};
inline constexpr problem cancelled{409, "cancelled", "Cancelled by an operator"};
inline constexpr problem no_conversion{404, "no-conversion", "No conversion in progress"};
inline constexpr problem history_unreadable{422, "history-unreadable",
                                            "History cannot be imported"};
// 409, not 503: a retry does not help, and a server without a master key is healthy.
inline constexpr problem no_master_key{409, "no-master-key", "No master key"};
inline constexpr problem too_many_devices{409, "too-many-devices", "Device limit reached"};
inline constexpr problem too_many_tokens{409, "too-many-tokens", "Token limit reached"};
inline constexpr problem too_many_webhooks{409, "too-many-webhooks", "Webhook limit reached"};
inline constexpr problem series_not_held{409, "series-not-held", "Series is not held"};
inline constexpr problem series_held{503, "series-held", "Series is held"};
inline constexpr problem series_archived{409, "series-archived", "Series is archived"};
inline constexpr problem too_many_series{409, "too-many-series", "Series limit reached"};
inline constexpr problem too_many_prefixes{409, "too-many-prefixes", "Former prefix limit reached"};
inline constexpr problem series_in_use{409, "series-in-use", "Series is in use"};
inline constexpr problem numbers_refused{422, "numbers-refused", "Numbers cannot be imported"};
inline constexpr problem prefix_taken{409, "prefix-taken", "Prefix taken"};
inline constexpr problem project_taken{409, "project-taken", "Project already has a series"};

inline constexpr problem too_many_followers{503, "too-many-followers", "Follower limit reached"};
inline constexpr problem rate_limited{429, "rate-limited", "Rate limit exceeded"};

// ---- the server ----
inline constexpr problem overloaded{503, "overloaded", "Server overloaded"};
inline constexpr problem too_many_connections{503, "too-many-connections",
                                              "Connection limit reached"};
inline constexpr problem shutting_down{503, "shutting-down", "Server is shutting down"};
inline constexpr problem deadline_exceeded{503, "deadline-exceeded", "Deadline exceeded"};
inline constexpr problem not_ready{503, "not-ready", "Server not ready"};
inline constexpr problem store_refused{503, "store-refused", "Store refused the write"};
inline constexpr problem storage_full{507, "storage-full", "Disk full"};
inline constexpr problem account_full{507, "account-full", "Storage limit reached"};
inline constexpr problem store_damaged{500, "store-damaged", "Store is damaged"};
inline constexpr problem record_damaged{500, "record-damaged", "Stored record is damaged"};
inline constexpr problem outcome_unknown{500, "outcome-unknown", "Outcome unknown"};
inline constexpr problem store_unavailable{503, "store-unavailable", "Store unavailable"};
inline constexpr problem remote_unavailable{503, "remote-unavailable", "Remote server unavailable"};
inline constexpr problem internal_error{500, "internal-error", "Internal error"};

}  // namespace problems

// Why something was rejected, in a response of its own or in a batch's.
struct refused {
    problem kind;
    std::string detail;
    wire::field_errors errors{};
    bool ask_again = false;  // retry the same request soon
    std::string cursor{};    // feeds: a cursor to read from
};

// All errors of a request.
refused refused_for(wire::field_errors found);
// The only mapping of internal errors to problems.
refused refused_for(const boost::system::error_code& error);

v1::Problem to_message(const refused& why);

http_response answer_refused(const request_context& c, const refused& why);

// In the format that the request accepts.
http_response answer_problem(const request_context& c, const problem& kind, std::string_view detail,
                             const wire::field_errors& errors = {});

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
