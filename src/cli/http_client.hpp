#pragma once
// HTTP for the commands, with net's client: the server's URL, a request on a connection of its own,
// and errors as sentences.

#include <callsign/base/time.hpp>
#include <callsign/wire/media_types.hpp>

#include <boost/beast/http/verb.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace callsign::cli {

using boost::beast::http::verb;

struct server_url {
    std::string host;
    std::string port;
    std::string base;  // path before /v1, without the closing slash; usually empty
    std::string text;  // as given, for messages
    bool tls = false;
    std::string ca_file{};  // PEM file with additional CA certificates
    // A server on this host, identified by its data directory: the names in its certificate do not
    // matter.
    bool is_known = false;
};

// Parses http[s]://HOST[:PORT][/BASE], also without the scheme: http for this host (port 8080),
// https for others; :PORT is on this host. Throws failure for anything else.
server_url parse_server_url(std::string_view text);

// Returns whether requests to it stay on this host.
bool is_loopback(const server_url& server);

struct http_call {
    verb method = verb::get;
    std::string target;  // /v1/...
    std::string token;
    std::string body;  // empty: none
    std::string_view content_type = wire::media_type::json;
    std::vector<std::pair<std::string, std::string>> headers{};
};

struct http_answer {
    unsigned status = 0;
    std::string content_type;
    std::string body;
};

// Throws failure if there is no complete response within `timeout` (then too_late), with whether
// the server may have acted. Name resolution is not covered by `timeout`.
http_answer exchange(const server_url& server, const http_call& call, milliseconds timeout);

// Encodes all but unreserved characters as %XX, for a path segment or a query value.
std::string percent_encode(std::string_view text);

}  // namespace callsign::cli
