#pragma once
// Cross-origin requests of web pages: which may read responses, and what they may send (Fetch
// standard, section 3.3). Pages set the token in a header field themselves, so cookies and
// credentials mode are not allowed. Pure.

#include "shared/request_context.hpp"

#include <optional>
#include <string>
#include <vector>

namespace callsign::api {

class cors {
  public:
    explicit cors(std::vector<std::string> origins) : origins_(std::move(origins)) {}

    // Returns the response to a preflight request; nullopt: it is none, or its origin is not
    // allowed.
    std::optional<http_response> preflight(const net::http_header& request) const;

    // Lets the requesting page read the response, if its origin is allowed.
    void admit(const net::http_header& request, http_response& answer) const;

  private:
    // Returns the request's origin if it is allowed, otherwise an empty text.
    std::string_view admitted(const net::http_header& request) const;

    std::vector<std::string> origins_;
};

}  // namespace callsign::api
