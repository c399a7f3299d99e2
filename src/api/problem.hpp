#pragma once
// RFC 9457 problems: every kind there is, and how one is answered.

#include "callsign/v1/callsign.pb.h"
#include "request_context.hpp"

#include <callsign/base/errc.hpp>
#include <callsign/wire/message.hpp>

#include <string>
#include <string_view>

namespace callsign::api {

// `code` is what programs look at: it is also the end of the problem's type,
// urn:callsign:problem:CODE, and does not change.
// Its texts are static.
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
                                       "The idempotency key is malformed"};
inline constexpr problem malformed_task_ref{400, "malformed-task-ref", "This does not name a task"};
inline constexpr problem malformed_request{400, "malformed-request",
                                           "The request is not well-formed HTTP"};
inline constexpr problem https_required{400, "https-required", "This port speaks HTTPS"};
inline constexpr problem request_timeout{408, "request-timeout",
                                         "The request took too long to arrive"};
inline constexpr problem body_too_large{413, "body-too-large", "The request's body is too large"};
inline constexpr problem expectation_failed{417, "expectation-failed",
                                            "The server does not do what the request expects"};
inline constexpr problem header_too_large{431, "header-too-large",
                                          "The request's header is too large"};
inline constexpr problem unauthenticated{401, "unauthenticated", "A bearer token is needed"};
inline constexpr problem invalid_token{401, "invalid-token", "The token is not valid"};
inline constexpr problem account_disabled{403, "account-disabled", "The account is disabled"};
inline constexpr problem insufficient_scope{403, "insufficient-scope",
                                            "The token does not allow this"};
inline constexpr problem no_such_path{404, "no-such-path", "There is nothing at this path"};
inline constexpr problem method_not_allowed{405, "method-not-allowed",
                                            "This path does not have that method"};
inline constexpr problem not_acceptable{406, "not-acceptable",
                                        "There is no answer in an acceptable form"};
inline constexpr problem upgrade_required{426, "upgrade-required", "This needs a WebSocket"};
inline constexpr problem unsupported_media_type{415, "unsupported-media-type",
                                                "The body is in an unknown form"};

// ---- what is there ----
inline constexpr problem unknown_prefix{404, "unknown-prefix",
                                        "The account has no series with this prefix"};
inline constexpr problem task_not_found{404, "task-not-found", "There is no such task"};
inline constexpr problem task_deleted{410, "task-deleted", "The task was deleted"};
inline constexpr problem precondition_failed{412, "precondition-failed",
                                             "The task has changed since"};
inline constexpr problem page_token_expired{410, "page-token-expired",
                                            "The list is not kept any more"};
inline constexpr problem cursor_expired{410, "cursor-expired",
                                        "What came after the cursor is not kept any more"};
inline constexpr problem cursor_unknown{410, "cursor-unknown",
                                        "The cursor is of another history than this one"};
inline constexpr problem too_many_tasks{422, "too-many-tasks",
                                        "These are too many tasks to put in order"};
inline constexpr problem task_too_large{413, "task-too-large", "The task would be too large"};
inline constexpr problem slot_not_found{404, "slot-not-found", "This key has no slot"};
inline constexpr problem account_not_found{404, "account-not-found", "There is no such account"};
inline constexpr problem client_not_found{404, "client-not-found", "No account has this client id"};
inline constexpr problem token_not_found{404, "token-not-found", "There is no such token"};
inline constexpr problem webhook_not_found{404, "webhook-not-found", "There is no such webhook"};
inline constexpr problem device_not_found{404, "device-not-found", "There is no such device"};

// ---- what stands against it ----
inline constexpr problem slot_failed{409, "slot-failed", "The creation failed, for good"};
inline constexpr problem request_in_progress{409, "request-in-progress",
                                             "A request with this key is under way"};
inline constexpr problem key_reused{422, "idempotency-key-reused",
                                    "The idempotency key was used with another payload"};
inline constexpr problem name_taken{409, "name-taken", "The name is taken"};
inline constexpr problem client_id_taken{409, "client-id-taken",
                                         "Another account has this client id"};
inline constexpr problem history_differs{409, "history-differs",
                                         "The client's history here is another one"};
inline constexpr problem account_opaque{409, "account-opaque",
                                        "The server cannot see this account's tasks"};
inline constexpr problem account_elsewhere{409, "account-elsewhere",
                                           "The account's tasks live on another server"};
inline constexpr problem account_here{409, "account-here", "The account's tasks live here"};
inline constexpr problem remote_halted{503, "remote-halted", "The account waits for its operator"};
inline constexpr problem remote_gone_back{409, "remote-gone-back",
                                          "The other server has lost versions"};
inline constexpr problem remote_not_empty{409, "remote-not-empty",
                                          "The other server has tasks already"};
