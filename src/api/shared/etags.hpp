#pragma once
// Entity tags (RFC 9110 section 8.8.3), and the conditions If-Match and If-None-Match.

#include "request_context.hpp"

#include <callsign/domain/task.hpp>
#include <callsign/wire/message.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace callsign::api {

// The value of If-Match or If-None-Match.
struct etag_list {
    bool is_any = false;                 // "*"
    std::vector<std::string_view> tags;  // without quotes and without W/; views into the value
};
// Returns nullopt if the value is malformed.
std::optional<etag_list> parse_etags(std::string_view value);

// Returns the condition that the value of an If-Match sets; none: there is none, or it is "*",
// which any existing task fulfils. Adds an error to `found`, for `field`, if the value is
// malformed. A weak tag counts as a strong one, unlike in RFC 9110: proxies that compress make tags
// weak, and Callsign's tags name the state of a task, not its encoding.
std::optional<std::vector<task_tag>> read_if_match(std::string_view value, std::string_view field,
                                                   wire::field_errors& found);

// Returns whether If-None-Match names this tag (with its quotes), or any.
bool is_known(const request_context& c, std::string_view etag);
// Adds the tag to `response`. Returns 304 instead if it is known.
http_response unless_known(const request_context& c, http_response response, std::string_view etag);

}  // namespace callsign::api
