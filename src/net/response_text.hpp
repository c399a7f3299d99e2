#pragma once
// Responses as bytes: status line and fields are appended to one buffer that the session reuses.
// Beast's serializer would cost more than the rest of the response.

#include <callsign/net/http.hpp>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace callsign::net {

// The Date field, formatted once a second.
class date_cache {
  public:
    // IMF-fixdate of RFC 9110: Sun, 06 Nov 1994 08:49:37 GMT
    std::string_view at(std::chrono::system_clock::time_point now);

  private:
    std::chrono::sys_seconds second_{std::chrono::seconds{-1}};
    std::string text_;
};

struct response_frame {
    std::string_view request_id;
    std::string_view date;
    bool keep_alive = true;
    bool http_1_0 = false;                // whose default is to close
    std::string_view strict_transport{};  // Strict-Transport-Security; empty: not sent
};

// RFC 9110: 204 and 304 never have a body.
bool may_have_body(unsigned status) noexcept;

// Passes to `use` the default fields that the response does not set (no caching, no content
// sniffing, Retry-After with a 503), and HSTS.
void for_each_usual_field(const http_response& response, const response_frame& frame,
                          const std::function<void(std::string_view, std::string_view)>& use);

// The response without its body.
void append_head(const http_response& response, const response_frame& frame, std::string& out);

}  // namespace callsign::net