inline constexpr problem has_devices{409, "has-devices", "Devices sync with the account here"};
inline constexpr problem backup_failed{409, "backup-failed", "The backup was not made"};
inline constexpr problem not_settled{409, "not-settled", "Something is still on its way"};
inline constexpr problem account_managed{409, "account-managed", "The account is managed already"};
inline constexpr problem wrong_secret{422, "wrong-secret",
                                      "The secret does not open the account's history"};
inline constexpr problem no_history{409, "no-history", "The account has no history yet"};
inline constexpr problem cancelled{409, "cancelled", "An operator has cancelled it"};
inline constexpr problem not_under_way{404, "not-under-way", "No such work is under way"};
inline constexpr problem history_unreadable{422, "history-unreadable",
                                            "The account's history cannot be taken over"};
// 409, not 503: asking again does not help, and a server that is run without one is not unwell.
inline constexpr problem no_master_key{409, "no-master-key",
                                       "The server has no master key to keep secrets under"};
inline constexpr problem too_many_devices{409, "too-many-devices",
                                          "The account has as many devices as it may"};
inline constexpr problem too_many_tokens{409, "too-many-tokens",
                                         "The account has as many tokens as it may"};
inline constexpr problem too_many_webhooks{409, "too-many-webhooks",
                                           "The account has as many webhooks as it may"};
inline constexpr problem series_not_held{409, "series-not-held", "The series is not held"};
inline constexpr problem series_held{503, "series-held",
                                     "The series waits to be told where to go on"};
inline constexpr problem series_archived{409, "series-archived",
                                         "The series takes no more numbers"};
inline constexpr problem too_many_series{409, "too-many-series",
                                         "The account has as many series as it may"};
inline constexpr problem too_many_prefixes{409, "too-many-prefixes",
                                           "The account has as many former prefixes as it may"};
inline constexpr problem series_in_use{409, "series-in-use",
                                       "The series cannot be changed so any more"};
inline constexpr problem numbers_refused{422, "numbers-refused",
                                         "These numbers cannot be taken over"};
inline constexpr problem prefix_taken{409, "prefix-taken", "The prefix is taken"};
inline constexpr problem project_taken{409, "project-taken", "The project has a series already"};

inline constexpr problem too_many_followers{503, "too-many-followers",
                                            "There are as many followers as there may be"};
inline constexpr problem rate_limited{429, "rate-limited", "These are too many requests"};

// ---- the machinery ----
inline constexpr problem overloaded{503, "overloaded", "The server is at its limit"};
inline constexpr problem too_many_connections{503, "too-many-connections",
                                              "There are as many connections as there may be"};
inline constexpr problem shutting_down{503, "shutting-down", "The server is shutting down"};
inline constexpr problem deadline_exceeded{503, "deadline-exceeded",
                                           "The request's turn did not come in time"};
inline constexpr problem not_ready{503, "not-ready", "The server cannot write"};
inline constexpr problem store_refused{503, "store-refused", "The store refused the change"};
inline constexpr problem storage_full{507, "storage-full", "The server's disk is full"};
inline constexpr problem account_full{507, "account-full", "The account stores as much as it may"};
inline constexpr problem store_damaged{500, "store-damaged", "The store is damaged"};
inline constexpr problem record_damaged{500, "record-damaged", "A stored record is damaged"};
inline constexpr problem outcome_unknown{500, "outcome-unknown", "The outcome is not known"};
inline constexpr problem store_unavailable{503, "store-unavailable", "The store cannot be read"};
inline constexpr problem remote_unavailable{503, "remote-unavailable",
                                            "The server of the account's tasks cannot be asked"};
inline constexpr problem internal_error{500, "internal-error", "Something went wrong here"};

}  // namespace problems

// Why something was not done: an answer of its own, or a part of a batch's.
struct refused {
    problem kind;
    std::string detail;
    wire::faults errors{};
    bool ask_again = false;  // soon, the same request
    std::string cursor{};    // of a feed: one that it can be read from
};

// Every fault of a request at once.
refused refused_for(wire::faults found);
// What the machinery's errors look like from outside. The one place that decides.
refused refused_for(const boost::system::error_code& error);

v1::Problem to_message(const refused& why);

http_response answer_refused(const request_context& c, const refused& why);

// In the form the call wants its answer in.
http_response answer_problem(const request_context& c, const problem& kind, std::string_view detail,
                             const wire::faults& errors = {});

// `overloaded`, to be asked again in a moment; nothing was done.
http_response answer_busy(const request_context& c, std::string_view why);

// A refusal that the log tells of under a name that does not change (docs/operations.md). Both are
// static texts.
http_response logged_as(http_response response, std::string_view event, std::string_view reason);

http_response answer_faults(const request_context& c, wire::faults found);
http_response answer_error(const request_context& c, const boost::system::error_code& error);

}  // namespace callsign::api
