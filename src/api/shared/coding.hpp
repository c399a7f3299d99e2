#pragma once
// Content codings of responses: gzip, if the client accepts it and the response gains by it.

#include "coded_file.hpp"
#include "request_context.hpp"

#include <string_view>

namespace callsign::api {

// Returns whether the response is to be compressed; not if its coding is chosen already. Makes its
// headers those of the choice: it varies by Accept-Encoding, and a compressed form has a weak ETag
// (RFC 9110 section 8.8.1).
bool choose_coding(const request_context& c, http_response& response);

// Values of Cache-Control. The copy is revalidated each time, or its bytes never change.
inline constexpr std::string_view ask_again = "no-cache";
inline constexpr std::string_view keep_for_ever = "public, max-age=31536000, immutable";

// Returns the file in the form that its client accepts, or 304. `varies`: by what the response
// varies, Accept-Encoding last.
http_response answer_file(const request_context& c, const coded_file& file,
                          std::string_view caching, std::string_view varies = "Accept-Encoding");

}  // namespace callsign::api
