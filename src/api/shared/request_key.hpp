#pragma once
// Idempotency-Key (wire/convert.hpp), and the keys of writes other than creations of tasks
// (domain/request_key.hpp).

#include "request_context.hpp"

#include <callsign/domain/request_key.hpp>
#include <callsign/engine/engine.hpp>
#include <callsign/wire/convert.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace callsign::api {

// Parses the header field, or its absence.
std::variant<std::string, wire::key_missing, wire::key_malformed> parse_key_field(
    const request_context& c);

// Reads the key into `c.once`, if the route has keys. Returns the response if it is malformed. The
// fingerprint covers method, target and body: a retry may have another If-Match, since it gets the
// first response whatever the task's state is. If the response has a secret, a retry needs the same
// token, too.
std::optional<http_response> read_request_key(request_context& c);

// Encrypts the response's secret under the request's token, of which the server keeps a hash only.
void seal_secret(const request_context& c, entropy& source, std::string_view secret,
                 request_key& key);
// Returns the secret in the first response. Requires: the retry's fingerprint is that of the first
// request. Empty: corrupt.
std::string opened_secret(const request_context& c, const request_key& key,
                          std::string_view sealed);

// Marks the response to a retry.
http_response as_replayed(http_response response);

}  // namespace callsign::api
