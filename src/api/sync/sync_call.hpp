#pragma once
// What TaskChampion's clients send and understand: header fields, ids, and answers as the reference
// server words them. Errors are plain text; its clients show the status and nothing else.

#include "answers.hpp"
#include "handlers.hpp"
#include "known_clients.hpp"
#include "routes.hpp"

#include <callsign/api/sync_options.hpp>

#include <optional>
#include <string_view>
#include <variant>

namespace callsign::api {

inline constexpr std::string_view segment_type = "application/vnd.taskchampion.history-segment";
inline constexpr std::string_view snapshot_type = "application/vnd.taskchampion.snapshot";

// The hyphenated form, also in braces or after "urn:uuid:", or 32 digits; either case.
std::optional<uuid> parse_uuid_in_any_form(std::string_view text) noexcept;

// Is this a path of the reference server's? There, a wrong method is a wrong path.
bool is_sync_path(std::string_view path) noexcept;

// What a client says in path and header, looked at in the reference server's order: the path's id,
// the content type (of a route that takes a body), the client id. A response: something is wrong
// with them.
std::variant<sync_head, http_response> read_sync_head(const sync_options& options,
                                                      const route& where, std::string_view path_id,
                                                      const net::http_header& header);

// What the request's client id opens; nullopt: nothing.
awaitable<result<std::optional<known_client>>> client_of(sync_context& s, request_context& c);

http_response answer_sync(unsigned status);
http_response answer_text(unsigned status, std::string_view text);
// There is no such version or snapshot, which is how a sync ends.
http_response answer_none(std::string_view what);
// The log tells of each refusal as sync-refused, with this word; docs/operations.md has a row for
// each ("When Taskwarrior complains").
http_response refuse_sync(unsigned status, std::string_view why, std::string_view reason);
// 503, to be tried again in a second.
http_response refuse_for_now(std::string_view why, std::string_view reason);
http_response refuse_unknown_client();
// Broken machinery; the status is the same as everywhere.
http_response fail_sync(const request_context& c, const boost::system::error_code& error);

// There is no room for what the answer would hold: the client asks again.
http_response refuse_crowded();

// The account has become managed while the request was on its way: the client asks again.
// Its operator has disabled it.
http_response refuse_closed();
http_response refuse_full();
http_response answer_changed();

void add_version_header(http_response& response, const uuid& version);
void add_parent_header(http_response& response, const uuid& parent);

// Whether the body of a client's request may come.
awaitable<net::admission> admit_to_sync(sync_context& s, request_context& c);

// How large the body of a client's request to this route may be, and what a larger one is told.
net::body_limits sync_body_limits(const sync_context& s, std::size_t usual_bytes_max,
                                  std::size_t large_bytes_max, const route& where,
                                  const request_head& head);

}  // namespace callsign::api
