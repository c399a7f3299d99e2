#pragma once
// What TaskChampion's clients send and understand: header fields, ids, and answers as the reference
// server words them. Errors are plain text; its clients show the status and nothing else.

#include "../handlers.hpp"
#include "known_clients.hpp"

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

struct sync_head {
    uuid client{};
    uuid version{};  // of the path, if it has one
};

// What path and header say, looked at in the reference server's order: the path's id, the content
// type (for a body of `type`; empty: none is expected), the client id. A response: something is
// wrong with them.
std::variant<sync_head, http_response> read_sync_head(const sync_options& options,
                                                      std::string_view path_id,
                                                      std::string_view type,
                                                      const net::http_header& header);

// Of a question for a snapshot, or of the work on one: nobody knows yet how large it is.
inline constexpr cost snapshot_cost{.rows = 10'000};

// What the client id opens; nullopt: nothing.
awaitable<result<std::optional<known_client>>> client_of(rooms& r, uuid client);

http_response answer_sync(unsigned status);
http_response refuse_sync(unsigned status, std::string_view why);
// Broken machinery; the status is the same as everywhere.
http_response fail_sync(const call& c, const boost::system::error_code& error);

// There is no room for what the answer would hold: the client asks again.
http_response refuse_crowded();

// What a chain or snapshot that is not there may mean.
bool is_managed(read_tx& tx, account_id account);

// The account has become managed while the request was on its way: the client asks again.
http_response answer_changed();

void add_version_header(http_response& response, const uuid& version);
void add_parent_header(http_response& response, const uuid& parent);

// The most that a body of this route may hold, whoever sends it.
std::size_t large_bytes_max(const sync_options& options, const route& where) noexcept;

// Whether the body of a client's request may come.
awaitable<net::admission> admit_to_sync(rooms& r, call& c);

// How large the body of a client's request to this route may be, and what a larger one is told.
net::body_terms terms_of_sync(const rooms& r, std::size_t usual_bytes_max, const route& where,
                              std::string_view path_id, const net::http_header& header);

}  // namespace callsign::api
