#pragma once
// TaskChampion's protocol: header fields, IDs, and responses worded as the reference server's.
// Errors are plain text; clients show the status only.

#include "handlers.hpp"
#include "known_clients.hpp"
#include "shared/answers.hpp"

#include <callsign/api/sync_options.hpp>

#include <optional>
#include <string_view>
#include <variant>

namespace callsign::api {

// Accepts the hyphenated form, also in braces or after "urn:uuid:", or 32 digits; either case.
std::optional<uuid> parse_uuid_in_any_form(std::string_view text) noexcept;

// Returns whether this is a path of the reference server, where a wrong method is a wrong path.
bool is_sync_path(std::string_view path) noexcept;

// Reads what a client sends in path and header, in the reference server's order: the path's ID, the
// content type (if the route has a body), the client ID. Returns a response if any is invalid.
std::variant<sync_head, http_response> read_sync_head(const sync_options& options,
                                                      const route& where, std::string_view path_id,
                                                      const net::http_header& header);

// Returns the client with the request's client ID; nullopt: unknown.
awaitable<result<std::optional<known_client>>> client_of(sync_context& s, request_context& c);

http_response answer_sync(unsigned status);
http_response answer_text(unsigned status, std::string_view text);
// 404: there is no such version or snapshot, which is how a sync ends.
http_response answer_none(std::string_view what);
// Logged as sync-rejected with `reason` (docs/operations.md, "Taskwarrior sync errors").
http_response reject_sync(unsigned status, std::string_view why, std::string_view reason);
// 503 with a Retry-After of one second.
http_response reject_for_now(std::string_view why, std::string_view reason);
http_response reject_unknown_client();
// Internal errors, with the same status as on other routes.
http_response fail_sync(const boost::system::error_code& error);

// No memory for the response is left: the client retries.
http_response reject_crowded();

// The account is not active.
http_response reject_closed();
// The account exceeds its storage limit.
http_response reject_full();
// The account was converted to managed during the request: the client retries.
http_response answer_changed();

void add_version_header(http_response& response, const uuid& version);
void add_parent_header(http_response& response, const uuid& parent);

// Returns whether the body of a client's request may come.
awaitable<net::admission> admit_to_sync(sync_context& s, request_context& c);

// Returns the maximum size of a client's body on this route, and the response to a larger one.
net::body_limits sync_body_limits(const sync_context& s, std::size_t usual_bytes_max,
                                  std::size_t large_bytes_max, const route& where,
                                  const request_head& head);

}  // namespace callsign::api
