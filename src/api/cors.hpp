#pragma once
// Web pages of other origins: which may read answers, and what they may send (the Fetch standard,
// section 3.3). Tokens come in a header field that a page sets itself, so no cookies, and no
// credentials mode, are in it. Pure.

#include "request_context.hpp"

#include <optional>
#include <string>
#include <vector>

namespace callsign::api {

class cors {
  public:
    explicit cors(std::vector<std::string> origins) : origins_(std::move(origins)) {}

    // What a browser asks before a request that is more than simple; nullopt: this is none, or its
    // page may not ask.
    std::optional<http_response> preflight(const net::http_header& request) const;

    // Lets the page that sent the request read its answer, if it may.
    void admit(const net::http_header& request, http_response& answer) const;

  private:
    // Its origin, if it has one that may ask; empty: none.
    std::string_view admitted(const net::http_header& request) const;

    std::vector<std::string> origins_;
};

}  // namespace callsign::api
