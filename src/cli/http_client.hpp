#pragma once
// How the commands use the HTTP client of net: the server's URL, a request and its answer on a
// connection of its own, and what went wrong in a sentence.

#include <callsign/base/time.hpp>

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
    std::string ca_file{};  // who may vouch for it besides those the system trusts; PEM
    // A server of this machine, which is known by what it holds here: what its certificate says of
    // names does not matter.
    bool is_known = false;
};

// http[s]://HOST[:PORT][/BASE]; throws failure for anything else.
server_url parse_server_url(std::string_view text);

// What is said to it does not leave this machine.
bool is_loopback(const server_url& server);

struct http_call {
    verb method = verb::get;
    std::string target;  // /v1/...
    std::string token;
    std::string body;  // empty: none
    std::string content_type = "application/json";
    std::vector<std::pair<std::string, std::string>> headers{};
};

struct http_answer {
    unsigned status = 0;
    std::string content_type;
    std::string body;
};

// Throws failure when no whole answer comes within `patience` (too_late, then), and says whether
// the server may have acted all the same. A name is looked up in the system's own time.
http_answer exchange(const server_url& server, const http_call& call, milliseconds patience);

// Everything but unreserved characters as %XX: fit for a path segment or a query value.
std::string percent_encode(std::string_view text);

}  // namespace callsign::cli
